"""KeyedStream: a stream partitioned by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.common.arrow_types import schema_of
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.column_operations import check_key_columns, declared_type
from penstock.datastream.data_stream import DataStream
from penstock.datastream.field_reduce import FieldReduce, FieldReduceBy, checked_field
from penstock.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ReduceFunction,
    as_callable,
)
from penstock.datastream.keyed_functions import KeyedFilter, KeyedFlatMap, KeyedMap
from penstock.datastream.process import check_process_function
from penstock.datastream.window import WindowAssigner
from penstock.datastream.windowed_stream import WindowedStream
from penstock.expressions import Expression
from penstock.graph.transformation import (
    KeyedTransformation,
    Keys,
    ProcessTransformation,
    RollingTransformation,
)

__all__ = ["KeyedStream"]

_EXPECTED = "key_by() takes a KeySelector, a callable, or names of columns"


class KeyedStream(DataStream):
    """Everything of DataStream, and what needs a key: state, timers, rolling aggregates, windows.

    An operator behind it gets all elements of a key in the same subtask.
    """

    _missing = {"count_window": "use a time window"}

    def __init__(self, origin: DataStream, keys: Keys) -> None:
        source = origin._transformation
        super().__init__(
            origin._environment, KeyedTransformation("Keyed", (source,), source.schema, keys=keys)
        )
        self._origin = origin
        self._keys = keys

    def key_by(
        self,
        *key_selectors: Any,
        key_selector: Any = None,
        key_type: TypeInformation | None = None,
    ) -> KeyedStream:
        """Another key instead of this one."""
        return self._origin.key_by(*key_selectors, key_selector=key_selector, key_type=key_type)

    def window(self, window_assigner: WindowAssigner) -> WindowedStream:
        """Windows per key.

        >>> import pyarrow
        >>> from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
        >>> from penstock import functions as F
        >>> from penstock.datastream import TumblingEventTimeWindows
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> clicks = pyarrow.table({"ad": ["a", "b", "a"], "ts": [1, 2, 12_000]})
        >>> counts = (
        ...     env.from_arrow(clicks)
        ...     .assign_timestamps_and_watermarks(
        ...         WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("ts"))
        ...     .key_by("ad")
        ...     .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        ...     .aggregate(F.count().alias("clicks"))
        ... )
        >>> counts.get_schema().names
        ['ad', 'window_start', 'window_end', 'clicks']
        """
        return WindowedStream(self, window_assigner)

    def map(
        self,
        func: Callable[[Any], Any] | MapFunction | Expression,
        *more: Any,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """As on any stream; a MapFunction may have state per key."""
        if not isinstance(func, MapFunction):
            return super().map(func, *more, output_type=output_type)
        declared = declared_type(more, output_type, "map()")
        return self._process("Map", KeyedMap(func), schema_of(declared))

    def flat_map(
        self,
        func: Callable[[Any], Iterable[Any] | None] | FlatMapFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """As on any stream; a FlatMapFunction may have state per key."""
        if not isinstance(func, FlatMapFunction):
            return super().flat_map(func, output_type)
        declared = declared_type((), output_type, "flat_map()")
        return self._process("Flat Map", KeyedFlatMap(func), schema_of(declared))

    def filter(self, func: Callable[[Any], Any] | FilterFunction | Expression) -> DataStream:
        """As on any stream; a FilterFunction may have state per key."""
        if not isinstance(func, FilterFunction):
            return super().filter(func)
        return self._process("Filter", KeyedFilter(func), self.get_schema())

    def process(  # type: ignore[override]  # as in Flink
        self, func: KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Each element to any number of elements, by a function that has state and timers per key."""
        check_process_function(func, KeyedProcessFunction)
        declared = declared_type((), output_type, "process()")
        return self._process("Keyed Process", func, schema_of(declared))

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataStream:
        """What a function of two elements makes of all elements of a key so far; emits a result for each.

        >>> from penstock import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> pairs = env.from_collection([("a", 1), ("b", 5), ("a", 2)])
        >>> sums = pairs.key_by(lambda pair: pair[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))
        >>> sorted(sums.execute_and_collect())
        [('a', 1), ('a', 3), ('b', 5)]
        """
        function, lifecycle = as_callable(func, ReduceFunction, "reduce", "reduce()")
        return self._rolling("Keyed Reduce", function, lifecycle)

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """The sum of one field so far; all other fields are those of the key's first element."""
        return self._rolling_field("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """The smallest value of one field so far; all other fields are those of the key's first element."""
        return self._rolling_field("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """The greatest value of one field so far; all other fields are those of the key's first element."""
        return self._rolling_field("max", position_to_max)

    def min_by(self, position_to_min_by: int | str = 0, first: bool = True) -> DataStream:
        """The element with the smallest value of one field so far; among equal ones the first, or the last."""
        return self._rolling_field("min_by", position_to_min_by, first)

    def max_by(self, position_to_max_by: int | str = 0, first: bool = True) -> DataStream:
        """The element with the greatest value of one field so far; among equal ones the first, or the last.

        >>> from penstock import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> bids = env.from_collection([("vase", 10, "Ann"), ("vase", 30, "Bob"), ("vase", 20, "Cy")])
        >>> best = bids.key_by(lambda bid: bid[0]).max_by(1)
        >>> list(best.execute_and_collect())
        [('vase', 10, 'Ann'), ('vase', 30, 'Bob'), ('vase', 30, 'Bob')]
        """
        return self._rolling_field("max_by", position_to_max_by, first)

    def _process(self, name: str, function: KeyedProcessFunction, schema: Any) -> DataStream:
        source = self._origin._transformation
        return self._add(
            ProcessTransformation(name, (source,), schema, function=function, keys=self._keys)
        )

    def _rolling_field(self, kind: str, field: int | str, first: bool = True) -> DataStream:
        position = checked_field(kind, field, self.get_schema())
        if kind.endswith("_by"):
            return self._rolling(f"Keyed {kind}", FieldReduceBy(kind, position, first), None)
        return self._rolling(f"Keyed {kind}", FieldReduce(kind, position), None)

    def _rolling(
        self, name: str, function: Callable[[Any, Any], Any], lifecycle: Any
    ) -> DataStream:
        source = self._origin._transformation
        return self._add(
            RollingTransformation(
                name,
                (source,),
                source.schema,
                function=function,
                lifecycle=lifecycle,
                keys=self._keys,
            )
        )

    def __repr__(self) -> str:
        if self._keys.columns is not None:
            return f"<KeyedStream by columns {', '.join(self._keys.columns)}>"
        return f"<KeyedStream by {self._keys.function!r}>"


def keyed_stream(
    stream: DataStream, selectors: Sequence[Any], key_type: TypeInformation | None
) -> KeyedStream:
    """The stream keyed by what ``key_by`` was given."""
    # PyFlink's second positional argument is the key type.
    if len(selectors) == 2 and (selectors[1] is None or isinstance(selectors[1], TypeInformation)):
        selectors, key_type = selectors[:1], selectors[1]
    if key_type is not None and not isinstance(key_type, TypeInformation):
        raise TypeError(f"key_by(): key_type must be one of Types, not {key_type!r}")
    if not selectors:
        raise TypeError(f"{_EXPECTED}; it was called without any")
    columns = _column_names(selectors)
    if columns is not None:
        check_key_columns(stream._transformation, columns)
        return KeyedStream(stream, Keys(columns=columns))
    if len(selectors) > 1:
        raise TypeError(f"{_EXPECTED}; return a tuple from one function for a key of several parts")
    if not isinstance(selectors[0], KeySelector) and not callable(selectors[0]):
        raise TypeError(f"{_EXPECTED}, not {selectors[0]!r}")
    function, lifecycle = as_callable(selectors[0], KeySelector, "get_key", "key_by()")
    return KeyedStream(stream, Keys(function=function, lifecycle=lifecycle))


def _column_names(selectors: Sequence[Any]) -> tuple[str, ...] | None:
    """The names, when all selectors name columns; None when the first does not."""
    items: Iterable[Any] = selectors
    if len(selectors) == 1 and isinstance(selectors[0], (list, tuple)):
        items = selectors[0]
        if not items:
            raise TypeError(f"{_EXPECTED}; the list of names is empty")
    names = [_column_name(item) for item in items]
    if not any(names) and items is selectors:
        return None
    for name, item in zip(names, items, strict=True):
        if name is None:
            raise TypeError(f"{_EXPECTED}, and {item!r} is not the name of a column")
    if len(set(names)) < len(names):
        raise ValueError(f"key_by() got a column twice: {names}")
    return tuple(name for name in names if name is not None)


def _column_name(item: Any) -> str | None:
    if isinstance(item, Expression):
        name = getattr(item, "column", None)
        if name is None:
            raise TypeError(
                f"key_by() takes columns by name, not the expression {item.text()}; "
                "make a column of it first: with_columns(key=...)"
            )
        return str(name)
    return item if isinstance(item, str) else None
