"""WindowedStream and AllWindowedStream: what is computed per window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from penstock.common.arrow_types import schema_of
from penstock.common.missing_names import SaysWhatIsMissing
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.column_operations import declared_type, require_schema
from penstock.datastream.field_reduce import FieldReduce, checked_field
from penstock.datastream.functions import (
    AggregateFunction,
    Function,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
    as_callable,
)
from penstock.datastream.output_tag import OutputTag
from penstock.datastream.window import TumblingEventTimeWindows, WindowAssigner
from penstock.datastream.window_functions import WindowFunctionAdapter
from penstock.expressions import check_columns
from penstock.functions import Aggregate
from penstock.graph.specs import AggregateCall
from penstock.graph.transformation import Keys, WindowTransformation
from penstock.graph.window_types import window_schema

if TYPE_CHECKING:
    from penstock.datastream.data_stream import DataStream
    from penstock.datastream.keyed_stream import KeyedStream

__all__ = ["AllWindowedStream", "WindowedStream"]


class _Windowed(SaysWhatIsMissing):
    """What both kinds share. ``_source`` is the stream before it was keyed."""

    _missing = {
        "count": "use aggregate(F.count())",
        "evictor": "",
        "max_by": "use reduce()",
        "min_by": "use reduce()",
        "trigger": "a window fires when the watermark passes its end",
    }

    def __init__(self, source: DataStream, keys: Keys | None, assigner: WindowAssigner) -> None:
        if not isinstance(assigner, WindowAssigner):
            raise TypeError(f"a WindowAssigner is needed, not {assigner!r}")
        if not isinstance(assigner, TumblingEventTimeWindows):
            raise NotImplementedError(f"{assigner!r}: only TumblingEventTimeWindows can run yet")
        self._source = source
        self._keys = keys
        self._assigner = assigner
        self._allowed_lateness_ms = 0
        self._late_tag: OutputTag | None = None

    def get_execution_environment(self) -> Any:
        return self._source.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """The type of the elements in the windows."""
        return self._source.get_type()

    def allowed_lateness(self, time_ms: int) -> Self:
        """Keeps each window so long after its end; a late element in that time fires it again."""
        if isinstance(time_ms, bool) or not isinstance(time_ms, int):
            raise TypeError(f"allowed_lateness() takes milliseconds as an int, not {time_ms!r}")
        if time_ms < 0:
            raise ValueError(f"the allowed lateness must not be negative, but is {time_ms} ms")
        self._allowed_lateness_ms = time_ms
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> Self:
        """Sends elements that come too late to a side output instead of dropping them."""
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"side_output_late_data() takes an OutputTag, not {output_tag!r}")
        self._late_tag = output_tag
        return self

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Combines the elements of a window two by two.

        ``window_function`` gets the one result, with key and window, and may emit anything.
        """
        function, lifecycle = as_callable(reduce_function, ReduceFunction, "reduce", "reduce()")
        schema = schema_of(declared_type((), output_type, "reduce()"))
        if output_type is None and window_function is None:
            schema = self._source.get_schema()
        return self._general(("reduce", function), lifecycle, window_function, schema)

    def aggregate(
        self,
        *functions: Any,
        aggregate_function: AggregateFunction | None = None,
        window_function: Any = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Built-in aggregates over columns, or one AggregateFunction.

        ``aggregate(F.count(), F.sum("price").alias("revenue"))`` emits a row per window: the key columns,
        window_start, window_end and the aggregates. ``aggregate(MyAggregate(), MyWindowFunction())`` emits what the
        window function makes of the one result, or the bare result.
        """
        if aggregate_function is not None:
            functions = (aggregate_function, *functions)
        if not functions:
            raise TypeError(
                "aggregate() needs an AggregateFunction, or built-in aggregates such as F.count()"
            )
        if any(isinstance(function, Aggregate) for function in functions):
            if (
                window_function is not None
                or accumulator_type is not None
                or output_type is not None
            ):
                raise TypeError("built-in aggregates take no window function and no types")
            return self._built_in(functions)
        function, *rest = functions
        if len(rest) > 3:
            raise TypeError(f"aggregate() takes at most 4 arguments, not {len(functions)}")
        given = dict(
            zip(("window_function", "accumulator_type", "output_type"), rest, strict=False)
        )
        if not isinstance(function, AggregateFunction):
            raise TypeError(
                f"aggregate() takes an AggregateFunction, or built-in aggregates such as F.count(), not {function!r}"
            )
        declared = declared_type((), given.get("output_type", output_type), "aggregate()")
        schema = schema_of(declared)
        window_function = given.get("window_function", window_function)
        return self._general(("aggregate", function), function, window_function, schema)

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """The sum of one field; all other fields are those of the window's first element."""
        return self._field("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """The smallest value of one field; all other fields are those of the window's first element."""
        return self._field("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """The greatest value of one field; all other fields are those of the window's first element."""
        return self._field("max", position_to_max)

    def apply(
        self,
        window_function: WindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Not yet: it needs all elements of a window to be kept."""
        raise NotImplementedError(_BUFFERING.format("apply"))

    def process(
        self,
        process_window_function: ProcessWindowFunction[Any, Any, Any, Any]
        | ProcessAllWindowFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Not yet: it needs all elements of a window to be kept."""
        raise NotImplementedError(_BUFFERING.format("process"))

    def _field(self, kind: str, field: int | str) -> DataStream:
        schema = self._source.get_schema()
        reduce = FieldReduce(kind, checked_field(kind, field, schema))
        return self._general(("reduce", reduce), None, None, schema)

    def _built_in(self, aggregates: tuple[Any, ...]) -> DataStream:
        for aggregate in aggregates:
            if not isinstance(aggregate, Aggregate):
                raise TypeError(f"built-in aggregates cannot be mixed with {aggregate!r}")
        if self._keys is not None and self._keys.columns is None:
            raise TypeError(
                "built-in aggregates need a key made of columns: key_by('column', ...); "
                "behind key_by(function) use reduce() or aggregate(AggregateFunction)"
            )
        if self._allowed_lateness_ms > 0:
            raise NotImplementedError(
                "built-in aggregates do not work with allowed_lateness() yet; "
                "reduce() and aggregate(AggregateFunction) with a Python function do"
            )
        schema = require_schema(
            self._source._transformation, "aggregate() with built-in aggregates"
        )
        check_columns([a.column for a in aggregates if a.column is not None], schema)
        calls = tuple(AggregateCall(a.kind, a.column, a.name) for a in aggregates)
        keys = () if self._keys is None else self._keys.columns or ()
        window = self._window(window_schema(keys, calls, schema))
        window.aggregates = calls
        return self._source._add(window)

    def _general(
        self,
        aggregator: tuple[str, Any],
        lifecycle: Function | None,
        window_function: Any,
        schema: Any,
    ) -> DataStream:
        window = self._window(schema)
        window.aggregator = aggregator
        lifecycles = [lifecycle]
        if window_function is not None:
            adapter = WindowFunctionAdapter(window_function, self._keys is None)
            window.window_function = adapter
            lifecycles.append(adapter.lifecycle)
        window.lifecycles = tuple(function for function in lifecycles if function is not None)
        return self._source._add(window)

    def _window(self, schema: Any) -> WindowTransformation:
        name = "Window" if self._keys is not None else "Window All"
        late = {} if self._late_tag is None else {self._late_tag.tag_id: self._source.get_schema()}
        return WindowTransformation(
            f"{name}({self._assigner!r})",
            (self._source._transformation,),
            schema,
            parallelism=1 if self._keys is None else None,
            non_parallel=self._keys is None,
            sides=late,
            keys=self._keys,
            size_ms=self._assigner.size_ms,
            offset_ms=self._assigner.offset_ms,
            allowed_lateness_ms=self._allowed_lateness_ms,
            late_tag=None if self._late_tag is None else self._late_tag.tag_id,
        )


_BUFFERING = (
    "{}() keeps all elements of a window, which cannot run yet; give the function to "
    "reduce(function, window_function) or aggregate(AggregateFunction, window_function), where it gets the one result"
)


class WindowedStream(_Windowed):
    """The windows of each key of a KeyedStream."""

    def __init__(self, keyed_stream: KeyedStream, window_assigner: WindowAssigner) -> None:
        super().__init__(keyed_stream._origin, keyed_stream._keys, window_assigner)


class AllWindowedStream(_Windowed):
    """Windows over all elements of a stream; their operator is not parallel."""

    def __init__(self, data_stream: DataStream, window_assigner: WindowAssigner) -> None:
        super().__init__(data_stream, None, window_assigner)
