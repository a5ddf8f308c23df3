"""Where a stream ends: print, collect, discard, functions and sinks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from penstock.connectors.base import Sink
from penstock.datastream.closeable_iterator import CloseableIterator
from penstock.datastream.column_operations import require_schema
from penstock.datastream.functions import SinkFunction, as_callable
from penstock.datastream.stream_settings import StreamSettings
from penstock.graph.specs import (
    BatchSinkSpec,
    CollectSinkSpec,
    DiscardSinkSpec,
    FunctionSinkSpec,
    OperatorSpec,
    PrintSinkSpec,
)
from penstock.graph.transformation import (
    OperatorTransformation,
    SideOutputTransformation,
    Transformation,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DataStreamSink", "SinkMethods"]

_collector_numbers = itertools.count(1)


class DataStreamSink(StreamSettings):
    """The end of a stream; its operator can still be named and configured."""


class SinkMethods(StreamSettings):
    """The methods of DataStream that end it."""

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Prints each element, as ``N> element`` when several subtasks N print.

        >>> from penstock import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
        >>> sink = env.from_collection(["a", "b"]).print("letter")
        >>> result = env.execute()
        letter> a
        letter> b
        """
        if sink_identifier is not None and not isinstance(sink_identifier, str):
            raise TypeError(
                f"print() takes a text to stand before elements, not {sink_identifier!r}"
            )
        return self._end("Sink: Print to Std. Out", PrintSinkSpec(sink_identifier or ""))

    def sink_to(self, sink: Sink) -> DataStreamSink:
        """Ends in a sink of ``penstock.connectors``."""
        if not isinstance(sink, Sink):
            raise TypeError(
                f"sink_to() takes a Sink, not {sink!r}; a function goes to add_sink() or for_each_batch()"
            )
        if sink.needs_columns():
            require_schema(self._transformation, "sink_to()")
        return self._end("Sink: Writer", sink.spec(), needs_columns=sink.needs_columns())

    def add_sink(self, sink_func: SinkFunction | Callable[[Any], Any]) -> DataStreamSink:
        """Calls a function for each element."""
        function, lifecycle = as_callable(sink_func, SinkFunction, "invoke", "add_sink()")
        return self._end("Sink: Function", FunctionSinkSpec(function, lifecycle))

    def for_each_batch(self, function: Callable[[pa.RecordBatch], Any]) -> DataStreamSink:
        """Calls a function with each Arrow record batch.

        >>> import pyarrow
        >>> from penstock import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
        >>> counts = []
        >>> stream = env.from_arrow(pyarrow.table({"x": [1, 2, 3]}))
        >>> sink = stream.for_each_batch(lambda batch: counts.append(batch.num_rows))
        >>> result = env.execute()
        >>> sum(counts)
        3
        """
        require_schema(self._transformation, "for_each_batch()")
        if not callable(function):
            raise TypeError(f"for_each_batch() takes a callable, not {function!r}")
        return self._end("Sink: Batches", BatchSinkSpec(function), needs_columns=True)

    def discard(self) -> DataStreamSink:
        """Drops all elements; they are counted."""
        return self._end("Sink: Discard", DiscardSinkSpec())

    @overload
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: None = None
    ) -> CloseableIterator: ...
    @overload
    def execute_and_collect(
        self, job_execution_name: str | None = None, *, limit: int
    ) -> list[Any]: ...
    @overload
    def execute_and_collect(self, job_execution_name: str | None, limit: int) -> list[Any]: ...
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator | list[Any]:
        """Runs the job and iterates over the elements while it runs; with ``limit``, a list of at most so many.

        Closing the iterator (it is a context manager) cancels a job that still runs.

        >>> from penstock import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> with env.from_collection([1, 2, 3]).execute_and_collect() as results:
        ...     sum(results)
        6
        """
        _check_limit(limit)
        collector = f"collect-{next(_collector_numbers)}"
        sink = self._end("Sink: Collect", CollectSinkSpec(collector))
        sink._transformation.parallelism = _own_parallelism(self._transformation)
        try:
            client = self._environment.execute_async(job_execution_name)
        except BaseException:
            # In the next job nobody would read it, and the job would wait for ever.
            self._environment._drop_operator(sink._transformation)
            raise
        results = CloseableIterator(
            client.collector(collector), lambda: client.cancel().result(), client.cancel
        )
        if limit is None:
            return results
        with results:
            return list(itertools.islice(results, limit))

    def _end(self, name: str, spec: OperatorSpec, *, needs_columns: bool = False) -> DataStreamSink:
        source = self._transformation
        sink = OperatorTransformation(name, (source,), None, spec=spec, needs_columns=needs_columns)
        self._environment._add_operator(sink)
        return DataStreamSink(self._environment, sink)


def _check_limit(limit: int | None) -> None:
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise TypeError(f"limit must be an int, not {limit!r}")
    if limit < 0:
        raise ValueError(f"limit must not be negative, but is {limit}")


def _own_parallelism(transformation: Transformation) -> int | None:
    """The parallelism that was set for the operator of a stream: with the same, its elements stay in order."""
    if isinstance(transformation, SideOutputTransformation):
        transformation = transformation.inputs[0]
    return transformation.parallelism
