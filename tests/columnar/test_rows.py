"""Columns to rows of Python objects: the values, their types, and the rows themselves."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from penstock._core.columnar import Batch, install_row_access
from penstock.common import Row, Types
from penstock.common.arrow_types import schema_of

pytestmark = pytest.mark.native


def values_of(array: pa.Array) -> list[Any]:
    return [row[0] for row in Batch.from_arrow(pa.record_batch([array], names=["x"])).to_rows()]


def expected_values(array: pa.Array) -> list[Any]:
    """What pyarrow makes of it; of nanoseconds (which would become pandas objects) the microseconds."""
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        array = array.cast(pa.timestamp("us", kind.tz))
    elif pa.types.is_duration(kind) and kind.unit == "ns":
        array = array.cast(pa.duration("us"))
    return array.to_pylist()


def test_values_are_those_of_pyarrow(array: pa.Array) -> None:
    found, expected = values_of(array), expected_values(array)
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


def test_values_of_a_slice_are_those_of_pyarrow(array: pa.Array) -> None:
    assert values_of(array.slice(1, 8)) == expected_values(array.slice(1, 8))


def test_rows_are_rows_with_the_names_of_the_columns() -> None:
    batch = Batch.from_arrow(pa.record_batch({"name": ["a"], "count": [1], "class": [None]}))
    (row,) = batch.to_rows()
    assert isinstance(row, Row)
    assert row == ("a", 1, None)
    assert (row.name, row.count, row["class"]) == ("a", 1, None)
    assert repr(row) == "Row(name='a', count=1, class=None)"
    assert {row: 1}[("a", 1, None)] == 1


def test_names_may_be_of_a_subclass_of_str() -> None:
    install_row_access(Row)  # once per process; the runtime does it, too

    class Field(enum.StrEnum):
        NAME = "name"
        OTHER = "other"

    (row,) = Batch.from_arrow(pa.record_batch({"name": ["a"]})).to_rows()
    assert row[Field.NAME] == "a"
    with pytest.raises(KeyError, match="its fields are name"):
        row[Field.OTHER]


def test_rows_of_all_batches_of_a_schema_have_one_type() -> None:
    batch = Batch.from_arrow(pa.record_batch({"x": [1, 2]}))
    first, second = batch.to_rows()
    (again,) = batch.slice(1, 1).to_rows()
    assert type(first) is type(second) is type(again)


@pytest.mark.parametrize("rows", [0, 1, 1023, 1024, 1025, 5000])
def test_rows_of_any_number_keep_their_order(rows: int) -> None:
    batch = Batch.from_arrow(pa.record_batch({"i": range(rows), "s": map(str, range(rows))}))
    assert batch.to_rows() == [(i, str(i)) for i in range(rows)]


def test_a_schema_of_bare_values_gives_bare_values() -> None:
    schema = schema_of(Types.LONG())
    batch = Batch.from_arrow(pa.record_batch([[1, None, 3]], schema=schema))
    assert batch.to_rows() == [1, None, 3]


def test_nanoseconds_are_cut_downwards() -> None:
    stamps = pa.array([-1, 999, 1_001], pa.timestamp("ns"))
    epoch = dt.datetime(1970, 1, 1)
    micro = dt.timedelta(microseconds=1)
    assert values_of(stamps) == [epoch - micro, epoch, epoch + micro]
    assert values_of(pa.array([-1, 999], pa.duration("ns"))) == [-micro, micro * 0]


def test_zoned_timestamps_know_the_fold_of_the_hour_that_comes_twice() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first = dt.datetime(2024, 10, 27, 0, 30, tzinfo=dt.UTC)
    both = [first, first + dt.timedelta(hours=1)]
    found = values_of(pa.array(both, pa.timestamp("s", "Europe/Berlin")))
    assert [(value.hour, value.fold) for value in found] == [(2, 0), (2, 1)]
    assert [value.astimezone(dt.UTC) for value in found] == both
    assert all(value.tzinfo is berlin for value in found)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (pa.array([400_000_000], pa.date32()), "column 'x'.*year 1097132"),
        (pa.array([2**62], pa.timestamp("s")), "column 'x'.*year"),
        (pa.array([-(2**62)], pa.timestamp("ms", "UTC")), "column 'x'.*year"),
        (pa.array([-(2**63)], pa.timestamp("ms")), "column 'x'.*year"),
        (pa.array([2**62], pa.duration("s")), "column 'x'.*timedelta"),
    ],
)
def test_times_beyond_python_are_an_error_that_names_the_column(
    array: pa.Array, message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        values_of(array)


def test_an_unknown_time_zone_is_an_error_that_names_the_column() -> None:
    array = pa.array([0], pa.timestamp("s", "Mars/Olympus"))
    with pytest.raises(RuntimeError, match=r"column 'x'.*Mars/Olympus"):
        values_of(array)


SCHEMA = pa.schema([("name", pa.string()), ("age", pa.int8())])


@pytest.mark.parametrize("row", [("a", 1), ["a", 1], {"age": 1, "name": "a"}, Row("a", 1)])
def test_rows_of_every_shape_become_columns(row: Any) -> None:
    batch = Batch.from_rows([row, ("b", None)], [5, 6]).to_columns(SCHEMA)
    assert batch.is_columnar
    assert batch.timestamps == [5, 6]
    assert pa.record_batch(batch).to_pydict() == {"name": ["a", "b"], "age": [1, None]}


def test_a_dict_without_a_column_has_null_there() -> None:
    batch = Batch.from_rows([{"name": "a"}, {}]).to_columns(SCHEMA)
    assert batch.to_rows() == [("a", None), (None, None)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("b", 128), r"row 1, column 'age' \(int8\): 128 of type int does not fit"),
        (("b", "x"), r"row 1, column 'age' \(int8\): 'x' of type str does not fit"),
        ((2, 1), r"row 1, column 'name' \(string\): 2 of type int does not fit"),
        (("b",), r"row 1: 1 values for 2 columns \(name, age\)"),
        ({"mame": "b"}, "row 1: no column 'mame'; the columns are name, age"),
        (7, "row 1: 7 of type int is no row"),
        (None, "row 1: None of type NoneType is no row"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_column_and_value(row: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Batch.from_rows([("a", 1), row]).to_columns(SCHEMA)


def test_null_in_a_column_that_is_not_nullable_is_refused() -> None:
    schema = pa.schema([pa.field("x", pa.int64(), nullable=False)])
    with pytest.raises(TypeError, match=r"row 1, column 'x'.*not nullable"):
        Batch.from_rows([(1,), (None,)]).to_columns(schema)


def test_rows_are_carried_as_they_are() -> None:
    items = [object(), None, "x", [1], Decimal(1)]
    batch = Batch.from_rows(items, [1, 2, 3, 4, 5])
    assert not batch.is_columnar
    assert len(batch) == batch.num_rows == 5
    assert [a is b for a, b in zip(batch.to_rows(), items, strict=True)] == [True] * 5
    assert batch.take([4, 0]).to_rows() == [items[4], items[0]]
    assert batch.take([4, 0]).timestamps == [5, 1]
    assert batch.slice(1, 2).to_rows() == [None, "x"]
    assert batch.slice(1, 2).timestamps == [2, 3]


def test_no_rows_are_a_batch_too() -> None:
    empty = Batch.from_rows([])
    assert empty.to_rows() == []
    assert empty.slice(0, 0).to_rows() == []
    assert empty.take([]).to_rows() == []
    assert pa.record_batch(empty.to_columns(SCHEMA)).schema == SCHEMA


def test_rows_may_come_from_any_iterable() -> None:
    assert Batch.from_rows(x * x for x in range(4)).to_rows() == [0, 1, 4, 9]


def test_timestamps_stay_with_their_rows_in_both_forms() -> None:
    batch = Batch.from_arrow(pa.record_batch({"x": [1, 2, 3]})).with_timestamps([30, 10, 20])
    assert batch.take([2, 0]).timestamps == [20, 30]
    assert batch.slice(1, 2).timestamps == [10, 20]
    assert batch.select(["x"]).timestamps == [30, 10, 20]
    assert batch.with_timestamps(None).timestamps is None
