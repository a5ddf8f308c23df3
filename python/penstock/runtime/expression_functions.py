"""Column expressions as functions over record batches, in the form that the core calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

__all__ = ["FilterByExpression", "SelectExpressions"]


class SelectExpressions:
    """``RecordBatch -> RecordBatch``: one column per (name, expression)."""

    def __init__(self, expressions: Sequence[tuple[str, Any]]) -> None:
        self._names = [name for name, _ in expressions]
        self._expressions = [expression for _, expression in expressions]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [_evaluated(expression, batch) for expression in self._expressions]
        return pa.RecordBatch.from_arrays(columns, self._names)


class FilterByExpression:
    """``RecordBatch -> BooleanArray``: which rows stay."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        return _evaluated(self._expression, batch)


def _evaluated(expression: Any, batch: pa.RecordBatch) -> pa.Array:
    """The expression's column; an error says which expression it was."""
    try:
        return expression.evaluate(batch)
    except pa.ArrowException as error:
        raise type(error)(f"{expression.text()}: {error}") from error
