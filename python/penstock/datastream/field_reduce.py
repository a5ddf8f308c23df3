"""Flink's aggregates over one field of the elements, as reduce functions; all of it pickles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.arrow_types import is_scalar_schema
from penstock.common.row import Row
from penstock.expressions import check_columns

__all__ = ["FieldReduce", "FieldReduceBy", "checked_field"]


class FieldReduce:
    """sum, min or max of one field: the result keeps all other fields of the first element.

    >>> FieldReduce("max", 1)(("a", 1, "first"), ("a", 5, "second"))
    ('a', 5, 'first')
    """

    def __init__(self, kind: str, field: int | str | None) -> None:
        self.kind = kind
        self.field = field  # None: the elements are bare values

    def __call__(self, first: Any, other: Any) -> Any:
        if self.field is None:
            return self._combined(first, other)
        value = self._combined(first[self.field], other[self.field])
        if isinstance(first, dict):
            return {**first, self.field: value}
        return _with_field(first, self.field, value)

    def _combined(self, first: Any, other: Any) -> Any:
        if self.kind == "sum":
            return first + other
        if self.kind == "min":
            return min(first, other)
        return max(first, other)

    def __repr__(self) -> str:
        return f"{self.kind}({self.field!r})"


class FieldReduceBy:
    """min_by or max_by of one field: the whole element that has it, among equal ones the first or the last.

    >>> FieldReduceBy("max_by", 1)(("a", 1, "first"), ("a", 5, "second"))
    ('a', 5, 'second')
    """

    def __init__(self, kind: str, field: int | str | None, first: bool = True) -> None:
        self.kind = kind
        self.field = field  # None: the elements are bare values
        self.first = first

    def __call__(self, one: Any, other: Any) -> Any:
        left, right = (one, other) if self.field is None else (one[self.field], other[self.field])
        if left == right:
            return one if self.first else other
        return other if (right < left) == (self.kind == "min_by") else one

    def __repr__(self) -> str:
        return f"{self.kind}({self.field!r})"


def checked_field(kind: str, field: Any, schema: Any) -> int | str | None:
    """``field`` itself, checked against the columns if they are known; None for elements that are bare values."""
    if isinstance(field, bool) or not isinstance(field, (int, str)):
        raise TypeError(f"{kind}() takes the position or the name of a field, not {field!r}")
    if schema is None:
        return field
    if isinstance(field, str):
        check_columns([field], schema)
    elif not 0 <= field < len(schema):
        raise ValueError(f"{kind}({field}): the elements have {len(schema)} fields")
    return None if is_scalar_schema(schema) else field


def _with_field(element: Sequence[Any], field: int | str, value: Any) -> Any:
    names = element._fields if isinstance(element, Row) else None
    position = field if isinstance(field, int) else (names or ()).index(field)
    values = [*element]
    values[position] = value
    if isinstance(element, Row):
        return Row(*values) if names is None else Row(*names)(*values)
    make: Any = getattr(element, "_make", type(element))  # a named tuple, a tuple or a list
    return make(values)
