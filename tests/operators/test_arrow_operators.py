"""Operators over whole batches of columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock._core.columnar import Batch
from penstock._core.operators import arrow_filter, arrow_map, rows_to_columns
from penstock._core.operators import map as map_
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native

SCHEMA = pa.schema([("name", pa.string()), ("age", pa.int64())])


def doubled(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.record_batch({"d": pc.multiply(batch.column("a"), 2)})


def test_arrow_map_gets_and_returns_record_batches(chain: Any) -> None:
    seen: list[Any] = []

    def function(batch: pa.RecordBatch) -> pa.RecordBatch:
        seen.append(batch)
        return doubled(batch)

    out = chain(arrow_map(function)).columns({"a": [1, None, 3], "b": ["x", None, "z"]})
    assert isinstance(seen[0], pa.RecordBatch)
    assert seen[0].to_pydict() == {"a": [1, None, 3], "b": ["x", None, "z"]}
    (batch,) = out.batches()
    assert pa.record_batch(batch).to_pydict() == {"d": [2, None, 6]}


def test_arrow_map_keeps_timestamps_and_keys(chain: Any) -> None:
    batch = Batch.from_arrow(pa.record_batch({"a": [1, 2]}))
    batch = batch.with_timestamps([10, 20]).with_encoded_keys([b"x", b"y"])
    (out,) = chain(arrow_map(doubled)).batch(batch).batches()
    assert (out.timestamps, out.encoded_keys) == ([10, 20], [b"x", b"y"])


def test_arrow_map_shares_the_buffers_of_columns_it_keeps(chain: Any) -> None:
    data = pa.record_batch({"a": [1, 2, 3]})
    (out,) = chain(arrow_map(lambda batch: batch)).columns(data).batches()
    assert (
        pa.record_batch(out).column(0).buffers()[1].address == data.column(0).buffers()[1].address
    )


def test_arrow_map_must_keep_the_number_of_rows(chain: Any) -> None:
    with pytest.raises(TypeError, match="made 1 records of 3; it must keep their number"):
        chain(arrow_map(lambda batch: batch.slice(0, 1))).columns({"a": [1, 2, 3]})


def test_arrow_map_must_return_a_batch(chain: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a record batch .*, got int"):
        chain(arrow_map(lambda _: 5)).columns({"a": [1]})


def test_arrow_map_needs_columns(chain: Any) -> None:
    with pytest.raises(TypeError, match="needs columns, but got rows"):
        chain(arrow_map(doubled)).rows([1])


def test_error_of_a_column_function_is_chained(chain: Any) -> None:
    def divide(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.record_batch({"q": pc.divide_checked(1, batch.column("a"))})

    with pytest.raises(
        UserCodeError, match=r"raised on a batch of 2 records: .*divide by zero"
    ) as e:
        chain(arrow_map(divide)).columns({"a": [1, 0]})
    assert isinstance(e.value.__cause__, pa.ArrowInvalid)


# --- filter -----------------------------------------------------------------------------------


def test_arrow_filter_keeps_the_true_rows_with_timestamps_and_keys(chain: Any) -> None:
    batch = Batch.from_arrow(pa.record_batch({"a": [5, 1, 7], "b": ["x", "y", None]}))
    batch = batch.with_timestamps([10, 20, 30]).with_encoded_keys([b"p", b"q", b"r"])
    out = chain(arrow_filter(lambda batch: pc.greater(batch.column("a"), 2)))
    (kept,) = out.batch(batch).batches()
    assert pa.record_batch(kept).to_pydict() == {"a": [5, 7], "b": ["x", None]}
    assert (kept.timestamps, kept.encoded_keys) == ([10, 30], [b"p", b"r"])


def test_arrow_filter_takes_null_for_false(chain: Any) -> None:
    out = chain(arrow_filter(lambda batch: pc.greater(batch.column("a"), 2)))
    out.columns({"a": [None, 3, None, 4, None]})
    assert [row.a for row in out.values()] == [3, 4]


def test_arrow_filter_sends_nothing_when_nothing_is_left(chain: Any) -> None:
    out = chain(arrow_filter(lambda batch: pc.is_null(batch.column("a")))).columns({"a": [1, 2]})
    assert out.batches() == []


def test_arrow_filter_does_not_copy_when_all_or_neighbours_stay(chain: Any) -> None:
    data = pa.record_batch({"a": [1, 2, 3, 4]})
    address = data.column(0).buffers()[1].address
    for least in (0, 2):
        out = chain(arrow_filter(lambda batch, least=least: pc.greater(batch.column("a"), least)))
        (kept,) = out.columns(data).batches()
        assert pa.record_batch(kept).column(0).buffers()[1].address == address
        assert [row.a for row in out.values()] == [x for x in (1, 2, 3, 4) if x > least]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (pa.array([1, 2]), "an array of int64; it must return booleans"),
        (pa.array([True]), "returned 1 booleans for 2 records"),
        (True, "expected an Arrow array, got bool"),
    ],
)
def test_arrow_filter_must_return_one_boolean_per_row(
    chain: Any, result: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        chain(arrow_filter(lambda _: result)).columns({"a": [1, 2]})


@given(
    mask=st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=300),
    cut=st.integers(0),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arrow_filter_agrees_with_pyarrow(chain: Any, mask: list[bool | None], cut: int) -> None:
    array = pa.array(mask, pa.bool_()).slice(cut % len(mask))  # with an offset into its bitmap
    data = pa.record_batch({"n": pa.array(range(len(array)))})
    out = chain(arrow_filter(lambda _: array)).columns(data, list(range(len(array))))
    expected = data.filter(array).column(0).to_pylist()
    assert [row.n for row in out.values()] == expected
    assert out.timestamps() == expected


# --- rows to columns --------------------------------------------------------------------------


def test_rows_become_columns_and_keep_timestamps_and_keys(chain: Any) -> None:
    rows = Batch.from_rows([("a", 1), {"name": "b", "age": None}], [10, 20])
    (out,) = chain(rows_to_columns(SCHEMA)).batch(rows.with_encoded_keys([b"x", b"y"])).batches()
    assert out.is_columnar
    assert pa.record_batch(out).to_pylist() == [{"name": "a", "age": 1}, {"name": "b", "age": None}]
    assert (out.timestamps, out.encoded_keys) == ([10, 20], [b"x", b"y"])


def test_columns_pass_through_rows_to_columns_unchanged(chain: Any) -> None:
    data = pa.record_batch({"name": ["a"], "age": [1]})
    (out,) = chain(rows_to_columns(SCHEMA)).columns(data).batches()
    assert (
        pa.record_batch(out).column(1).buffers()[1].address == data.column(1).buffers()[1].address
    )


def test_a_value_that_does_not_fit_its_column_is_named(chain: Any) -> None:
    out = chain(map_(lambda x: x), rows_to_columns(SCHEMA))
    with pytest.raises(TypeError, match=r"operator 'Op1'.*row 1, column 'age' \(int64\): 'old'"):
        out.rows([("a", 1), ("b", "old")])


def test_rows_to_columns_needs_a_schema() -> None:
    with pytest.raises(TypeError, match="expected an Arrow schema"):
        rows_to_columns({"name": str})
