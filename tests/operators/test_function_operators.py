"""map, filter and flat_map over Python functions."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock._core.columnar import Batch
from penstock._core.operators import filter as filter_
from penstock._core.operators import flat_map
from penstock._core.operators import map as map_
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native


class Adder:
    def __init__(self, amount: int) -> None:
        self.amount = amount

    def __call__(self, value: int) -> int:
        return value + self.amount

    def method(self, value: int) -> int:
        return value + self.amount


def add(amount: int, value: int) -> int:
    return value + amount


# --- map --------------------------------------------------------------------------------------


def test_map_calls_the_function_for_each_row_in_order(chain: Any) -> None:
    out = chain(map_(lambda x: x * 10)).rows([3, 1, 2])
    assert out.values() == [30, 10, 20]


@pytest.mark.parametrize(
    "function",
    [Adder(5), Adder(5).method, functools.partial(add, 5), (5).__add__],
    ids=["callable object", "bound method", "partial", "builtin method"],
)
def test_map_takes_any_callable(chain: Any, function: Any) -> None:
    assert chain(map_(function)).rows([1, 2]).values() == [6, 7]


def test_map_keeps_timestamps_with_their_rows(chain: Any) -> None:
    out = chain(map_(str)).rows([1, 2, 3], [30, 10, 20])
    assert list(zip(out.values(), out.timestamps(), strict=True)) == [
        ("1", 30),
        ("2", 10),
        ("3", 20),
    ]


def test_map_of_rows_without_timestamps_gives_rows_without(chain: Any) -> None:
    (batch,) = chain(map_(str)).rows([1]).batches()
    assert batch.timestamps is None


def test_map_drops_the_keys_that_belonged_to_the_old_rows(chain: Any) -> None:
    keyed = Batch.from_rows([1, 2]).with_encoded_keys([b"a", b"b"])
    (batch,) = chain(map_(str)).batch(keyed).batches()
    assert batch.encoded_keys is None


def test_map_gets_columns_as_rows_with_names(chain: Any) -> None:
    out = chain(map_(lambda row: (row.a, row["b"]))).columns(
        {"a": [1, None], "b": ["x", "y"]}, [5, 6]
    )
    assert out.values() == [(1, "x"), (None, "y")]
    assert out.timestamps() == [5, 6]


def test_map_gets_nulls_of_a_scalar_column_as_none(chain: Any, numbers: pa.RecordBatch) -> None:
    assert chain(map_(lambda x: x)).columns(numbers).values() == [1, None, 3]


def test_map_may_return_none(chain: Any) -> None:
    assert chain(map_(lambda _: None)).rows([1, 2]).values() == [None, None]


def test_chained_functions_hand_the_same_objects_over(chain: Any) -> None:
    records = [object(), object()]
    out = chain(map_(lambda x: x), map_(lambda x: x)).rows(records)
    assert all(a is b for a, b in zip(out.values(), records, strict=True))


def test_an_empty_batch_is_not_passed_on(chain: Any) -> None:
    for operator in (map_(str), filter_(bool), flat_map(list)):
        assert chain(operator).rows([]).batches() == []


def test_map_error_names_operator_record_and_reason_and_keeps_the_exception(chain: Any) -> None:
    out = chain(map_(lambda row: 1 // (row.a - 2)))
    with pytest.raises(UserCodeError) as caught:
        out.columns({"a": [1, 2]})
    assert str(caught.value) == (
        "operator 'Op0' (uid uid-0), subtask 1/1: map function raised on record Row(a=2): "
        "ZeroDivisionError: integer division or modulo by zero"
    )
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "<lambda>"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit])
def test_even_a_keyboard_interrupt_of_a_function_is_its_error(chain: Any, error: Any) -> None:
    def fail(_: int) -> None:
        raise error

    with pytest.raises(UserCodeError) as caught:
        chain(map_(fail)).rows([1])
    assert isinstance(caught.value.__cause__, error)


def test_a_long_record_is_cut_in_messages(chain: Any) -> None:
    with pytest.raises(UserCodeError, match=r"on record 'x{196}\.\.\.: TypeError"):
        chain(map_(lambda x: x + 1)).rows(["x" * 10_000])


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def test_a_record_without_a_repr_does_not_hide_the_error(chain: Any) -> None:
    with pytest.raises(UserCodeError, match=r"on record <Unprintable without a repr>: TypeError"):
        chain(map_(len)).rows([Unprintable()])


def test_a_record_that_is_no_valid_text_can_be_named(chain: Any) -> None:
    with pytest.raises(UserCodeError, match=r"on record '\\udc80': TypeError"):
        chain(map_(lambda x: x + 1)).rows(["\udc80"])


def test_what_is_not_callable_is_refused() -> None:
    with pytest.raises(TypeError, match="function must be callable, not 5"):
        map_(5)  # type: ignore[arg-type]


# --- filter -----------------------------------------------------------------------------------


def test_filter_keeps_what_is_true_with_its_timestamp_and_key(chain: Any) -> None:
    batch = Batch.from_rows([1, 2, 3], [10, 20, 30]).with_encoded_keys([b"a", b"b", b"c"])
    (kept,) = chain(filter_(lambda x: x != 2)).batch(batch).batches()
    assert kept.to_rows() == [1, 3]
    assert kept.timestamps == [10, 30]
    assert kept.encoded_keys == [b"a", b"c"]


def test_filter_asks_for_the_truth_of_any_object(chain: Any) -> None:
    values = [0, "", "x", None, [], [0], 2.0]
    assert chain(filter_(lambda x: x)).rows(values).values() == ["x", [0], 2.0]


def test_filter_gets_columns_as_rows(chain: Any, numbers: pa.RecordBatch) -> None:
    out = chain(filter_(lambda x: x is not None)).columns(numbers, [7, 8, 9])
    assert (out.values(), out.timestamps()) == ([1, 3], [7, 9])


def test_filter_that_keeps_nothing_sends_nothing(chain: Any) -> None:
    assert chain(filter_(lambda _: False)).rows([1, 2]).batches() == []


class NoTruth:
    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")


def test_filter_result_without_a_truth_is_an_error_that_names_the_record(chain: Any) -> None:
    with pytest.raises(UserCodeError, match=r"filter function raised on record 7: ValueError: nei"):
        chain(filter_(lambda _: NoTruth())).rows([7])


# --- flat_map ---------------------------------------------------------------------------------


def countdown(n: int) -> Iterator[int]:
    yield from range(n, 0, -1)


@pytest.mark.parametrize(
    "function",
    [lambda n: list(range(n)), lambda n: tuple(range(n)), range, lambda n: iter(range(n))],
    ids=["list", "tuple", "range", "iterator"],
)
def test_flat_map_takes_any_iterable(chain: Any, function: Any) -> None:
    out = chain(flat_map(function)).rows([2, 0, 3], [10, 20, 30])
    assert out.values() == [0, 1, 0, 1, 2]
    assert out.timestamps() == [10, 10, 30, 30, 30]


def test_flat_map_takes_generators(chain: Any) -> None:
    assert chain(flat_map(countdown)).rows([2, 3]).values() == [2, 1, 3, 2, 1]


def test_flat_map_result_none_is_nothing(chain: Any) -> None:
    out = chain(flat_map(lambda x: None if x == 1 else [x])).rows([1, 2, 1])
    assert out.values() == [2]


def test_flat_map_of_nothing_sends_nothing(chain: Any) -> None:
    assert chain(flat_map(lambda _: ())).rows([1, 2]).batches() == []


def test_flat_map_error_inside_a_generator_names_the_record(chain: Any) -> None:
    def fails(x: int) -> Iterator[int]:
        yield x
        raise KeyError("later")

    with pytest.raises(UserCodeError, match="flat_map function raised on record 4: KeyError") as e:
        chain(flat_map(fails)).rows([4])
    assert isinstance(e.value.__cause__, KeyError)


def test_flat_map_result_that_cannot_be_iterated_is_refused(chain: Any) -> None:
    with pytest.raises(
        TypeError, match=r"returned 5 on record 4; it must return an iterable or None"
    ):
        chain(flat_map(lambda x: x + 1)).rows([4])


def test_flat_map_sends_long_results_in_pieces(chain: Any) -> None:
    out = chain(flat_map(range)).rows([200_000, 1], [1, 2])
    assert [len(batch) for batch in out.batches()] == [65536, 65536, 65536, 200_001 - 3 * 65536]
    assert out.values() == [*range(200_000), 0]
    assert out.timestamps() == [1] * 200_000 + [2]


# --- all --------------------------------------------------------------------------------------


@given(values=st.lists(st.integers(-5, 5)), size=st.integers(1, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_results_do_not_depend_on_batches(chain: Any, values: list[int], size: int) -> None:
    out = chain(map_(lambda x: x + 1), filter_(bool), flat_map(lambda x: [x] * abs(x)))
    for start in range(0, len(values), size):
        part = values[start : start + size]
        out.rows(part, list(range(start, start + len(part))))
    assert out.values() == [y for x in values for y in [x + 1] * abs(x + 1)]
    assert out.timestamps() == [i for i, x in enumerate(values) for _ in range(abs(x + 1))]
