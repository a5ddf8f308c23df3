"""Python objects as keys: equal keys have equal bytes, and bytes give the key back."""

import datetime as dt
import enum
from collections import namedtuple
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import mmh3
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._core.record import decode_key, encode_key, hash_key
from penstock.common import Row
from penstock.errors import CheckpointError

pytestmark = pytest.mark.native


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1


class Bits(enum.Flag):
    A = 1
    B = 2


Point = namedtuple("Point", ["x", "y"])


def is_sane(key: dt.datetime) -> bool:
    """Python itself compares times in the hour that comes twice as unequal to all of other zones."""
    try:
        return bool(key.astimezone(dt.UTC) == key)
    except OverflowError:
        return False


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8")),
    st.binary(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.timezones()).filter(is_sane),
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.sampled_from([*Colour, *Level, Bits.A]),
)
KEYS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)


@given(KEYS)
def test_decoding_gives_the_key_back(key: Any) -> None:
    found = decode_key(encode_key(key))
    assert found == key
    assert type(found) is type(key)


@given(KEYS)
def test_hash_is_murmur3_of_the_bytes(key: Any) -> None:
    assert hash_key(key) == mmh3.hash(encode_key(key), 0, signed=False)


@given(KEYS, KEYS)
def test_keys_of_one_type_have_equal_bytes_exactly_when_equal(one: Any, other: Any) -> None:
    if type(one) is type(other) and not isinstance(one, tuple):
        assert (encode_key(one) == encode_key(other)) == (one == other)


@given(st.lists(KEYS, min_size=2, max_size=4))
def test_encodings_delimit_themselves(keys: list[Any]) -> None:
    parts = [encode_key(key) for key in keys]
    assert encode_key(tuple(keys))[2:] == b"".join(parts)
    assert decode_key(encode_key(tuple(keys))) == tuple(keys)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_bytes_of_ints_sort_as_the_ints_do(one: int, other: int) -> None:
    assert (encode_key(one) < encode_key(other)) == (one < other)


def test_values_of_different_kinds_are_different_keys() -> None:
    lookalikes = [1, 1.0, True, "1", b"1", Decimal(1), (1,), Level.LOW, None]
    assert len({encode_key(key) for key in lookalikes}) == len(lookalikes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (float("nan"), -float("nan")),
        (Decimal("1.50"), Decimal("1.5")),
        (Decimal("0.00"), Decimal("-0")),
        (Decimal("1E+2"), Decimal(100)),
        (Row(a=1, b="x"), (1, "x")),
        (Point(1, 2), (1, 2)),
        (np.int8(5), 5),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.bytes_(b"a"), b"a"),
        (np.datetime64("2024-01-02T03:04:05"), dt.datetime(2024, 1, 2, 3, 4, 5)),
        (np.timedelta64(1500, "ms"), dt.timedelta(seconds=1.5)),
        (np.datetime64("3000-01-01T00:00:00.5"), dt.datetime(3000, 1, 1, 0, 0, 0, 500_000)),
        (np.datetime64("1960-01-01T00:00:00.5"), dt.datetime(1960, 1, 1, 0, 0, 0, 500_000)),
        (np.timedelta64(-1, "us"), dt.timedelta(microseconds=-1)),
        (np.datetime64("NaT"), None),
        (pd.Timestamp("2024-01-02 03:04:05"), dt.datetime(2024, 1, 2, 3, 4, 5)),
        (pd.Timestamp("2024-01-02", tz="UTC"), dt.datetime(2024, 1, 2, tzinfo=dt.UTC)),
        (pd.Timedelta("1s"), dt.timedelta(seconds=1)),
        (pd.NaT, None),
        (
            dt.datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")),
            dt.datetime(2024, 7, 1, 10, tzinfo=dt.UTC),
        ),
    ],
    ids=repr,
)
def test_the_same_key_in_another_dress_has_the_same_bytes(one: Any, other: Any) -> None:
    assert encode_key(one) == encode_key(other)


def test_nanoseconds_of_numpy_and_pandas_count() -> None:
    times = [pd.Timestamp("2024-01-01") + pd.Timedelta(n, "ns") for n in (0, 1, 999)]
    assert len({encode_key(time) for time in times}) == 3
    assert [encode_key(time) for time in times] == [
        encode_key(time.to_datetime64()) for time in times
    ]
    deltas = [pd.Timedelta(n, "ns") for n in (0, 1, 999)]
    assert [encode_key(delta) for delta in deltas] == [
        encode_key(delta.to_timedelta64()) for delta in deltas
    ]


class Thing:
    pass


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ([1, 2], r"a list cannot be a key because it is mutable; use tuple\(\.\.\.\)"),
        ({"a": 1}, "a dict cannot be a key .*use one of its values or a tuple of them"),
        ({1, 2}, r"a set cannot be a key .*use tuple\(sorted\(\.\.\.\)\)"),
        (frozenset({1}), r"a set cannot be a key .*use tuple\(sorted\(\.\.\.\)\)"),
        (bytearray(b"a"), r"a bytearray cannot be a key .*use bytes\(\.\.\.\)"),
        (memoryview(b"a"), r"a memoryview cannot be a key .*use bytes\(\.\.\.\)"),
        (Thing(), "type .*Thing cannot be a key; use one of its fields or a tuple of them"),
        (1j, "type complex cannot be a key"),
        (np.array([1]), r"type numpy\.ndarray cannot be a key"),
        (np.longdouble(1), r"type numpy\.longdouble cannot be a key"),
        (pd.NA, "NAType cannot be a key"),
        (Bits.A | Bits.B, r"combination of flags and cannot be a key; use its \.value"),
        (dt.time(1, tzinfo=dt.UTC), "a time with a time zone cannot be a key; use a datetime"),
        ((1, ("a", [2])), "a list cannot be a key"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_a_key_is_told_what_to_do(wrong: Any, advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        encode_key(wrong)


@pytest.mark.parametrize("wrong", [Decimal("NaN"), Decimal("Infinity")])
def test_decimals_that_are_no_numbers_cannot_be_keys(wrong: Decimal) -> None:
    with pytest.raises(ValueError, match=r"cannot be a key: it is no number"):
        encode_key(wrong)


def test_lone_surrogates_cannot_be_keys() -> None:
    with pytest.raises(ValueError, match="lone surrogates"):
        encode_key("\ud800")


def test_a_tuple_nested_without_end_is_refused() -> None:
    key: Any = 1
    for _ in range(90):
        key = (key,)
    assert decode_key(encode_key(key)) == key
    for _ in range(20):
        key = (key,)
    with pytest.raises(ValueError, match="nested too deeply"):
        encode_key(key)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_key_never_crash(data: bytes) -> None:
    try:
        key = decode_key(data)
    except (
        CheckpointError,
        ValueError,
        OverflowError,
        ImportError,
        AttributeError,
        KeyError,
        TypeError,
    ):
        return
    assert encode_key(key) is not None


@given(KEYS, st.data())
def test_cut_bytes_are_refused(key: Any, data: st.DataObject) -> None:
    encoded = encode_key(key)
    cut = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises(CheckpointError, match="not an encoded key"):
        decode_key(cut)


def test_bytes_behind_a_key_are_refused() -> None:
    with pytest.raises(CheckpointError, match="not an encoded key"):
        decode_key(encode_key(1) + b"\x01")


def test_uuid_and_enum_keys_come_back_as_themselves() -> None:
    assert decode_key(encode_key(UUID(int=7))) == UUID(int=7)
    assert decode_key(encode_key(Level.LOW)) is Level.LOW
