"""Rows to columns and back give the same values, for any values of any type."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._core.columnar import Batch

pytestmark = pytest.mark.native

_MICROS = dt.timedelta(microseconds=1)
_LONGEST = _MICROS * (2**63 - 1)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


def integers(bits: int, signed: bool) -> st.SearchStrategy[int]:
    low = -(1 << (bits - 1)) if signed else 0
    return st.integers(low, low + (1 << bits) - 1)


VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): integers(8, True),
    pa.int16(): integers(16, True),
    pa.int32(): integers(32, True),
    pa.int64(): integers(64, True),
    pa.uint8(): integers(8, False),
    pa.uint16(): integers(16, False),
    pa.uint32(): integers(32, False),
    pa.uint64(): integers(64, False),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): st.binary(max_size=20),
    pa.large_binary(): st.binary(max_size=20),
    pa.binary(4): st.binary(min_size=4, max_size=4),
    pa.date32(): st.dates(),
    pa.date64(): st.dates(),
    pa.time32("s"): st.times().map(lambda t: t.replace(microsecond=0)),
    pa.time64("us"): st.times(),
    pa.time64("ns"): st.times(),
    pa.timestamp("s"): st.datetimes().map(lambda t: t.replace(microsecond=0)),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(dt.UTC)),
    pa.timestamp("us", "America/New_York"): st.datetimes(
        min_value=dt.datetime(1900, 1, 1),
        max_value=dt.datetime(2100, 1, 1),
        timezones=st.just(dt.UTC),
    ).map(lambda t: t.astimezone(ZoneInfo("America/New_York"))),
    pa.duration("us"): st.timedeltas(-_LONGEST, _LONGEST),
    pa.decimal128(38, 10): st.decimals(-(10**27), 10**27, allow_nan=False, places=10),
    pa.list_(pa.int64()): st.lists(st.none() | integers(64, True), max_size=4),
    pa.struct([("a", pa.string()), ("b", pa.bool_())]): st.fixed_dictionaries(
        {"a": st.none() | TEXT, "b": st.none() | st.booleans()}
    ),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Schema, list[tuple[Any, ...]]]:
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=6))
    schema = pa.schema([(f"c{i}", kind) for i, kind in enumerate(kinds)])
    rows = st.tuples(*(st.none() | VALUES[kind] for kind in kinds))
    return schema, draw(st.lists(rows, max_size=30))


@given(tables())
def test_rows_to_columns_to_rows_is_the_identity(
    table: tuple[pa.Schema, list[tuple[Any, ...]]],
) -> None:
    schema, rows = table
    back = Batch.from_rows(rows).to_columns(schema).to_rows()
    assert back == rows
    assert [[type(value) for value in row] for row in back] == [
        [type(value) for value in row] for row in rows
    ]


@given(tables(), st.data())
def test_columns_to_rows_to_columns_is_the_identity_on_any_slice(
    table: tuple[pa.Schema, list[tuple[Any, ...]]], data: st.DataObject
) -> None:
    schema, rows = table
    columns = (
        [
            pa.array(column, field.type)
            for column, field in zip(zip(*rows, strict=True), schema, strict=True)
        ]
        if rows
        else [pa.array([], field.type) for field in schema]
    )
    batch = pa.record_batch(columns, schema=schema)
    offset = data.draw(st.integers(0, len(rows)))
    sliced = batch.slice(offset, data.draw(st.integers(0, len(rows) - offset)))
    back = Batch.from_rows(Batch.from_arrow(sliced).to_rows()).to_columns(schema)
    assert pa.record_batch(back).equals(sliced)


@given(tables(), st.data())
def test_taking_rows_is_taking_from_the_list(
    table: tuple[pa.Schema, list[tuple[Any, ...]]], data: st.DataObject
) -> None:
    schema, rows = table
    indices = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=20)) if rows else []
    batch = Batch.from_rows(rows).to_columns(schema)
    assert batch.take(indices).to_rows() == [rows[i] for i in indices]
