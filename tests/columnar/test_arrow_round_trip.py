"""What comes in by the Arrow C data interface goes out by it unchanged."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock._core.columnar import Batch

pytestmark = pytest.mark.native


def plain(array: pa.Array) -> pa.Array:
    """The array as the engine carries it: views are copied into plain layouts."""
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    if pa.types.is_binary_view(array.type):
        return array.cast(pa.large_binary())
    return array


def batch_of(array: pa.Array) -> pa.RecordBatch:
    return pa.record_batch([array], names=["x"])


def through(batch: pa.RecordBatch) -> pa.RecordBatch:
    out = pa.record_batch(Batch.from_arrow(batch))
    out.validate(full=True)
    return out


def test_every_type_round_trips(array: pa.Array) -> None:
    assert through(batch_of(array)).equals(batch_of(plain(array)), check_metadata=True)


@pytest.mark.parametrize(("offset", "length"), [(0, 5), (1, 9), (3, 8), (8, 3), (9, 2), (11, 0)])
def test_slices_with_an_offset_round_trip(array: pa.Array, offset: int, length: int) -> None:
    sliced = array.slice(offset, length)
    assert through(batch_of(sliced)).equals(batch_of(plain(sliced)))


def test_a_sliced_struct_applies_its_offset_to_its_children(array: pa.Array) -> None:
    whole = pa.StructArray.from_arrays([array, pa.array(range(len(array)))], ["x", "i"])
    out = through(pa.RecordBatch.from_struct_array(whole.slice(2, 7)))
    assert out.column("i").to_pylist() == list(range(2, 9))
    assert str(out.column("x").to_pylist()) == str(plain(array).slice(2, 7).to_pylist())


def test_columns_without_nulls_round_trip(array: pa.Array) -> None:
    valid = [i for i, found in enumerate(array.is_valid().to_pylist()) if found]
    runs = pa.chunked_array([array.slice(i, 1) for i in valid], array.type)
    dense = runs.combine_chunks() if valid else array.slice(0, 0)
    assert dense.null_count == 0
    assert through(batch_of(dense)).equals(batch_of(plain(dense)))


def test_empty_columns_round_trip(array: pa.Array) -> None:
    batch = batch_of(array)
    empties = [batch.slice(0, 0), batch.slice(5, 0)]
    if not pa.types.is_union(array.type):  # pyarrow cannot make an empty one
        empties.append(batch_of(pa.array([], array.type)))
    for empty in empties:
        out = through(empty)
        assert out.num_rows == 0
        assert out.schema.equals(batch_of(plain(array)).schema)


def test_taking_rows_agrees_with_pyarrow(array: pa.Array) -> None:
    batch = Batch.from_arrow(batch_of(array))
    rows = [10, 0, 2, 2, 7]
    if pa.types.is_union(array.type):
        with pytest.raises(NotImplementedError, match="union"):
            batch.take(rows)
        return
    taken = pa.record_batch(batch.take(rows))
    taken.validate(full=True)
    expected = [plain(array).to_pylist()[row] for row in rows]
    assert str(taken.column(0).to_pylist()) == str(expected)
    assert taken.schema.equals(batch_of(plain(array)).schema)


def test_slicing_a_batch_agrees_with_pyarrow(array: pa.Array) -> None:
    batch = Batch.from_arrow(batch_of(array.slice(1)))
    sliced = pa.record_batch(batch.slice(2, 6).slice(1, 4))
    sliced.validate(full=True)
    assert sliced.equals(batch_of(plain(array).slice(4, 4)))


def test_selecting_columns_keeps_order_and_metadata() -> None:
    schema = pa.schema(
        [pa.field("a", pa.int8(), metadata={"k": "v"}), pa.field("b", pa.list_(pa.string()))],
        metadata={"made": "here"},
    )
    batch = Batch.from_arrow(pa.record_batch([[1, 2], [["x"], None]], schema=schema))
    selected = pa.record_batch(batch.select(["b", "a"]))
    assert selected.to_pydict() == {"b": [["x"], None], "a": [1, 2]}
    assert selected.schema.metadata == {b"made": b"here"}
    assert selected.schema.field("a").metadata == {b"k": b"v"}


def test_field_and_schema_metadata_and_nullability_are_kept() -> None:
    fields = [
        pa.field("id", pa.int64(), nullable=False, metadata={b"unit": b"none"}),
        pa.field("m", pa.map_(pa.string(), pa.int8(), keys_sorted=True)),
    ]
    schema = pa.schema(fields, metadata={b"\x00bytes": b"\xff"})
    batch = pa.record_batch([[1], [[("a", 1)]]], schema=schema)
    out = pa.record_batch(Batch.from_arrow(batch))
    assert out.schema.equals(schema, check_metadata=True)


def test_a_batch_without_columns_keeps_its_number_of_rows() -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}] * 3, pa.struct([])))
    assert len(Batch.from_arrow(batch)) == 3
    assert pa.record_batch(Batch.from_arrow(batch)).num_rows == 3


@pytest.mark.parametrize("index", [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64()])
def test_dictionaries_are_decoded(index: pa.DataType) -> None:
    indices = pa.array([1, None, 0, 1, 2], index)
    encoded = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b", None]))
    out = through(batch_of(encoded))
    assert out.schema.field("x").type == pa.string()
    assert out.column("x").to_pylist() == ["b", None, "a", "b", None]


def test_dictionaries_of_every_type_are_decoded(array: pa.Array) -> None:
    indices = pa.array([0, 3, None, 10, 10, 5], pa.int8())
    if pa.types.is_union(array.type) or isinstance(array, pa.ExtensionArray):
        return  # no dictionary can hold these
    encoded = pa.DictionaryArray.from_arrays(indices, array)
    out = through(batch_of(encoded.slice(1)))
    assert out.schema.field("x").type == plain(array).type
    values = plain(array).to_pylist()
    expected = [None if i is None else values[i] for i in indices.to_pylist()[1:]]
    assert str(out.column("x").to_pylist()) == str(expected)


def test_dictionaries_inside_nested_columns_are_decoded() -> None:
    encoded = pa.array(["a", "b", "a", None]).dictionary_encode()
    nested = pa.ListArray.from_arrays(pa.array([0, 1, 1, 4]), encoded)
    out = through(batch_of(nested))
    assert out.column("x").to_pylist() == [["a"], [], ["b", "a", None]]


def test_sums_of_nested_columns_survive_repeated_slicing() -> None:
    lists = pa.array([[i, i + 1] for i in range(100)])
    batch = Batch.from_arrow(batch_of(lists))
    for start in (10, 7, 3):
        batch = batch.slice(start, len(batch) - start)
    out = pa.record_batch(batch).column("x")
    assert pc.sum(out.flatten()).as_py() == sum(i + i + 1 for i in range(20, 100))
