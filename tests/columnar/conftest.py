"""One array of each type that a column can have, with nulls in it; what the tests of this folder share."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

ROWS = 11
NULL_AT = {2, 3, 8}
DAY = dt.date(2024, 2, 27)
NOON = dt.datetime(2024, 2, 27, 12, 30, 45, 123456)


def _with_nulls(values: list[Any]) -> list[Any]:
    return [None if i in NULL_AT else value for i, value in enumerate(values)]


def _numbers() -> Iterator[pa.Array]:
    for bits in (8, 16, 32, 64):
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        signed = [low, high, 0, 0, -1, 1, 5, -5, 0, high - 1, low + 1]
        yield pa.array(_with_nulls(signed), getattr(pa, f"int{bits}")())
        unsigned = [0, 2 * high + 1, 0, 0, 1, high, high + 1, 5, 0, 7, 9]
        yield pa.array(_with_nulls(unsigned), getattr(pa, f"uint{bits}")())
    floats = [0.0, -0.0, 0.0, 0.0, float("inf"), float("-inf"), 1.5, -2.25, 0.0, 1e-3, 1e3]
    for kind in (pa.float16(), pa.float32(), pa.float64()):
        yield pa.array(_with_nulls(floats), pa.float64()).cast(kind, safe=False)
    decimals = [Decimal(n).scaleb(-2) for n in (0, 1, 2, 3, -1, 10**9, -(10**9), 7, 8, 99, 100)]
    yield pa.array(_with_nulls(decimals), pa.decimal128(12, 2))
    yield pa.array(_with_nulls(decimals), pa.decimal128(38, 18))
    yield pa.array(_with_nulls(decimals), pa.decimal256(50, 2))
    whole = [Decimal(n) * 1000 for n in range(ROWS)]
    yield pa.array(_with_nulls(whole), pa.decimal128(5, -3))


def _texts() -> Iterator[pa.Array]:
    texts = ["", "a", "", "", "äöü", "日本語", "😀", "x" * 13, "", "tab\t", "nul\0"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield pa.array(_with_nulls(texts), kind)
    binary = [text.encode() for text in texts]
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield pa.array(_with_nulls(binary), kind)
    yield pa.array(_with_nulls([bytes([i] * 3) for i in range(ROWS)]), pa.binary(3))


def _times() -> Iterator[pa.Array]:
    days = [DAY + dt.timedelta(days=1000 * i * (-1) ** i) for i in range(ROWS)]
    yield pa.array(_with_nulls(days), pa.date32())
    yield pa.array(_with_nulls(days), pa.date64())
    steps = [86_399 - 7_000 * i for i in range(ROWS)]
    for unit, per_second in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        fraction = 0 if unit == "s" else per_second // 8
        counts = [(step - 20_000) * per_second + fraction for step in steps]
        for zone in (None, "UTC", "Europe/Berlin", "+05:30"):
            yield pa.array(_with_nulls(counts), pa.timestamp(unit, zone))
        yield pa.array(_with_nulls(counts), pa.duration(unit))
        of_day = [step * per_second + fraction for step in steps]
        kind = pa.time32 if unit in {"s", "ms"} else pa.time64
        yield pa.array(_with_nulls(of_day), kind(unit))
    yield pa.array(_with_nulls([(1, 2, i) for i in range(ROWS)]), pa.month_day_nano_interval())


def _nested() -> Iterator[pa.Array]:
    lists = [list(range(i)) + [None] * (i % 2) for i in range(ROWS)]
    yield pa.array(_with_nulls(lists), pa.list_(pa.int64()))
    yield pa.array(_with_nulls(lists), pa.large_list(pa.int16()))
    yield pa.array(_with_nulls([[i, None] for i in range(ROWS)]), pa.list_(pa.int32(), 2))
    yield pa.array(_with_nulls([{"x": i, "y": str(i)} for i in range(ROWS)]))
    yield pa.array(_with_nulls([[(str(i), i)] * (i % 3) for i in range(ROWS)]), _map_type())
    yield pa.array(_with_nulls([[{"when": NOON, "tags": ["a"] * i}] * 2 for i in range(ROWS)]))
    kinds = pa.array([0, 1] * 5 + [0], pa.int8())
    parts = [pa.array(range(ROWS)), pa.array([str(i) for i in range(ROWS)])]
    yield pa.UnionArray.from_sparse(kinds, parts)
    yield pa.UnionArray.from_dense(kinds, pa.array(range(ROWS), pa.int32()), parts)


def _map_type() -> pa.DataType:
    return pa.map_(pa.string(), pa.int64())


def _others() -> Iterator[pa.Array]:
    yield pa.nulls(ROWS)
    yield pa.array(_with_nulls([i % 2 == 0 for i in range(ROWS)]))
    uuids = [UUID(int=i).bytes for i in range(ROWS)]
    yield pa.ExtensionArray.from_storage(pa.uuid(), pa.array(_with_nulls(uuids), pa.binary(16)))


ARRAYS = [*_others(), *_numbers(), *_texts(), *_times(), *_nested()]


@pytest.fixture(params=ARRAYS, ids=lambda array: str(array.type).replace(" ", ""))
def array(request: pytest.FixtureRequest) -> pa.Array:
    """An array of each type, 11 values, some of them null."""
    return request.param
