"""Rows to columns by way of pyarrow, for the places where the compiled core asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from penstock.common.row import Row

__all__ = ["rows_to_record_batch", "time_zone"]

_SCALAR_MARKER = b"penstock.scalar"
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
# What pyarrow raises for a value that does not fit its type.
_MISFIT = (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError)


def rows_to_record_batch(rows: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    """The rows (tuples, lists, Rows and dicts by name, or bare values) as columns of the schema.

    >>> schema = pa.schema([("name", pa.string()), ("age", pa.int64())])
    >>> rows_to_record_batch([("Alice", 11), {"name": "Bob", "age": 12}], schema).to_pylist()
    [{'name': 'Alice', 'age': 11}, {'name': 'Bob', 'age': 12}]
    >>> rows_to_record_batch([("Alice", "eleven")], schema)
    Traceback (most recent call last):
    TypeError: row 0, column 'age' (int64): 'eleven' of type str does not fit: ...
    """
    columns = _columns(rows, schema)
    arrays = [_array(values, field) for values, field in zip(columns, schema, strict=True)]
    if not arrays:  # a batch without columns has no other way to say how many rows it has
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@lru_cache(maxsize=256)
def time_zone(name: str) -> tzinfo:
    """The time zone of an Arrow timestamp type: a name, or a fixed offset.

    >>> time_zone("-05:30").utcoffset(None)
    datetime.timedelta(days=-1, seconds=66600)
    """
    if name == "UTC":
        return timezone.utc  # noqa: UP017 (same object, and it prints as such)
    if offset := _OFFSET.fullmatch(name):
        sign, hours, minutes = offset.groups()
        delta = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-delta if sign == "-" else delta)
    return ZoneInfo(name)


def _is_scalar(schema: pa.Schema) -> bool:
    if len(schema) != 1:
        return False
    metadata = schema.field(0).metadata or {}
    return bool(metadata.get(_SCALAR_MARKER) == b"1")


def _columns(rows: list[Any], schema: pa.Schema) -> Iterable[Sequence[Any]]:
    if _is_scalar(schema):
        return [rows]
    width, names = len(schema), schema.names
    if not _are_tuples(rows, names):
        rows = [_as_tuple(i, row, names) for i, row in enumerate(rows)]
    values = list(chain.from_iterable(rows))  # in one go: much faster than zip(*rows)
    return [values[column::width] for column in range(width)]


def _are_tuples(rows: list[Any], names: list[str]) -> bool:
    """Whether all are tuples whose values stand in the order of ``names``."""
    for kind in set(map(type, rows)):
        if not issubclass(kind, tuple) or (issubclass(kind, Row) and kind._is_read_by_name(names)):
            return False
    return set(map(len, rows)) <= {len(names)}


def _as_tuple(number: int, row: Any, names: list[str]) -> tuple[Any, ...]:
    if isinstance(row, Row) and row._is_read_by_name(names):
        fields = row.as_dict()
        if missing := [name for name in names if name not in fields]:
            raise TypeError(f"row {number}: {_shorten(row)} has no field {missing[0]!r}")
        row = fields
    if isinstance(row, dict):
        if unknown := [key for key in row if key not in names]:
            known = ", ".join(names)
            raise TypeError(f"row {number}: no column {unknown[0]!r}; the columns are {known}")
        return tuple(row.get(name) for name in names)
    if isinstance(row, (tuple, list)):
        if len(row) != len(names):
            raise TypeError(
                f"row {number}: {len(row)} values for {len(names)} columns "
                f"({', '.join(names)}): {_shorten(row)}"
            )
        return tuple(row)
    if len(names) == 1:
        return (row,)
    raise TypeError(
        f"row {number}: {_shorten(row)} of type {type(row).__name__} is no row; expected a Row, "
        f"tuple or dict with the columns {', '.join(names)}"
    )


def _array(values: Sequence[Any], field: pa.Field) -> pa.Array:
    try:
        array = pa.array(values, type=field.type)
    except _MISFIT as error:
        raise _misfit(values, field, error) from error
    if not field.nullable and array.null_count:
        number = array.is_null().index(True).as_py()
        raise TypeError(
            f"row {number}, column {field.name!r} ({field.type}): None, but not nullable"
        )
    return array


def _misfit(values: Sequence[Any], field: pa.Field, error: Exception) -> TypeError:
    """The error for the first value that does not fit, found by trying them one by one."""
    where = f"column {field.name!r} ({field.type})"
    for number, value in enumerate(values):
        try:
            pa.array([value], type=field.type)
        except _MISFIT as reason:
            kind = type(value).__name__
            return TypeError(
                f"row {number}, {where}: {_shorten(value)} of type {kind} does not fit: {reason}"
            )
    return TypeError(f"{where}: {error}")


def _shorten(value: Any, limit: int = 100) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
