"""Which columns can be keys, which can be aggregated, and what a window of built-in aggregates emits.

The rules are those of the native operators; here they are asked when the job is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from penstock.graph.specs import AggregateCall

__all__ = ["check_key_type", "result_type", "window_schema"]


def check_key_type(name: str, data_type: pa.DataType) -> None:
    """Raises TypeError when a column of this type cannot be a key."""
    kinds = pa.types
    plain = (
        kinds.is_integer(data_type)
        or kinds.is_null(data_type)
        or kinds.is_boolean(data_type)
        or kinds.is_float32(data_type)
        or kinds.is_float64(data_type)
        or _is_binary_like(data_type)
        or kinds.is_fixed_size_binary(data_type)
        or kinds.is_date(data_type)
        or kinds.is_time(data_type)
        or kinds.is_timestamp(data_type)
        or kinds.is_duration(data_type)
        or kinds.is_decimal128(data_type)
    )
    if not plain:
        raise TypeError(
            f"column {name!r} of type {data_type} cannot be a key; key by columns of plain types "
            "(bool, integers, floats, strings, binary, dates, times, decimals), or by a function that returns "
            "such a value or a tuple of them"
        )


def result_type(call: AggregateCall, schema: pa.Schema) -> pa.DataType:
    """The type of the aggregate's result; TypeError when its column cannot be aggregated so."""
    if call.kind == "count":
        return pa.int64()
    data_type = schema.field(call.column).type
    if call.kind in {"min", "max"}:
        if _is_number(data_type) or _is_ordered(data_type):
            return data_type
        works = "numbers, booleans, dates, times, strings and binary"
    elif _is_number(data_type):
        return pa.float64() if call.kind == "avg" else _sum_type(data_type)
    else:
        works = "integers, floats and decimal128"
    raise TypeError(
        f"{call.kind} cannot aggregate column {call.column!r} of type {data_type}; it works on {works}"
    )


def window_schema(
    keys: Sequence[str], aggregates: Iterable[AggregateCall], schema: pa.Schema
) -> pa.Schema:
    """The columns that a window of built-in aggregates emits: keys, window_start, window_end, aggregates."""
    fields = [schema.field(key) for key in keys]
    fields += [
        pa.field(n, pa.timestamp("ms"), nullable=False) for n in ("window_start", "window_end")
    ]
    fields += [
        pa.field(call.alias, result_type(call, schema), nullable=call.kind != "count")
        for call in aggregates
    ]
    names = [field.name for field in fields]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        advice = (
            "give the key column another name before, with select(...)"
            if repeated[0] in keys and repeated[0] in {"window_start", "window_end"}
            else "give the aggregate another name with .alias(...)"
        )
        raise ValueError(f"the window's result would have two columns {repeated[0]!r}; {advice}")
    return pa.schema([field.remove_metadata() for field in fields])


def _is_number(data_type: pa.DataType) -> bool:
    kinds = pa.types
    floating = kinds.is_float32(data_type) or kinds.is_float64(data_type)
    return bool(floating or kinds.is_integer(data_type) or kinds.is_decimal128(data_type))


def _is_ordered(data_type: pa.DataType) -> bool:
    kinds = pa.types
    temporal = kinds.is_date(data_type) or kinds.is_time(data_type) or kinds.is_timestamp(data_type)
    others = kinds.is_duration(data_type) or kinds.is_boolean(data_type)
    return temporal or others or _is_binary_like(data_type)


def _is_binary_like(data_type: pa.DataType) -> bool:
    kinds = pa.types
    strings = kinds.is_string(data_type) or kinds.is_large_string(data_type)
    return bool(strings or kinds.is_binary(data_type) or kinds.is_large_binary(data_type))


def _sum_type(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(data_type):
        return pa.float64()
    if pa.types.is_decimal(data_type):
        return pa.decimal128(38, data_type.scale)
    return pa.uint64() if pa.types.is_unsigned_integer(data_type) else pa.int64()
