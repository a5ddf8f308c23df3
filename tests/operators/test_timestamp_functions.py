"""Event times from a Python function; the watermarks themselves are tested in C++."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock._core.operators import Operator, timestamps
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native

LONG_MIN = -(1 << 63)


def assigner(function: Callable[[Any, int], Any], delay_ms: int | None = None) -> Operator:
    return timestamps(None, function, delay_ms, None, 8192, 200)


def test_function_gives_each_row_its_timestamp(chain: Any) -> None:
    out = chain(assigner(lambda value, _: value * 10)).rows([3, 1, 2])
    assert (out.values(), out.timestamps()) == ([3, 1, 2], [30, 10, 20])


def test_function_gets_the_previous_timestamp_or_the_smallest_long(chain: Any) -> None:
    seen: list[int] = []

    def function(value: int, previous: int) -> int:
        seen.append(previous)
        return value

    chain(assigner(function)).rows([1, 2], [7, 8]).rows([3])
    assert seen == [7, 8, LONG_MIN]


def test_function_gets_columns_as_rows(chain: Any) -> None:
    out = chain(assigner(lambda row, _: row.ts)).columns({"ts": [5, 6], "x": ["a", None]})
    assert out.timestamps() == [5, 6]
    assert [row.x for row in out.values()] == ["a", None]


def test_watermarks_follow_what_the_function_returned(chain: Any) -> None:
    out = chain(timestamps(None, lambda value, _: value, 10, None, 2, 200))
    out.rows([100, 150, 120, 110])
    assert out.watermarks() == [139]


def test_an_integer_of_numpy_is_a_timestamp(chain: Any) -> None:
    out = chain(assigner(lambda value, _: np.int64(value))).rows([1, 2])
    assert out.timestamps() == [1, 2]


@pytest.mark.parametrize(
    "wrong",
    [None, 1.5, "12", True, dt.datetime(2024, 1, 1)],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_int_is_refused_naming_the_record(chain: Any, wrong: Any) -> None:
    with pytest.raises(TypeError) as caught:
        chain(assigner(lambda _, __: wrong)).rows(["the record"])
    assert f"timestamp assigner returned {wrong!r} on record 'the record'" in str(caught.value)
    assert "milliseconds since the epoch" in str(caught.value)


def test_a_timestamp_beyond_64_bits_is_refused(chain: Any) -> None:
    with pytest.raises(OverflowError, match=r"on record 1, which is beyond 64 bits"):
        chain(assigner(lambda _, __: 1 << 63)).rows([1])


def test_an_error_of_the_function_names_the_record(chain: Any) -> None:
    with pytest.raises(
        UserCodeError, match=r"timestamp assigner raised on record \{\}: KeyError: 'ts'"
    ):
        chain(assigner(lambda value, _: value["ts"])).rows([{}])


def test_column_and_function_together_are_refused() -> None:
    with pytest.raises(ValueError, match="a column or a function, not from both"):
        timestamps("ts", lambda value, _: value, None, None, 1, 1)
