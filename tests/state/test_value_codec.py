"""State values are encoded as docs/snapshot-format.md says, come back as they were, or are refused."""

import datetime as dt
import decimal
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Row, Types
from penstock._core.state import ValueCodec
from penstock.common.typeinfo import TypeInformation
from penstock.errors import CheckpointError

pytestmark = pytest.mark.native

BASIC = {
    Types.BOOLEAN(): st.booleans(),
    Types.BYTE(): st.integers(-(2**7), 2**7 - 1),
    Types.SHORT(): st.integers(-(2**15), 2**15 - 1),
    Types.INT(): st.integers(-(2**31), 2**31 - 1),
    Types.LONG(): st.integers(-(2**63), 2**63 - 1),
    Types.FLOAT(): st.floats(width=32, allow_nan=False),
    Types.DOUBLE(): st.floats(allow_nan=False),
    Types.STRING(): st.text(),
    Types.PRIMITIVE_ARRAY(Types.BYTE()): st.binary(),
    Types.BIG_INT(): st.integers(),
    Types.BIG_DEC(): st.decimals(allow_nan=False),
    Types.SQL_TIMESTAMP(): st.datetimes(),
    Types.INSTANT(): st.datetimes(timezones=st.just(dt.UTC)),
    Types.SQL_DATE(): st.dates(),
    Types.SQL_TIME(): st.times(),
}
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.tuples(inner, inner) | st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def codec(declared: TypeInformation) -> ValueCodec:
    return ValueCodec(repr(declared))


def round_trip(declared: TypeInformation, value: Any) -> Any:
    return codec(declared).decode(codec(declared).encode(value))


def typed() -> st.SearchStrategy[tuple[TypeInformation, Any]]:
    """A declared type with a value of it."""
    basic = st.sampled_from(list(BASIC)).flatmap(lambda t: st.tuples(st.just(t), BASIC[t]))

    def nest(inner: st.SearchStrategy[tuple[TypeInformation, Any]]) -> st.SearchStrategy[Any]:
        fields = st.lists(inner, max_size=4)
        tuples = fields.map(lambda f: (Types.TUPLE([t for t, _ in f]), tuple(v for _, v in f)))
        rows = fields.map(
            lambda f: (
                Types.ROW_NAMED([f"f {i}" for i in range(len(f))], [t for t, _ in f]),
                Row(**{f"f {i}": v for i, (_, v) in enumerate(f)}) if f else Row(),
            )
        )
        lists = inner.flatmap(
            lambda p: st.lists(st.sampled_from([p[1], None])).map(lambda v: (Types.LIST(p[0]), v))
        )
        maps = st.tuples(st.sampled_from([Types.LONG(), Types.STRING()]), inner).flatmap(
            lambda p: st.dictionaries(BASIC[p[0]], st.sampled_from([p[1][1], None])).map(
                lambda v: (Types.MAP(p[0], p[1][0]), v)
            )
        )
        return tuples | rows | lists | maps

    return st.recursive(basic, nest, max_leaves=6)


@given(typed())
def test_typed_value_comes_back_as_it_was(pair: tuple[TypeInformation, Any]) -> None:
    declared, value = pair
    back = round_trip(declared, value)
    assert back == value
    assert type(back).__name__ == type(value).__name__


@given(plain)
def test_undeclared_value_comes_back_as_it_was(value: Any) -> None:
    back = round_trip(Types.PICKLED_BYTE_ARRAY(), value)
    assert back == value
    assert type(back) is type(value)


def test_row_keeps_its_names() -> None:
    declared = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.LONG()])
    for given_as in [Row(name="Al", age=3), ("Al", 3), {"age": 3, "name": "Al"}, ["Al", 3]]:
        assert repr(round_trip(declared, given_as)) == "Row(name='Al', age=3)"


def test_subclasses_and_other_objects_are_pickled() -> None:
    for value in [Row(a=1), {1, 2}, dt.date(2020, 1, 2), True, decimal.Decimal("1.50"), 1 << 80]:
        back = round_trip(Types.PICKLED_BYTE_ARRAY(), value)
        assert (type(back).__name__, repr(back)) == (type(value).__name__, repr(value))


class Empties:
    """Empties what it is in while it is pickled."""

    def __init__(self) -> None:
        self.within: Any = None

    def __reduce__(self) -> Any:
        self.within.clear()
        return Empties, ()


def test_containers_may_change_while_their_items_are_pickled() -> None:
    items = [Empties() for _ in range(1000)]
    for item in items:
        item.within = items
    declared = Types.LIST(Types.PICKLED_BYTE_ARRAY())
    assert len(round_trip(declared, items)) == 1000
    named = {str(i): Empties() for i in range(1000)}
    for item in named.values():
        item.within = named
    assert len(round_trip(Types.MAP(Types.STRING(), Types.PICKLED_BYTE_ARRAY()), named)) == 1000


def test_special_floats_and_decimals_keep_their_bits() -> None:
    for declared in (Types.DOUBLE(), Types.PICKLED_BYTE_ARRAY()):
        assert math.copysign(1, round_trip(declared, -0.0)) == -1
        assert math.isnan(round_trip(declared, math.nan))
    for text in ["NaN", "Infinity", "-0", "1E+5", "1.500"]:
        assert str(round_trip(Types.BIG_DEC(), decimal.Decimal(text))) == text


def test_bytes_are_those_of_the_documentation() -> None:
    assert codec(Types.LONG()).encode(-2) == struct.pack("<q", -2)
    assert codec(Types.STRING()).encode("hé") == b"\x03h\xc3\xa9"
    row = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    assert codec(row).encode((None, "x")) == b"\x01\x01x"
    assert codec(Types.LIST(Types.BYTE())).encode([1, None, 2]) == b"\x03\x02\x01\x02"
    assert codec(Types.MAP(Types.BYTE(), Types.BYTE())).encode({1: None}) == b"\x01\x02\x01"
    assert codec(Types.BIG_INT()).encode(128) == b"\x02\x80\x00"
    assert codec(Types.SQL_DATE()).encode(dt.date(1970, 1, 3)) == b"\x02\0\0\0"
    pickled = codec(Types.PICKLED_BYTE_ARRAY())
    assert pickled.encode((1, None)) == b"(\x02i" + struct.pack("<q", 1) + b"N"


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (Types.LONG(), "1"),
        (Types.LONG(), True),
        (Types.LONG(), 1.5),
        (Types.LONG(), 1 << 63),
        (Types.BYTE(), 128),
        (Types.LONG(), None),
        (Types.BOOLEAN(), 1),
        (Types.DOUBLE(), "1.5"),
        (Types.STRING(), b"x"),
        (Types.STRING(), "\ud800"),
        (Types.SQL_DATE(), dt.datetime(2020, 1, 1)),
        (Types.SQL_TIME(), dt.time(1, tzinfo=dt.UTC)),
        (Types.BIG_DEC(), 1.5),
        (Types.LIST(Types.LONG()), "ab"),
        (Types.LIST(Types.LONG()), [1, "x"]),
        (Types.TUPLE([Types.LONG()]), (1, 2)),
        (Types.MAP(Types.STRING(), Types.LONG()), [("a", 1)]),
        (Types.ROW_NAMED(["a"], [Types.LONG()]), {"b": 1}),
        (
            Types.PICKLED_BYTE_ARRAY(),
            (n for n in (1, 2)),
        ),
    ],
)
def test_value_that_does_not_fit_is_refused(declared: TypeInformation, value: Any) -> None:
    with pytest.raises(TypeError, match="does not fit"):
        codec(declared).encode(value)


def test_message_names_value_and_both_types() -> None:
    with pytest.raises(TypeError, match=r"'x' of type str does not fit LONG"):
        codec(Types.LONG()).encode("x")


@given(typed(), st.data())
def test_cut_bytes_are_damage_and_never_a_crash(
    pair: tuple[TypeInformation, Any], data: st.DataObject
) -> None:
    declared, value = pair
    encoded = codec(declared).encode(value)
    cut = data.draw(st.integers(0, max(0, len(encoded) - 1)))
    if encoded:
        with pytest.raises(CheckpointError):
            codec(declared).decode(encoded[:cut])
        with pytest.raises(CheckpointError):
            codec(declared).decode(encoded + b"\0")


@given(st.binary(max_size=40))
def test_any_bytes_decode_or_are_refused(noise: bytes) -> None:
    row = Types.ROW_NAMED(
        ["a", "b"], [Types.LIST(Types.STRING()), Types.MAP(Types.INT(), Types.LONG())]
    )
    for declared in [*BASIC, row]:
        try:
            codec(declared).decode(noise)
        except CheckpointError:
            continue


@pytest.mark.parametrize("text", ["", "LONGER", "ROW<a>", "LIST<LONG"])
def test_unknown_type_text_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        ValueCodec(text)
