"""Specs to operators and sources of the core: one translator per spec, called once per subtask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from penstock._core import columnar, operators, source, state
from penstock.common.configuration import Configuration
from penstock.common.row import Row
from penstock.common.runtime_context import RuntimeContext
from penstock.common.state import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.common.time_domain import TimeDomain
from penstock.common.timer_service import TimerService
from penstock.graph import specs
from penstock.graph.job_graph import ChainedOperator
from penstock.runtime.expression_functions import FilterByExpression, SelectExpressions
from penstock.runtime.function_copies import FunctionCopies

__all__ = ["Subtask", "Translation"]

T = TypeVar("T")
S = TypeVar("S", bound=specs.OperatorSpec)
_TRANSLATORS: dict[type[specs.OperatorSpec], Callable[[Translation, Any, Subtask], Any]] = {}

operators.set_runtime_context_factory(RuntimeContext)
operators.set_time_domains(TimeDomain.EVENT_TIME, TimeDomain.PROCESSING_TIME)
columnar.install_row_access(Row)
# The core's own classes count as what they are to the user.
TimerService.register(state.TimerServiceHandle)
for _public, _native in [
    (ValueState, state.ValueStateHandle),
    (ListState, state.ListStateHandle),
    (MapState, state.MapStateHandle),
    (ReducingState, state.ReducingStateHandle),
    (AggregatingState, state.AggregatingStateHandle),
    (ListState, state.OperatorListState),
]:
    _public.register(_native)


@dataclass(frozen=True)
class Subtask:
    """The instance that is made: which one, of which operator, out of how many."""

    operator: ChainedOperator
    index: int
    parallelism: int


class Translation:
    """Makes all operators of one job, and holds what their subtasks share.

    ``collectors`` has the queue of each CollectSinkSpec once its operator was made.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.batch_rows = configuration.get_integer("penstock.batch-size", 8192)
        self.collectors: dict[str, operators.ResultQueue] = {}
        self.copies = FunctionCopies()
        self._shared: dict[str, Any] = {}

    def source(self, operator: ChainedOperator, subtask: int, parallelism: int) -> source.Source:
        """The source of one subtask."""
        return cast(source.Source, self._translate(Subtask(operator, subtask, parallelism)))

    def operator(
        self, operator: ChainedOperator, subtask: int, parallelism: int
    ) -> operators.Operator:
        """The operator, or sink, of one subtask."""
        return cast(operators.Operator, self._translate(Subtask(operator, subtask, parallelism)))

    def shared(self, subtask: Subtask, make: Callable[[], T]) -> T:
        """What all subtasks of an operator use together, made for the first one."""
        uid = subtask.operator.uid
        if uid not in self._shared:
            self._shared[uid] = make()
        return cast(T, self._shared[uid])

    def _translate(self, subtask: Subtask) -> Any:
        spec = subtask.operator.spec
        translate = _TRANSLATORS.get(type(spec))
        if translate is None:
            raise NotImplementedError(
                f"{subtask.operator.name!r} cannot run with execution.target local"
                + (f"; {spec.local_advice}" if spec.local_advice else "")
            )
        return translate(self, spec, subtask)


def _translator(
    kind: type[S],
) -> Callable[[Callable[[Translation, S, Subtask], Any]], Callable[[Translation, S, Subtask], Any]]:
    """Registers the function that translates specs of ``kind``."""

    def register(
        function: Callable[[Translation, S, Subtask], Any],
    ) -> Callable[[Translation, S, Subtask], Any]:
        _TRANSLATORS[kind] = function
        return function

    return register


def _present(*lifecycles: Any) -> list[Any]:
    return [lifecycle for lifecycle in lifecycles if lifecycle is not None]


# --- sources ----------------------------------------------------------------------------------------------


@_translator(specs.CollectionSourceSpec)
def _collection(job: Translation, spec: specs.CollectionSourceSpec, subtask: Subtask) -> Any:
    table = job.shared(subtask, lambda: source.ObjectTable(spec.items))
    return source.collection(table, job.batch_rows)


@_translator(specs.ArrowSourceSpec)
def _arrow(job: Translation, spec: specs.ArrowSourceSpec, subtask: Subtask) -> Any:
    table = job.shared(subtask, lambda: source.ArrowTable(spec.table))
    return source.arrow(table, job.batch_rows)


@_translator(specs.GeneratorSourceSpec)
def _generator(job: Translation, spec: specs.GeneratorSourceSpec, subtask: Subtask) -> Any:
    return source.generator(spec.columns, spec.count, spec.seed, spec.rate, job.batch_rows)


@_translator(specs.ScriptedSourceSpec)
def _scripted(job: Translation, spec: specs.ScriptedSourceSpec, subtask: Subtask) -> Any:
    # A script is played once, by the first subtask.
    return source.scripted(spec.script if subtask.index == 0 else ())


# --- functions over rows ----------------------------------------------------------------------------------


@_translator(specs.MapSpec)
def _map(job: Translation, spec: specs.MapSpec, subtask: Subtask) -> Any:
    function, lifecycle = _copied(job, spec, subtask)
    return operators.map(function, _present(lifecycle))


@_translator(specs.FilterSpec)
def _filter(job: Translation, spec: specs.FilterSpec, subtask: Subtask) -> Any:
    function, lifecycle = _copied(job, spec, subtask)
    return operators.filter(function, _present(lifecycle))


@_translator(specs.FlatMapSpec)
def _flat_map(job: Translation, spec: specs.FlatMapSpec, subtask: Subtask) -> Any:
    function, lifecycle = _copied(job, spec, subtask)
    return operators.flat_map(function, _present(lifecycle))


@_translator(specs.KeySelectorSpec)
def _key_selector(job: Translation, spec: specs.KeySelectorSpec, subtask: Subtask) -> Any:
    function, lifecycle = _copied(job, spec, subtask)
    return operators.key_selector(spec.columns, function, _present(lifecycle))


def _copied(job: Translation, spec: Any, subtask: Subtask) -> tuple[Any, Any]:
    return job.copies.copy(subtask.operator, (spec.function, spec.lifecycle), spec.lifecycle)


# --- process functions, state per key ---------------------------------------------------------------------


@_translator(specs.ProcessSpec)
def _process(job: Translation, spec: specs.ProcessSpec, subtask: Subtask) -> Any:
    (function,) = job.copies.copy(subtask.operator, (spec.function,), spec.function)
    return operators.process(function, [function], spec.side_tags)


@_translator(specs.KeyedProcessSpec)
def _keyed_process(job: Translation, spec: specs.KeyedProcessSpec, subtask: Subtask) -> Any:
    (function,) = job.copies.copy(subtask.operator, (spec.function,), spec.function)
    return operators.keyed_process(function, [function], spec.side_tags)


@_translator(specs.KeyedReduceSpec)
def _keyed_reduce(job: Translation, spec: specs.KeyedReduceSpec, subtask: Subtask) -> Any:
    function, lifecycle = _copied(job, spec, subtask)
    return operators.keyed_reduce(function, _present(lifecycle))


# --- columns and time -------------------------------------------------------------------------------------


@_translator(specs.ExpressionSelectSpec)
def _select(job: Translation, spec: specs.ExpressionSelectSpec, subtask: Subtask) -> Any:
    return operators.arrow_map(SelectExpressions(spec.expressions))


@_translator(specs.ExpressionFilterSpec)
def _filter_columns(job: Translation, spec: specs.ExpressionFilterSpec, subtask: Subtask) -> Any:
    return operators.arrow_filter(FilterByExpression(spec.expression))


@_translator(specs.RowsToColumnsSpec)
def _rows_to_columns(job: Translation, spec: specs.RowsToColumnsSpec, subtask: Subtask) -> Any:
    return operators.rows_to_columns(spec.schema)


@_translator(specs.TimestampsSpec)
def _timestamps(job: Translation, spec: specs.TimestampsSpec, subtask: Subtask) -> Any:
    return operators.timestamps(
        spec.column,
        spec.function,
        spec.delay_ms,
        spec.idle_ms,
        spec.interval_rows,
        spec.interval_ms,
    )


# --- windows ----------------------------------------------------------------------------------------------


def _calls(
    aggregates: Sequence[specs.AggregateCall],
) -> list[tuple[str, str | None, str]]:
    return [(call.kind, call.column, call.alias) for call in aggregates]


@_translator(specs.SlicedWindowSpec)
def _sliced(job: Translation, spec: specs.SlicedWindowSpec, subtask: Subtask) -> Any:
    return operators.sliced_window(
        spec.keys,
        spec.size_ms,
        spec.offset_ms,
        _calls(spec.aggregates),
        spec.schema,
        spec.partial,
        spec.overflow,
        spec.late_side,
    )


@_translator(specs.LocalWindowSpec)
def _local(job: Translation, spec: specs.LocalWindowSpec, subtask: Subtask) -> Any:
    return operators.local_window(
        spec.keys,
        spec.size_ms,
        spec.offset_ms,
        _calls(spec.aggregates),
        spec.schema,
        spec.overflow,
    )


@_translator(specs.GeneralWindowSpec)
def _general(job: Translation, spec: specs.GeneralWindowSpec, subtask: Subtask) -> Any:
    parts = (spec.aggregator, spec.window_function, spec.lifecycles)
    aggregator, window_function, lifecycles = job.copies.copy(
        subtask.operator, parts, *spec.lifecycles
    )
    return operators.general_window(
        spec.size_ms,
        spec.offset_ms,
        spec.allowed_lateness_ms,
        aggregator,
        window_function,
        spec.window_all,
        spec.late_side,
        lifecycles,
    )


# --- sinks ------------------------------------------------------------------------------------------------


@_translator(specs.CollectSinkSpec)
def _collect(job: Translation, spec: specs.CollectSinkSpec, subtask: Subtask) -> Any:
    queue = job.shared(subtask, operators.ResultQueue)
    job.collectors[spec.collector] = queue
    return operators.collect_sink(queue)


@_translator(specs.PrintSinkSpec)
def _print(job: Translation, spec: specs.PrintSinkSpec, subtask: Subtask) -> Any:
    return operators.print_sink(spec.prefix, spec.to_stderr)


@_translator(specs.DiscardSinkSpec)
def _discard(job: Translation, spec: specs.DiscardSinkSpec, subtask: Subtask) -> Any:
    return operators.discard_sink()


@_translator(specs.BatchSinkSpec)
def _batch_sink(job: Translation, spec: specs.BatchSinkSpec, subtask: Subtask) -> Any:
    function, lifecycle = _copied(job, spec, subtask)
    return operators.batch_sink(function, _present(lifecycle))


@_translator(specs.FunctionSinkSpec)
def _function_sink(job: Translation, spec: specs.FunctionSinkSpec, subtask: Subtask) -> Any:
    function, lifecycle = _copied(job, spec, subtask)
    return operators.function_sink(function, _present(lifecycle))
