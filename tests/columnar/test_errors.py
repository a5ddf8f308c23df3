"""Wrong input at the door: the error says what was wrong, and nothing crashes."""

from typing import Any

import pyarrow as pa
import pytest

from penstock._core.columnar import Batch, batches_from_stream

pytestmark = pytest.mark.native

BATCH = pa.record_batch({"a": [1, 2, 3], "b": ["x", None, "z"]})


class Fake:
    """Gives as Arrow data whatever it was made with."""

    def __init__(self, result: Any) -> None:
        self.result = result

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.result


class FakeStream:
    def __init__(self, result: Any) -> None:
        self.result = result

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.result


@pytest.mark.parametrize("wrong", [None, 7, "text", [1, 2], {"a": [1]}, object()])
def test_an_object_that_is_not_arrow_data_is_refused_by_its_type(wrong: Any) -> None:
    name = type(wrong).__name__
    with pytest.raises(TypeError, match=f"expected a record batch .*got {name}"):
        Batch.from_arrow(wrong)
    with pytest.raises(TypeError, match=f"expected Arrow data .*got {name}"):
        batches_from_stream(wrong)


@pytest.mark.parametrize("wrong", [pa.array([1, 2]), pa.array(["a"]), pa.array([[1]])])
def test_an_array_that_is_no_record_batch_is_refused(wrong: pa.Array) -> None:
    with pytest.raises(
        TypeError, match=r"expected a record batch or struct array, got (int64|str|list)"
    ):
        Batch.from_arrow(wrong)


def test_a_struct_array_with_null_rows_is_no_record_batch() -> None:
    rows = pa.array([{"a": 1}, None])
    with pytest.raises(ValueError, match="null rows"):
        Batch.from_arrow(rows)
    assert Batch.from_arrow(rows.slice(0, 1)).to_rows() == [(1,)]


@pytest.mark.parametrize("result", [None, 5, (1,), (1, 2, 3), [1, 2]])
def test_a_producer_that_returns_no_pair_is_refused(result: Any) -> None:
    with pytest.raises(TypeError, match="did not return a pair of capsules"):
        Batch.from_arrow(Fake(result))


def test_capsules_in_the_wrong_places_are_refused() -> None:
    schema, array = BATCH.__arrow_c_array__()
    with pytest.raises(TypeError, match="expected a PyCapsule named 'arrow_schema', got PyCapsule"):
        Batch.from_arrow(Fake((array, schema)))
    with pytest.raises(TypeError, match="expected a PyCapsule named 'arrow_schema', got int"):
        Batch.from_arrow(Fake((1, 2)))
    with pytest.raises(TypeError, match="expected a PyCapsule named 'arrow_array_stream'"):
        batches_from_stream(FakeStream(schema))


def test_a_consumed_array_is_refused() -> None:
    capsules = BATCH.__arrow_c_array__()
    assert len(Batch.from_arrow(Fake(capsules))) == 3
    with pytest.raises(ValueError, match="'arrow_array' has been consumed already"):
        Batch.from_arrow(Fake(capsules))


def test_a_consumed_stream_is_refused() -> None:
    stream = FakeStream(pa.table({"a": [1]}).__arrow_c_stream__())
    assert len(batches_from_stream(stream)[1]) == 1
    with pytest.raises(ValueError, match="'arrow_array_stream' has been consumed already"):
        batches_from_stream(stream)


def test_a_producer_that_raises_is_the_cause() -> None:
    class Broken:
        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            raise ValueError("no more data")

    with pytest.raises(RuntimeError, match="__arrow_c_array__: ValueError: no more data") as caught:
        Batch.from_arrow(Broken())
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_stream_that_fails_on_its_way_says_why() -> None:
    def produce() -> Any:
        yield BATCH
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(BATCH.schema, produce())
    with pytest.raises(OSError, match="the disk is gone"):
        batches_from_stream(reader)


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (pa.RunEndEncodedArray.from_arrays([1, 2], [1, 2]), "run-end encoded"),
        (pa.array([[1], [2]], pa.list_view(pa.int64())), "list view"),
    ],
)
def test_types_that_are_not_carried_say_what_to_do(array: pa.Array, name: str) -> None:
    batch = pa.record_batch([array], names=["odd"])
    with pytest.raises(NotImplementedError, match=f"column 'odd'.*{name}.*cast it"):
        Batch.from_arrow(batch)


def test_a_dictionary_index_out_of_range_is_refused() -> None:
    indices, values = pa.array([0, 5], pa.int8()), pa.array(["a"])
    broken = pa.DictionaryArray.from_arrays(indices, values, safe=False)
    with pytest.raises(ValueError, match=r"dictionary index 5 is outside \[0, 1\)"):
        Batch.from_arrow(pa.record_batch([broken], names=["d"]))


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (0, -1), (0, 4), (4, 0), (2, 2**62)])
def test_a_slice_outside_of_the_batch_is_refused(offset: int, length: int) -> None:
    with pytest.raises(ValueError, match=r"of a batch of 3 rows"):
        Batch.from_arrow(BATCH).slice(offset, length)


@pytest.mark.parametrize("row", [-1, 3])
def test_taking_a_row_that_is_not_there_is_refused(row: int) -> None:
    with pytest.raises(ValueError, match=f"row {row} of a batch of 3 rows"):
        Batch.from_arrow(BATCH).take([0, row])


def test_selecting_an_unknown_column_lists_the_columns() -> None:
    with pytest.raises(KeyError, match="no column 'c'; the columns are a, b"):
        Batch.from_arrow(BATCH).select(["a", "c"])


def test_timestamps_of_another_number_or_type_are_refused() -> None:
    batch = Batch.from_arrow(BATCH)
    with pytest.raises(ValueError, match="2 timestamps for 3 rows"):
        batch.with_timestamps([1, 2])
    with pytest.raises(TypeError, match="contiguous row of int64"):
        batch.with_timestamps(b"abc")
    with pytest.raises((TypeError, RuntimeError)):
        batch.with_timestamps([1, "2", 3])


def test_a_batch_of_rows_has_no_columns() -> None:
    batch = Batch.from_rows([1, 2])
    with pytest.raises(ValueError, match="a batch of rows has no schema"):
        _ = batch.column_names
    with pytest.raises(ValueError, match="a batch of rows has no schema"):
        batch.__arrow_c_array__()
    with pytest.raises(ValueError, match="a batch of rows has no schema"):
        batch.select(["a"])


def test_rows_must_come_in_something_that_can_be_iterated() -> None:
    with pytest.raises((TypeError, RuntimeError), match="expected a list of rows"):
        Batch.from_rows(7)  # type: ignore[arg-type]
