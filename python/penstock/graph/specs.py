"""What an operator does, as plain data: the vocabulary between the API, the planner and the runtimes.

A spec describes; it executes nothing and imports nothing native. Everything here pickles with cloudpickle, so a
plan travels to a Spark executor as it is. ``runtime/translate.py`` has one translator per spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

__all__ = [
    "AggregateCall",
    "ArrowSourceSpec",
    "BatchSinkSpec",
    "CollectSinkSpec",
    "CollectionSourceSpec",
    "DiscardSinkSpec",
    "ExpressionFilterSpec",
    "ExpressionSelectSpec",
    "FilterSpec",
    "FlatMapSpec",
    "FunctionSinkSpec",
    "GeneralWindowSpec",
    "GeneratorSourceSpec",
    "KeySelectorSpec",
    "KeyedProcessSpec",
    "KeyedReduceSpec",
    "LocalWindowSpec",
    "MapSpec",
    "OperatorSpec",
    "PrintSinkSpec",
    "ProcessSpec",
    "RowsToColumnsSpec",
    "ScriptedSourceSpec",
    "SlicedWindowSpec",
    "SourceSpec",
    "TimestampsSpec",
]


@dataclass(frozen=True)
class OperatorSpec:
    """Base of all specs."""

    # What to do instead, for a spec that the embedded runtime cannot run.
    local_advice: ClassVar[str] = ""


# --- sources ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceSpec(OperatorSpec):
    """Base of what can stand at the head of a vertex."""


@dataclass(frozen=True)
class CollectionSourceSpec(SourceSpec):
    """A list of Python objects; emits rows. Subtask i of P reads the chunks i, i+P, ... of ``chunk_rows`` rows."""

    items: Sequence[Any]


@dataclass(frozen=True)
class ArrowSourceSpec(SourceSpec):
    """Arrow record batches in memory; emits columns. Read in chunks like a collection."""

    table: Any  # pyarrow.Table


@dataclass(frozen=True)
class GeneratorSourceSpec(SourceSpec):
    """Rows made in the engine from a seed: row n is a pure function of (seed, n).

    ``columns`` are (name, kind, parameters) with kinds of ``penstock.connectors.datagen``. ``rate`` is rows per second
    over all subtasks (None: as fast as possible), ``count`` None means unbounded.
    """

    columns: tuple[tuple[str, str, dict[str, Any]], ...]
    count: int | None
    seed: int
    rate: float | None


@dataclass(frozen=True)
class ScriptedSourceSpec(SourceSpec):
    """Elements played exactly as written (``penstock.testing``), parallelism 1.

    Script items: ``("rows", [objects], [timestamps] | None)``, ``("watermark", ms)``, ``("idle",)``, ``("active",)``.
    """

    script: tuple[tuple[Any, ...], ...]


# --- stateless operators ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class MapSpec(OperatorSpec):
    """``function(value) -> value`` per row. ``lifecycle`` is the Function object with open/close, if any."""

    function: Callable[[Any], Any]
    lifecycle: Any = None


@dataclass(frozen=True)
class FilterSpec(OperatorSpec):
    function: Callable[[Any], Any]
    lifecycle: Any = None


@dataclass(frozen=True)
class FlatMapSpec(OperatorSpec):
    function: Callable[[Any], Iterable[Any] | None]
    lifecycle: Any = None


@dataclass(frozen=True)
class ExpressionSelectSpec(OperatorSpec):
    """Each (name, expression) becomes a column of the output; evaluated by pyarrow.compute, once per batch."""

    expressions: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class ExpressionFilterSpec(OperatorSpec):
    expression: Any


@dataclass(frozen=True)
class RowsToColumnsSpec(OperatorSpec):
    """Rows (tuples, Rows, dicts, or bare values for a scalar schema) to columns of ``schema`` (pyarrow.Schema)."""

    schema: Any


@dataclass(frozen=True)
class TimestampsSpec(OperatorSpec):
    """Event times and watermarks.

    Times come from ``column``, or ``function(value, previous_timestamp) -> ms``, or (neither) stay as they are.
    ``delay_ms`` None: no watermarks; else watermark = max seen - delay - 1 (0: monotonous). A watermark is emitted after
    every ``interval_rows`` records of the subtask, so results do not depend on how rows were batched, and at
    least every ``interval_ms`` of processing time on sources that wait. ``idle_ms``: without records for so long the
    subtask is marked idle.
    """

    column: str | None = None
    function: Callable[[Any, int], int] | None = None
    delay_ms: int | None = None
    idle_ms: int | None = None
    interval_rows: int = 8192
    interval_ms: int = 200


@dataclass(frozen=True)
class KeySelectorSpec(OperatorSpec):
    """Attaches each row's canonically encoded key: of the ``columns``, or what ``function(value)`` returns."""

    columns: tuple[str, ...] | None = None
    function: Callable[[Any], Any] | None = None
    lifecycle: Any = None


# --- process functions, state per key ----------------------------------------------------------------------


@dataclass(frozen=True)
class ProcessSpec(OperatorSpec):
    """``function.process_element(value, ctx) -> iterable or None`` per row, without keys.

    ``side_tags``: ids of the side outputs that are read, in the order of their numbers; what goes to others is dropped.
    """

    function: Any
    side_tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeyedProcessSpec(OperatorSpec):
    """The same over rows with attached keys, with state, timers and ``function.on_timer(timestamp, ctx)``."""

    function: Any
    side_tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeyedReduceSpec(OperatorSpec):
    """Emits, for each row, what ``function(value, value) -> value`` has made of the key's rows so far."""

    function: Callable[[Any, Any], Any]
    lifecycle: Any = None


# --- windows ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AggregateCall:
    """A built-in aggregate: kind is count, sum, min, max or avg; ``column`` None only for count."""

    kind: str
    column: str | None
    alias: str


@dataclass(frozen=True)
class SlicedWindowSpec(OperatorSpec):
    """Tumbling event-time windows of built-in aggregates over columns (native). ``keys`` empty: window_all.

    ``partial``: the input is the output of LocalWindowSpec. ``schema`` is the schema of the raw rows.
    """

    keys: tuple[str, ...]
    size_ms: int
    offset_ms: int
    aggregates: tuple[AggregateCall, ...]
    schema: Any
    partial: bool = False
    overflow: str = "error"  # or "wrap"
    late_side: int | None = None


@dataclass(frozen=True)
class LocalWindowSpec(OperatorSpec):
    """Pre-aggregation before the exchange; same fields as the final operator it feeds."""

    keys: tuple[str, ...]
    size_ms: int
    offset_ms: int
    aggregates: tuple[AggregateCall, ...]
    schema: Any
    overflow: str = "error"


@dataclass(frozen=True)
class GeneralWindowSpec(OperatorSpec):
    """Any window over rows, with Python functions. ``aggregator``: ("reduce", f) or ("aggregate", AggregateFunction).

    ``window_function(key, start, end, watermark, elements) -> iterable`` or None (emit the bare result).
    """

    size_ms: int
    offset_ms: int
    allowed_lateness_ms: int
    aggregator: tuple[str, Any]
    window_function: Any = None
    window_all: bool = False
    late_side: int | None = None
    lifecycles: tuple[Any, ...] = ()  # the Function objects in it, with open/close


# --- sinks ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollectSinkSpec(OperatorSpec):
    """Hands results to the client that started the job, through a bounded queue called ``collector``."""

    collector: str


@dataclass(frozen=True)
class PrintSinkSpec(OperatorSpec):
    prefix: str = ""
    to_stderr: bool = False


@dataclass(frozen=True)
class DiscardSinkSpec(OperatorSpec):
    """Counts and forgets."""


@dataclass(frozen=True)
class BatchSinkSpec(OperatorSpec):
    """Calls ``function(pyarrow.RecordBatch)`` per batch."""

    function: Callable[[Any], Any]
    lifecycle: Any = None


@dataclass(frozen=True)
class FunctionSinkSpec(OperatorSpec):
    """Calls ``function(element)`` per element."""

    function: Callable[[Any], Any]
    lifecycle: Any = None
