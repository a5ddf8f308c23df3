"""Windows over Python functions; when they fire is tested in C++, here what the functions get and give."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock._core import operators
from penstock._core.operators import Operator, key_selector
from penstock.datastream.functions import AggregateFunction
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native


class Average(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def add(self, value: tuple[str, int], accumulator: list[int]) -> list[int]:
        accumulator[0] += value[1]
        accumulator[1] += 1
        return accumulator

    def get_result(self, accumulator: list[int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        return [a + b for a, b in zip(acc_a, acc_b, strict=True)]


def total(a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
    return a[0], a[1] + b[1]


SUM = ("reduce", total)


def general(
    aggregator: Any = SUM,
    window_function: Any = None,
    *,
    lateness: int = 0,
    window_all: bool = False,
    late_side: int | None = None,
) -> Operator:
    return operators.general_window(
        10, 0, lateness, aggregator, window_function, window_all, late_side
    )


def by_first() -> Operator:
    return key_selector(None, lambda row: row[0])


def test_reduce_gives_one_result_per_key_and_window(chain: Any) -> None:
    out = chain(by_first(), general())
    out.rows([("a", 1), ("b", 2), ("a", 3), ("a", 4)], [1, 2, 9, 10]).watermark(100)
    assert sorted(out.values()) == [("a", 4), ("a", 4), ("b", 2)]
    assert sorted(out.timestamps()) == [9, 9, 19]


def test_a_window_of_one_element_is_that_very_element(chain: Any) -> None:
    element = ("a", 1)
    out = chain(by_first(), general()).rows([element], [1]).watermark(9)
    assert out.values()[0] is element


def test_aggregate_gives_the_result_of_the_accumulator(chain: Any) -> None:
    out = chain(by_first(), general(("aggregate", Average())))
    out.rows([("a", 1), ("a", 2), ("b", 7)], [1, 2, 3]).watermark(9)
    assert sorted(out.values()) == [1.5, 7.0]


def test_window_function_gets_key_window_watermark_and_the_result(chain: Any) -> None:
    def function(key: Any, start: int, end: int, watermark: int, elements: Iterable[Any]) -> Any:
        return [(key, start, end, watermark, list(elements))]

    out = chain(by_first(), general(window_function=function))
    out.rows([("a", 1), ("a", 2)], [1, 2]).watermark(12)
    assert out.values() == [("a", 0, 10, 12, [("a", 3)])]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda *_: None, []),
        (lambda *_: [], []),
        (lambda *args: iter(args[4] * 2), [("a", 1), ("a", 1)]),
    ],
    ids=["None", "empty", "iterator"],
)
def test_window_function_may_give_any_number(chain: Any, function: Any, expected: Any) -> None:
    out = chain(by_first(), general(window_function=function)).rows([("a", 1)], [1]).watermark(9)
    assert out.values() == expected


def test_window_all_has_no_key(chain: Any) -> None:
    out = chain(general(window_function=lambda key, *_: [key], window_all=True))
    out.rows([("a", 1), ("b", 2)], [1, 2]).watermark(9)
    assert out.values() == [None]


def test_columns_become_rows_in_front_of_the_window(chain: Any) -> None:
    reduce = ("reduce", lambda a, b: a if a.v > b.v else b)
    function = lambda key, start, end, watermark, elements: [(key, *elements)]
    out = chain(key_selector(["k", "j"], None), general(reduce, function))
    out.columns({"k": ["x", "x", None], "j": [1, 1, 2], "v": [1, 5, 3]}, [1, 2, 3]).watermark(9)
    assert sorted(out.values(), key=str) == [
        (("x", 1), ("x", 1, 5)),
        ((None, 2), (None, 2, 3)),
    ]


def test_late_rows_are_counted_or_sent_aside(chain: Any) -> None:
    out = chain(by_first(), general()).watermark(50).rows([("a", 1)], [1])
    assert out.driver.metrics()[1]["late_records_dropped"] == 1
    out = chain(by_first(), general(late_side=3), sides=[3]).watermark(50).rows([("a", 1)], [1])
    assert out.values(edge=1) == [("a", 1)]
    assert out.timestamps(edge=1) == [1]


def test_late_rows_within_the_lateness_fire_again(chain: Any) -> None:
    out = chain(by_first(), general(lateness=10))
    out.rows([("a", 1)], [1]).watermark(9).rows([("a", 2)], [2])
    assert out.values() == [("a", 1), ("a", 3)]


def test_state_survives_in_a_snapshot(chain: Any) -> None:
    for aggregator, expected in ((SUM, ("a", 3)), (("aggregate", Average()), 1.5)):
        first = chain(by_first(), general(aggregator)).rows([("a", 1)], [1])
        state = first.driver.snapshot()
        again = chain(by_first(), general(aggregator), state=state).rows([("a", 2)], [2])
        assert again.watermark(9).values() == [expected]


def test_accumulators_that_pickle_cannot_write_are_written_by_cloudpickle(chain: Any) -> None:
    compose = ("reduce", lambda f, g: (f[0], lambda x: g[1](f[1](x))))
    out = chain(by_first(), general(compose))
    out.rows([("a", lambda x: x + 1), ("a", lambda x: x * 10)], [1, 2])
    again = chain(by_first(), general(compose), state=out.driver.snapshot()).watermark(9)
    assert again.values()[0][1](4) == 50


def test_an_accumulator_that_cannot_be_pickled_is_named(chain: Any) -> None:
    out = chain(by_first(), general()).rows([("a", (i for i in range(3)))], [1])
    with pytest.raises(UserCodeError, match=r"cannot be pickled, .*: \('a', <generator") as caught:
        out.driver.snapshot()
    assert isinstance(caught.value.__cause__, (TypeError, pickle.PicklingError))


def test_error_of_a_reduce_function_names_the_record(chain: Any) -> None:
    out = chain(by_first(), general()).rows([("a", 1)], [1])
    with pytest.raises(UserCodeError, match=r"reduce function raised on record \('a', 'x'\): Type"):
        out.rows([("a", "x")], [2])


def test_error_of_an_aggregate_function_names_the_record(chain: Any) -> None:
    out = chain(by_first(), general(("aggregate", Average())))
    with pytest.raises(UserCodeError, match=r"aggregate function raised on record \('a', 'x'\)"):
        out.rows([("a", "x")], [2])


def test_error_of_a_window_function_names_key_and_window(chain: Any) -> None:
    out = chain(by_first(), general(window_function=lambda *_: 1 / 0)).rows([("a", 1)], [1])
    with pytest.raises(
        UserCodeError, match=r"raised for key 'a' and window \[0, 10\) on \('a', 1\): ZeroDivision"
    ):
        out.watermark(9)


def test_an_aggregator_without_the_methods_is_refused() -> None:
    with pytest.raises(AttributeError, match="create_accumulator"):
        general(("aggregate", object()))


events = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(-100, 100), st.integers(-30, 60)), max_size=40
)


@given(events=events, size=st.integers(1, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sums_equal_a_model_whatever_the_batches(
    chain: Any, events: list[tuple[str, int, int]], size: int
) -> None:
    expected: dict[tuple[str, int], int] = defaultdict(int)
    for key, value, time in events:
        expected[key, time // 10 * 10] += value
    function = lambda key, start, end, watermark, rows: [(key, start, *rows)]
    out = chain(by_first(), general(window_function=function))
    for start in range(0, len(events), size):
        part = events[start : start + size]
        out.rows([event[:2] for event in part], [event[2] for event in part])
    out.watermark(1000)
    assert {(key, start): row[1] for key, start, row in out.values()} == expected
