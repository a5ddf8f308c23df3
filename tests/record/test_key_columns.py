"""A key is the same key whatever carried it: columns and Python objects have equal bytes and hashes."""

import datetime as dt
import struct
from typing import Any

import mmh3
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._core.columnar import Batch
from penstock._core.record import encode_columns, encode_key, hash_columns, hash_key

pytestmark = pytest.mark.native

LONGEST = dt.timedelta(microseconds=2**63 - 1)
TEXT = st.text(st.characters(codec="utf-8"), max_size=200)
AWARE = st.datetimes(dt.datetime(2, 1, 1), dt.datetime(9998, 1, 1), timezones=st.just(dt.UTC))


def integers(bits: int, low: int) -> st.SearchStrategy[int]:
    return st.integers(low, low + (1 << bits) - 1)


def whole_seconds(value: Any) -> Any:
    return value.replace(microsecond=0)


VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.null(): st.none(),
    pa.bool_(): st.booleans(),
    **{getattr(pa, f"int{n}")(): integers(n, -(1 << (n - 1))) for n in (8, 16, 32, 64)},
    **{getattr(pa, f"uint{n}")(): integers(n, 0) for n in (8, 16, 32, 64)},
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): st.binary(max_size=200),
    pa.large_binary(): st.binary(max_size=200),
    pa.binary(5): st.binary(min_size=5, max_size=5),
    pa.date32(): st.dates(),
    pa.date64(): st.dates(),
    pa.time32("s"): st.times().map(whole_seconds),
    pa.time64("us"): st.times(),
    pa.time64("ns"): st.times(),
    pa.timestamp("s"): st.datetimes().map(whole_seconds),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): AWARE,
    pa.timestamp("us", "Asia/Tokyo"): AWARE,
    pa.duration("us"): st.timedeltas(-LONGEST, LONGEST),
    pa.decimal128(38, 10): st.decimals(-(10**27), 10**27, allow_nan=False, places=10),
    pa.decimal128(4, 0): st.integers(-9999, 9999),
}


def hashes(batch: Batch, names: list[str]) -> list[int]:
    return list(struct.unpack(f"={len(batch)}I", hash_columns(batch, names)))


@pytest.mark.parametrize("kind", VALUES, ids=str)
@given(data=st.data())
def test_a_column_encodes_as_its_values_do(kind: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[kind], max_size=20))
    array = pa.array(values, kind)
    offset = data.draw(st.integers(0, len(values)))
    batch = Batch.from_arrow(pa.record_batch([array.slice(offset)], names=["k"]))
    keys = Batch.from_arrow(pa.record_batch([array], names=["k"])).to_rows()[offset:]
    expected = [encode_key(key) for (key,) in keys]
    assert encode_columns(batch, ["k"]) == expected
    assert hashes(batch, ["k"]) == [mmh3.hash(key, 0, signed=False) for key in expected]


@given(st.data())
def test_several_columns_encode_as_a_tuple(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(list(VALUES)), min_size=2, max_size=4))
    rows = data.draw(st.lists(st.tuples(*(st.none() | VALUES[k] for k in kinds)), max_size=10))
    schema = pa.schema([(f"k{i}", kind) for i, kind in enumerate(kinds)])
    batch = Batch.from_rows(rows).to_columns(schema)
    expected = [encode_key(tuple(row)) for row in batch.to_rows()]
    assert encode_columns(batch, schema.names) == expected
    assert hashes(batch, schema.names) == [hash_key(tuple(row)) for row in batch.to_rows()]


def test_the_order_of_the_columns_is_the_order_in_the_key() -> None:
    batch = Batch.from_arrow(pa.record_batch({"a": [1], "b": ["x"]}))
    assert encode_columns(batch, ["b", "a"]) == [encode_key(("x", 1))]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint16(), pa.uint64(), pa.int64()])
def test_integers_of_any_width_are_one_key(kind: pa.DataType) -> None:
    batch = Batch.from_arrow(pa.record_batch({"k": pa.array([5], kind)}))
    assert encode_columns(batch, ["k"]) == [encode_key(5)]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_any_unit_are_one_key(unit: str) -> None:
    moment = dt.datetime(1960, 2, 3, 4, 5, 6)
    batch = Batch.from_arrow(pa.record_batch({"k": pa.array([moment], pa.timestamp(unit))}))
    assert encode_columns(batch, ["k"]) == [encode_key(moment)]


def test_a_dictionary_column_is_the_key_of_its_values() -> None:
    array = pa.array(["a", None, "b", "a"]).dictionary_encode()
    batch = Batch.from_arrow(pa.record_batch({"k": array}))
    assert encode_columns(batch, ["k"]) == [encode_key(key) for key in ["a", None, "b", "a"]]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([1.0]).cast(pa.float16()),
        pa.array([1], pa.decimal256(50, 2)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ],
    ids=lambda array: str(array.type),
)
def test_columns_that_cannot_be_keys_are_refused_by_type(array: pa.Array) -> None:
    batch = Batch.from_arrow(pa.record_batch([array], names=["k"]))
    for function in (encode_columns, hash_columns):
        with pytest.raises(TypeError, match=r"a column of type .* cannot be a key; key by"):
            function(batch, ["k"])


def test_keys_need_columns_that_are_there() -> None:
    batch = Batch.from_arrow(pa.record_batch({"k": [1]}))
    with pytest.raises(KeyError, match="no column 'q'"):
        encode_columns(batch, ["q"])
    with pytest.raises(ValueError, match="at least one column"):
        encode_columns(batch, [])
    with pytest.raises(ValueError, match="a batch of rows has no key columns"):
        hash_columns(Batch.from_rows([1]), ["k"])
