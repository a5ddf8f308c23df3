"""DataStream: a stream of elements, and what can be made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self

from penstock.common.arrow_types import is_scalar_schema, schema_of, type_info_of
from penstock.common.typeinfo import TypeInformation
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.datastream.column_operations import (
    as_expressions,
    declared_type,
    filter_columns,
    require_schema,
    select_columns,
)
from penstock.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    ProcessFunction,
    as_callable,
)
from penstock.datastream.output_tag import OutputTag
from penstock.datastream.process import check_process_function, request_side_output
from penstock.datastream.sinks import SinkMethods
from penstock.datastream.timestamps import timestamps_transformation
from penstock.expressions import Expression, col, lit
from penstock.graph.specs import FilterSpec, FlatMapSpec, MapSpec, OperatorSpec
from penstock.graph.transformation import (
    OperatorTransformation,
    PartitionTransformation,
    ProcessTransformation,
    SideOutputTransformation,
    Transformation,
    UnionTransformation,
)

if TYPE_CHECKING:
    from penstock.datastream.keyed_stream import KeyedStream
    from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
    from penstock.datastream.window import WindowAssigner
    from penstock.datastream.windowed_stream import AllWindowedStream

__all__ = ["DataStream"]


class DataStream(SinkMethods):
    """A stream of elements of one type.

    Elements are Python objects, or rows whose columns are known: from Arrow data, or by a declared type. With
    columns, expressions can stand where functions do, and run without touching Python objects.

    >>> from penstock import StreamExecutionEnvironment, col
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> numbers = env.from_collection([1, 2, 3])
    >>> sorted(numbers.map(lambda x: x * 10).filter(lambda x: x > 10).execute_and_collect())
    [20, 30]
    """

    _missing = {
        "cache": "",
        "connect": "",
        "count_window_all": "",
        "partition_custom": "use key_by(), rebalance(), broadcast() or global_()",
        "project": "use select() or map()",
        "rescale": "use rebalance()",
        "set_buffer_timeout": "set it on the environment",
        "shuffle": "use rebalance()",
        "window": "a window needs a key, key_by(...).window(...); without one use window_all(...)",
    }

    def get_name(self) -> str:
        """The name of the operator that makes this stream."""
        return self._transformation.name

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._environment

    def get_type(self) -> TypeInformation:
        """The type of the elements."""
        return type_info_of(self._transformation.schema)

    def get_schema(self) -> Any:
        """The columns as a pyarrow.Schema; None: Python objects of no declared type."""
        return self._transformation.schema

    def start_new_chain(self) -> Self:
        """The operator starts a new chain of operators that share a task."""
        self._operator("start_new_chain").chaining = "head"
        return self

    def force_non_parallel(self) -> Self:
        """Parallelism 1, for good."""
        operator = self._operator("force_non_parallel")
        operator.parallelism = 1
        operator.non_parallel = True
        return self

    def map(
        self,
        func: Callable[[Any], Any] | MapFunction | Expression,
        *more: Any,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Each element to one element: by a function, or by one or more column expressions.

        ``output_type`` (also as second argument) declares what a function returns; without it the result is a
        stream of Python objects.
        """
        if isinstance(func, Expression):
            if output_type is not None:
                raise TypeError(
                    "map() with column expressions knows its type; leave output_type out"
                )
            return self.select(func, *more)
        output_type = declared_type(more, output_type, "map()")
        function, lifecycle = as_callable(func, MapFunction, "map", "map()")
        return self._apply("Map", MapSpec(function, lifecycle), schema_of(output_type))

    def flat_map(
        self,
        func: Callable[[Any], Iterable[Any] | None] | FlatMapFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Each element to any number of elements.

        >>> from penstock import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> lines = env.from_collection(["to be", "or not"])
        >>> sorted(lines.flat_map(str.split).execute_and_collect())
        ['be', 'not', 'or', 'to']
        """
        declared_type((), output_type, "flat_map()")
        function, lifecycle = as_callable(func, FlatMapFunction, "flat_map", "flat_map()")
        return self._apply("Flat Map", FlatMapSpec(function, lifecycle), schema_of(output_type))

    def filter(self, func: Callable[[Any], Any] | FilterFunction | Expression) -> DataStream:
        """The elements for which a function, or a boolean column expression, is true."""
        if isinstance(func, Expression):
            return self._add(filter_columns(self._transformation, func))
        function, lifecycle = as_callable(func, FilterFunction, "filter", "filter()")
        return self._apply("Filter", FilterSpec(function, lifecycle), self._transformation.schema)

    def process(
        self, func: ProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Each element to any number of elements, by a function that knows the element's time and has side outputs.

        State and timers need a key: ``key_by(...).process(KeyedProcessFunction)``.
        """
        check_process_function(func, ProcessFunction)
        schema = schema_of(declared_type((), output_type, "process()"))
        inputs = (self._transformation,)
        return self._add(ProcessTransformation("Process", inputs, schema, function=func))

    def select(self, *expressions: Expression | str) -> DataStream:
        """The given columns, and no others.

        >>> import pyarrow
        >>> from penstock import StreamExecutionEnvironment, col
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> prices = env.from_arrow(pyarrow.table({"item": ["a", "b"], "price": [2, 3]}))
        >>> prices.select("item", (col("price") * 2).alias("double")).get_schema().names
        ['item', 'double']
        """
        found = as_expressions(expressions, "select()")
        return self._add(select_columns(self._transformation, found, "select()"))

    def with_columns(self, **expressions: Any) -> DataStream:
        """All columns, and the given ones added or replaced; values may be expressions or constants."""
        if not expressions:
            raise TypeError("with_columns() needs at least one name=expression")
        columns = {
            name: col(name) for name in require_schema(self._transformation, "with_columns()").names
        }
        columns.update({name: lit(value).alias(name) for name, value in expressions.items()})
        return self._add(
            select_columns(self._transformation, list(columns.values()), "with_columns()")
        )

    def key_by(
        self,
        *key_selectors: Callable[[Any], Any]
        | KeySelector
        | str
        | Iterable[str]
        | Expression
        | None,
        key_selector: Callable[[Any], Any] | KeySelector | str | None = None,
        key_type: TypeInformation | None = None,
    ) -> KeyedStream:
        """Partitions by key: a function of the element (PyFlink's ``key_selector``), or names of columns.

        >>> import pyarrow
        >>> from penstock import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_arrow(pyarrow.table({"user": [1], "city": ["a"]})).key_by("user", "city")
        <KeyedStream by columns user, city>
        """
        from penstock.datastream.keyed_stream import keyed_stream

        if key_selector is not None:
            key_selectors = (key_selector, *key_selectors)
        return keyed_stream(self, key_selectors, key_type)

    def window_all(self, window_assigner: WindowAssigner) -> AllWindowedStream:
        """Windows over all elements together; runs with parallelism 1."""
        from penstock.datastream.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def union(self, *streams: DataStream) -> DataStream:
        """The elements of this and all given streams."""
        inputs = [self, *streams]
        for stream in inputs:
            if not isinstance(stream, DataStream):
                raise TypeError(f"union() takes streams, not {stream!r}")
            if stream._environment is not self._environment:
                raise ValueError("union() takes streams of one environment")
        schemas = [stream.get_schema() for stream in inputs]
        schema = None if any(s is None for s in schemas) else schemas[0]
        if schema is not None:
            _check_same_type(schema, schemas)
        parts = tuple(stream._transformation for stream in inputs)
        return DataStream(self._environment, UnionTransformation("Union", parts, schema))

    def rebalance(self) -> DataStream:
        """Spreads the elements evenly over the subtasks of the next operator."""
        return self._partition("rebalance")

    def broadcast(self) -> DataStream:
        """Every subtask of the next operator gets every element."""
        return self._partition("broadcast")

    def forward(self) -> DataStream:
        """Subtask i of the next operator gets the elements of subtask i; both have the same parallelism."""
        return self._partition("forward")

    def global_(self) -> DataStream:
        """The first subtask of the next operator gets all elements."""
        return self._partition("global")

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Gives the elements event times and makes watermarks of them."""
        interval = self._environment.get_configuration().get_duration_ms(
            "pipeline.auto-watermark-interval", 200
        )
        return self._add(
            timestamps_transformation(self._transformation, watermark_strategy, interval)
        )

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """What the operator of this stream sent to a side output; what nobody asks for is dropped."""
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"get_side_output() takes an OutputTag, not {output_tag!r}")
        if isinstance(self._transformation, ProcessTransformation):
            request_side_output(self._transformation, output_tag)
        sides, tag = self._transformation.sides, output_tag.tag_id
        if tag not in sides:
            raise ValueError(
                f"{self.get_name()!r} has no side output {tag!r}; it has {list(sides) or 'none'}"
            )
        side = SideOutputTransformation(
            f"Side Output {tag}", (self._transformation,), sides[tag], tag=tag
        )
        return DataStream(self._environment, side)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.get_name()!r} of {self.get_type()}>"

    def _partition(self, kind: str) -> DataStream:
        source = self._transformation
        partition = PartitionTransformation(kind.title(), (source,), source.schema, kind=kind)
        return DataStream(self._environment, partition)

    def _apply(self, name: str, spec: OperatorSpec, schema: Any) -> DataStream:
        """Adds an operator that calls a Python function per row."""
        return self._add(OperatorTransformation(name, (self._transformation,), schema, spec=spec))

    def _add(self, transformation: Transformation) -> DataStream:
        self._environment._add_operator(transformation)
        return DataStream(self._environment, transformation)


def _check_same_type(schema: Any, others: Iterable[Any]) -> None:
    for other in others:
        same_form = is_scalar_schema(schema) == is_scalar_schema(other)
        if not (same_form and schema.equals(other)):
            raise TypeError(
                "union() takes streams of one type, but the columns differ: "
                f"{_columns(schema)} and {_columns(other)}"
            )


def _columns(schema: Any) -> str:
    if is_scalar_schema(schema):
        return f"bare values: {schema.field(0).type}"
    return "(" + ", ".join(f"{field.name}: {field.type}" for field in schema) + ")"
