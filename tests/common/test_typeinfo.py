"""Declared types: what fits them, which columns they are, and back."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row, TypeInformation, Types
from penstock.common.arrow_types import arrow_type, is_scalar_schema, schema_of, type_info_of

BASIC = {
    "STRING": pa.string(),
    "BYTE": pa.int8(),
    "BOOLEAN": pa.bool_(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "BIG_INT": pa.decimal128(38, 0),
    "BIG_DEC": pa.decimal128(38, 18),
    "INSTANT": pa.timestamp("us", "UTC"),
    "SQL_DATE": pa.date32(),
    "SQL_TIME": pa.time64("us"),
    "SQL_TIMESTAMP": pa.timestamp("us"),
}
TYPES = st.recursive(
    st.sampled_from([getattr(Types, name)() for name in BASIC]),
    lambda inner: st.one_of(
        inner.map(Types.LIST),
        st.tuples(inner, inner).map(lambda pair: Types.MAP(*pair)),
        st.lists(inner, min_size=1, max_size=3).map(Types.ROW),
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("name", BASIC)
def test_basic_types_are_arrow_types(name: str) -> None:
    assert arrow_type(getattr(Types, name)()) == BASIC[name]


@given(TYPES)
def test_a_type_comes_back_from_its_columns(declared: TypeInformation) -> None:
    assert type_info_of(schema_of(declared)) == declared


def test_rows_and_tuples_are_columns_others_are_bare_values() -> None:
    row = schema_of(Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.STRING())]))
    assert row == pa.schema([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    assert not is_scalar_schema(row)
    assert schema_of(Types.TUPLE([Types.INT()])).names == ["f0"]
    assert not is_scalar_schema(schema_of(Types.TUPLE([Types.INT()])))
    assert is_scalar_schema(schema_of(Types.INT()))
    assert not is_scalar_schema(None)


@pytest.mark.parametrize(
    "declared",
    [
        None,
        Types.PICKLED_BYTE_ARRAY(),
        Types.ROW([Types.INT(), Types.PICKLED_BYTE_ARRAY()]),
        Types.LIST(Types.PICKLED_BYTE_ARRAY()),
        Types.MAP(Types.STRING(), Types.PICKLED_BYTE_ARRAY()),
    ],
    ids=repr,
)
def test_types_of_any_object_have_no_columns(declared: TypeInformation | None) -> None:
    assert schema_of(declared) is None


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        (pa.uint8(), "LONG"),
        (pa.float16(), "DOUBLE"),
        (pa.large_string(), "STRING"),
        (pa.decimal128(5, 2), "BIG_DEC"),
        (pa.timestamp("ns", "Asia/Tokyo"), "INSTANT"),
        (pa.timestamp("s"), "SQL_TIMESTAMP"),
        (pa.date64(), "SQL_DATE"),
        (pa.time32("s"), "SQL_TIME"),
        (pa.large_binary(), "BINARY"),
        (pa.large_list(pa.int64()), "LIST<LONG>"),
        (pa.null(), "PICKLED_BYTE_ARRAY"),
    ],
    ids=str,
)
def test_columns_of_other_arrow_types_get_the_nearest_type(
    data_type: pa.DataType, expected: str
) -> None:
    assert repr(type_info_of(pa.schema([("x", data_type)]))) == f"ROW<x {expected}>"


FITTING = [
    (Types.BYTE(), [-128, 127, np.int64(5)], [128, -129, 1.0, "1", True]),
    (Types.SHORT(), [-(1 << 15), None], [1 << 15]),
    (Types.INT(), [(1 << 31) - 1], [1 << 31, Decimal(1)]),
    (Types.LONG(), [(1 << 63) - 1], [1 << 63]),
    (Types.DOUBLE(), [1.5, 1, np.float32(2)], ["1.5", False]),
    (Types.BOOLEAN(), [True, False, None], [1, 0, "true"]),
    (Types.STRING(), ["", "a"], [b"a", 1]),
    (Types.BIG_INT(), [10**30], [1.5]),
    (Types.BIG_DEC(), [Decimal("1.5"), 3], [1.5]),
    (Types.INSTANT(), [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)], [0, dt.date(2024, 1, 1)]),
    (Types.SQL_DATE(), [dt.date(2024, 1, 1)], [dt.datetime(2024, 1, 1), "2024-01-01"]),
    (Types.SQL_TIME(), [dt.time(1)], [dt.datetime(2024, 1, 1)]),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), [b"x", bytearray(b"x")], ["x"]),
    (Types.PRIMITIVE_ARRAY(Types.INT()), [[1, 2], (1,)], [[1, "2"], "12", {1: 2}]),
    (Types.MAP(Types.STRING(), Types.LONG()), [{"a": 1}, {}], [{1: 1}, {"a": "x"}, [("a", 1)]]),
    (Types.TUPLE([Types.INT(), Types.STRING()]), [(1, "a"), [None, None]], [(1,), 1, ("a", 1)]),
    (
        Types.ROW_NAMED(["a"], [Types.INT()]),
        [Row(a=1), (1,), {"a": 1}],
        [{}, {"a": 1, "b": 2}, {"b": 1}, None, 1],
    ),
    (Types.PICKLED_BYTE_ARRAY(), [object, None], []),
]


@pytest.mark.parametrize(("declared", "good", "bad"), FITTING, ids=lambda v: repr(v)[:30])
def test_values_fit_or_say_what_is_wrong(
    declared: TypeInformation, good: list[Any], bad: list[Any]
) -> None:
    assert [declared.mismatch(value) for value in good] == [None] * len(good)
    for value in bad:
        assert declared.mismatch(value), value


def test_what_is_wrong_is_named_down_to_the_item() -> None:
    declared = Types.ROW_NAMED(["id", "tags"], [Types.INT(), Types.LIST(Types.STRING())])
    assert declared.mismatch((1, ["a", 2])) == (
        "field 'tags': item 1: 2 is of type int, declared is STRING"
    )
    assert declared.mismatch((1 << 31, [])) == (
        "field 'id': 2147483648 does not fit into INT (32 bits)"
    )
    assert declared.mismatch({"id": 1}) == (
        "{'id': 1} has no field 'tags', declared is ROW<id INT, tags LIST<STRING>>"
    )


@given(TYPES)
def test_what_fits_a_type_fits_its_columns(declared: TypeInformation) -> None:
    schema = schema_of(declared)
    assert schema is not None
    assert pa.array([None], schema.field(0).type).null_count == 1


def test_types_are_equal_when_written_equally() -> None:
    assert Types.ROW([Types.INT()]) == Types.ROW_NAMED(["f0"], [Types.INT()])
    assert Types.ROW([Types.INT()]) != Types.TUPLE([Types.INT()])
    assert len({Types.INT(), Types.INT(), Types.LONG()}) == 2


def test_wrong_declarations_are_refused() -> None:
    with pytest.raises(ValueError, match="1 field names for 2 field types"):
        Types.ROW_NAMED(["a"], [Types.INT(), Types.INT()])
    with pytest.raises(ValueError, match=r"field names must be unique.*\['a'\]"):
        Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()])
    with pytest.raises(TypeError, match="a field type is one of Types"):
        Types.ROW([int])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="not a type of penstock"):
        arrow_type("INT")  # type: ignore[arg-type]


PAIR = Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.LONG()])


@pytest.mark.parametrize(
    "element", [Row(a=1, b=2), Row(b=2, a=1), {"b": 2, "a": 1}, (1, 2), [1, 2], Row(1, 2)]
)
def test_elements_of_a_row_type_become_rows_with_its_names(element: Any) -> None:
    assert PAIR.mismatch(element) is None
    assert repr(PAIR.to_row(element)) == "Row(a=1, b=2)"


def test_rows_of_other_names_count_by_position() -> None:
    assert PAIR.mismatch(Row(x=1, y=2)) is None
    assert repr(PAIR.to_row(Row(x=1, y=2))) == "Row(a=1, b=2)"


def test_rows_that_share_some_names_with_the_type_are_refused() -> None:
    assert "has no field 'a'" in str(PAIR.mismatch(Row(b=1, c=2)))
    assert "has an undeclared field 'c'" in str(PAIR.mismatch(Row(b=1, a=2, c=3)))
    assert "field 'b': 'x' is of type str" in str(PAIR.mismatch(Row(b="x", a=2)))


def test_tuple_types_count_by_position() -> None:
    assert Types.TUPLE([Types.LONG(), Types.STRING()]).mismatch(Row(f1=1, f0="a")) is None
