"""Factories of operators and sinks: one call makes the instance of one subtask.

Functions are called with the GIL, once per batch or in one loop per batch. ``lifecycles`` are objects with
``open(runtime_context)`` and ``close()``; ``open`` gets what ``runtime_context(name, subtask, parallelism,
max_parallelism)`` (``set_runtime_context_factory``) returns, in an operator with keyed state with the operator's
``state.KeyedStateStore`` as fifth argument.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

class Operator:
    """An operator of one subtask, not yet part of a task."""

def set_runtime_context_factory(factory: Callable[..., Any]) -> None: ...
def set_time_domains(event_time: Any, processing_time: Any) -> None:
    """What ``time_domain()`` of a timer's context returns."""

# Python functions over rows; columns are turned into rows first. Timestamps stay with their rows.
def map(function: Callable[[Any], Any], lifecycles: Sequence[Any] = ()) -> Operator: ...
def filter(function: Callable[[Any], Any], lifecycles: Sequence[Any] = ()) -> Operator: ...
def flat_map(
    function: Callable[[Any], Iterable[Any] | None], lifecycles: Sequence[Any] = ()
) -> Operator: ...

# Once per batch, over a pyarrow.RecordBatch.
def arrow_map(function: Callable[[Any], Any]) -> Operator:
    """``function(RecordBatch) -> RecordBatch`` with as many rows; timestamps and keys stay."""

def arrow_filter(function: Callable[[Any], Any]) -> Operator:
    """``function(RecordBatch) -> BooleanArray``; keeps the rows where it is true."""

def rows_to_columns(schema: Any) -> Operator: ...
def timestamps(
    column: str | None,
    function: Callable[[Any, int], int] | None,
    delay_ms: int | None,
    idle_ms: int | None,
    interval_rows: int,
    interval_ms: int,
) -> Operator: ...
def key_selector(
    columns: Sequence[str] | None,
    function: Callable[[Any], Any] | None,
    lifecycles: Sequence[Any] = (),
) -> Operator: ...

# Process functions: objects with ``process_element(value, ctx)`` and, when keyed, ``on_timer(timestamp, ctx)``, which return
# None or an iterable; its items ``(OutputTag, value)`` go to the side output whose tag id stands in ``side_tags``.
def process(
    function: Any, lifecycles: Sequence[Any] = (), side_tags: Sequence[str] = ()
) -> Operator: ...
def keyed_process(
    function: Any, lifecycles: Sequence[Any] = (), side_tags: Sequence[str] = ()
) -> Operator: ...
def keyed_reduce(
    function: Callable[[Any, Any], Any], lifecycles: Sequence[Any] = ()
) -> Operator: ...

# Windows. ``aggregates`` are (kind, column, alias).
def sliced_window(
    keys: Sequence[str],
    size_ms: int,
    offset_ms: int,
    aggregates: Sequence[tuple[str, str | None, str]],
    schema: Any,
    partial: bool,
    overflow: str,
    late_side: int | None,
) -> Operator: ...
def local_window(
    keys: Sequence[str],
    size_ms: int,
    offset_ms: int,
    aggregates: Sequence[tuple[str, str | None, str]],
    schema: Any,
    overflow: str,
) -> Operator: ...
def general_window(
    size_ms: int,
    offset_ms: int,
    allowed_lateness_ms: int,
    aggregator: tuple[str, Any],
    window_function: Callable[[Any, int, int, int, Iterable[Any]], Iterable[Any]] | None,
    window_all: bool,
    late_side: int | None,
    lifecycles: Sequence[Any] = (),
) -> Operator: ...

# Sinks.
class ResultQueue:
    """Results on their way to the client's thread; bounded."""

    def __init__(self, capacity: int = 64) -> None: ...
    def pop(self, timeout_ms: int) -> list[Any] | bool | None:
        """A list of elements (one batch); None: nothing yet; False: the end. Raises what failed the job."""

    def close(self) -> None: ...

def collect_sink(queue: ResultQueue) -> Operator: ...
def print_sink(prefix: str, to_stderr: bool) -> Operator: ...
def discard_sink() -> Operator: ...
def batch_sink(function: Callable[[Any], Any], lifecycles: Sequence[Any] = ()) -> Operator:
    """``function(pyarrow.RecordBatch)`` per batch."""

def function_sink(function: Callable[[Any], Any], lifecycles: Sequence[Any] = ()) -> Operator:
    """``function(element)`` per element."""
