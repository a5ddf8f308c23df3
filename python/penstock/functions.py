"""Built-in aggregates over columns, for windows: ``from penstock import functions as F``.

``F.col``, ``F.lit`` and ``F.call_function`` are those of ``penstock.expressions``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.expressions import Expression, call_function, col, lit

__all__ = ["Aggregate", "avg", "call_function", "col", "count", "lit", "max", "min", "sum"]


@dataclass(frozen=True)
class Aggregate:
    """A built-in aggregate of one column; nulls are left out of it.

    >>> sum("price").alias("revenue")
    Aggregate(kind='sum', column='price', name='revenue')
    """

    kind: str
    column: str | None
    name: str

    def alias(self, name: str) -> Aggregate:
        """The same aggregate with its result column called ``name``."""
        if not name or not isinstance(name, str):
            raise TypeError(f"an alias is a name, not {name!r}")
        return replace(self, name=name)


def count(column: str | Expression | None = None) -> Aggregate:
    """The number of rows (``column`` None or ``"*"``), or of rows where ``column`` is not null."""
    if column is None or (isinstance(column, str) and column == "*"):
        return Aggregate("count", None, "count")
    return _aggregate("count", column)


def sum(column: str | Expression) -> Aggregate:
    """The sum: int64 of integers, float64 of floats. Overflow is an error, unless ``penstock.sum-overflow`` is wrap."""
    return _aggregate("sum", column)


def min(column: str | Expression) -> Aggregate:
    """The smallest value."""
    return _aggregate("min", column)


def max(column: str | Expression) -> Aggregate:
    """The greatest value."""
    return _aggregate("max", column)


def avg(column: str | Expression) -> Aggregate:
    """The mean, as float64."""
    return _aggregate("avg", column)


def _aggregate(kind: str, column: str | Expression) -> Aggregate:
    name = column if isinstance(column, str) else getattr(column, "column", None)
    if not isinstance(name, str):
        raise TypeError(
            f"{kind}() takes a column by name, not {column!r}; "
            "make a computed column first: with_columns(x=...), then aggregate 'x'"
        )
    return Aggregate(kind, name, f"{kind}_{name}")
