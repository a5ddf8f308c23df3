"""A watermark strategy as a transformation."""

from __future__ import annotations

import pyarrow as pa

from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.datastream.column_operations import require_schema
from penstock.expressions import check_columns
from penstock.graph.specs import TimestampsSpec
from penstock.graph.transformation import OperatorTransformation, Transformation

__all__ = ["timestamps_transformation"]


def timestamps_transformation(
    transformation: Transformation, strategy: WatermarkStrategy, interval_ms: int
) -> OperatorTransformation:
    """The operator that applies ``strategy`` to a stream."""
    if not isinstance(strategy, WatermarkStrategy):
        raise TypeError(f"a WatermarkStrategy is needed, not {strategy!r}")
    if strategy.column is not None:
        _check_column(transformation, strategy.column)
    return OperatorTransformation(
        "Timestamps/Watermarks",
        (transformation,),
        transformation.schema,
        spec=TimestampsSpec(
            column=strategy.column,
            function=strategy.function,
            delay_ms=strategy.delay_ms,
            idle_ms=strategy.idle_ms,
            interval_ms=interval_ms,
        ),
        needs_columns=strategy.column is not None,
        output=_output_form(strategy),
    )


def _output_form(strategy: WatermarkStrategy) -> str:
    if strategy.column is not None:
        return "columns"
    return "same" if strategy.function is None else "rows"


def _check_column(transformation: Transformation, column: str) -> None:
    schema = require_schema(transformation, f"with_timestamp_column({column!r})")
    check_columns([column], schema)
    found = schema.field(column).type
    if not (pa.types.is_timestamp(found) or pa.types.is_integer(found) or pa.types.is_date(found)):
        raise TypeError(
            f"column {column!r} of type {found} cannot give event times; "
            "it must be a timestamp, a date, or integer milliseconds since the epoch"
        )
