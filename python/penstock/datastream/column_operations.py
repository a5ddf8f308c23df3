"""Operations on columns as transformations, with the checks that are possible when a job is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.common.typeinfo import TypeInformation
from penstock.expressions import Expression, check_columns, col
from penstock.graph.specs import ExpressionFilterSpec, ExpressionSelectSpec
from penstock.graph.transformation import OperatorTransformation, Transformation
from penstock.graph.window_types import check_key_type

__all__ = [
    "as_expressions",
    "check_key_columns",
    "declared_type",
    "filter_columns",
    "require_schema",
    "select_columns",
]


def require_schema(transformation: Transformation, what: str) -> pa.Schema:
    """The columns of a stream; TypeError with advice when it has none."""
    if transformation.schema is None:
        raise TypeError(
            f"{what} needs columns, but {transformation.name!r} emits Python objects without a declared type; "
            "declare one: map(function, output_type=Types.ROW_NAMED([...], [...])), "
            "from_collection(data, type_info=...), or start with from_arrow(data)"
        )
    return transformation.schema


def as_expressions(items: Sequence[Any], what: str) -> list[Expression]:
    """Expressions of the items; a text stands for the column of that name."""
    if not items:
        raise TypeError(f"{what} needs at least one column expression")
    for item in items:
        if not isinstance(item, (str, Expression)):
            raise TypeError(
                f"{what} takes column expressions, not {item!r}; use col(name) or lit(value)"
            )
    return [col(item) if isinstance(item, str) else item for item in items]


def select_columns(
    transformation: Transformation, expressions: Sequence[Expression], what: str
) -> OperatorTransformation:
    """Each expression becomes a column of the result."""
    schema = require_schema(transformation, what)
    names = [expression.name for expression in expressions]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{what}: two columns would be called {repeated[0]!r}; use .alias(...)")
    fields = [pa.field(e.name, e.output_type(schema)) for e in expressions]
    return OperatorTransformation(
        what.removesuffix("()").replace("_", " ").title(),
        (transformation,),
        pa.schema(fields),
        description=f"{what.removesuffix('()')}({', '.join(e.text() for e in expressions)})",
        spec=ExpressionSelectSpec(tuple((e.name, e) for e in expressions)),
        needs_columns=True,
        output="columns",
    )


def filter_columns(transformation: Transformation, condition: Expression) -> OperatorTransformation:
    """The rows for which ``condition`` is true; neither false nor null."""
    schema = require_schema(transformation, "filter() with a column expression")
    found = condition.output_type(schema)
    if not pa.types.is_boolean(found):
        raise TypeError(
            f"filter({condition.text()}): the condition must be boolean, but it is {found}"
        )
    return OperatorTransformation(
        "Filter",
        (transformation,),
        schema,
        description=f"filter({condition.text()})",
        spec=ExpressionFilterSpec(condition),
        needs_columns=True,
        output="columns",
    )


def check_key_columns(transformation: Transformation, names: Sequence[str]) -> None:
    """Raises unless all ``names`` are columns that can be keys."""
    schema = require_schema(transformation, "key_by() with column names")
    check_columns(names, schema)
    for name in names:
        check_key_type(name, schema.field(name).type)


def declared_type(
    more: tuple[Any, ...], output_type: TypeInformation | None, what: str
) -> TypeInformation | None:
    """The declared type, given as second argument or by name."""
    if len(more) > 1 or (more and output_type is not None):
        raise TypeError(f"{what} with a function takes at most an output_type besides it")
    found = more[0] if more else output_type
    if found is not None and not isinstance(found, TypeInformation):
        raise TypeError(
            f"{what}: output_type must be one of Types, such as Types.LONG(), not {found!r}"
        )
    return found
