"""Harnesses: a pipeline's operators on the caller's thread, with hand-driven elements, watermarks and time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from penstock.common.configuration import Configuration
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.datastream.data_stream import DataStream
from penstock.datastream.output_tag import OutputTag
from penstock.testing.elements import (
    MAX_WATERMARK,
    OperatorSnapshot,
    StreamElement,
    StreamRecord,
    stream_elements,
)
from penstock.testing.pipeline import OUTPUT, build_pipeline, input_uid

__all__ = ["MultiInputStreamOperatorTestHarness", "OneInputStreamOperatorTestHarness"]


class _Harness:
    """What both harnesses have: lifecycle, clock, outputs, state."""

    def __init__(
        self,
        pipeline: Callable[..., DataStream],
        inputs: Sequence[Any],
        configuration: Configuration | None,
        processing_time: int,
    ) -> None:
        from penstock.runtime.harness import GraphDriver

        self._inputs = list(inputs)
        self._processing_time = processing_time
        self._snapshot: OperatorSnapshot | None = None
        graph, self._sides = build_pipeline(pipeline, inputs, configuration)
        self._driver = GraphDriver(graph, processing_time)

    def initialize_state(self, snapshot: OperatorSnapshot) -> None:
        """Starts from the state that another harness of the same pipeline had; before ``open``."""
        self._snapshot = snapshot

    def open(self) -> None:
        """Opens the operators; the context manager does it."""
        self._driver.open(None if self._snapshot is None else self._snapshot.states)

    def close(self) -> None:
        """Closes the operators; event time stays where it is."""
        self._driver.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def set_processing_time(self, timestamp: int) -> None:
        """Moves the clock, in milliseconds, and fires what is due."""
        self._processing_time = timestamp
        self._driver.set_time(timestamp)

    def get_processing_time(self) -> int:
        return self._processing_time

    def get_output(self) -> list[StreamElement]:
        """Everything that came out so far: records, watermarks and statuses, in order."""
        return list(stream_elements(self._driver.output(OUTPUT)))

    def get_record_output(self) -> list[StreamRecord]:
        """The records that came out so far."""
        return [element for element in self.get_output() if isinstance(element, StreamRecord)]

    def extract_output_values(self) -> list[Any]:
        """The values of the records that came out so far."""
        return [record.value for record in self.get_record_output()]

    def get_side_output(self, output_tag: OutputTag) -> list[StreamRecord]:
        """The records that operators of the pipeline sent to a side output so far.

        Process functions keep what the pipeline asks for: ``stream.get_side_output(tag)``.
        """
        if output_tag.tag_id not in self._sides:
            known = sorted(self._sides) or "none"
            raise ValueError(
                f"no operator has a side output {output_tag.tag_id!r}; there are {known} "
                "(of a process function those that the pipeline asks for: stream.get_side_output(tag))"
            )
        outputs = (self._driver.output(uid) for uid in self._sides[output_tag.tag_id])
        elements = (element for output in outputs for element in stream_elements(output))
        return [element for element in elements if isinstance(element, StreamRecord)]

    def snapshot(self) -> OperatorSnapshot:
        """The state of all operators, as a checkpoint would have it."""
        return OperatorSnapshot(self._driver.snapshot())

    def metrics(self) -> list[dict[str, Any]]:
        """Counters per operator, such as ``late_records_dropped``."""
        return self._driver.metrics()

    def _elements(
        self, number: int, values: Iterable[Any], timestamps: Iterable[int] | None
    ) -> None:
        rows = _checked(list(values), self._inputs[number], number)
        times = None if timestamps is None else list(timestamps)
        self._driver.feed_rows(input_uid(number), rows, times)

    def _batch(self, number: int, data: Any, timestamps: Iterable[int] | None) -> None:
        if not isinstance(self._inputs[number], pa.Schema):
            raise TypeError(f"input {number} takes Python objects; declare it by a pyarrow.Schema")
        times = None if timestamps is None else list(timestamps)
        self._driver.feed_arrow(input_uid(number), data, times)

    def _watermark(self, number: int, timestamp: int) -> None:
        self._driver.feed(input_uid(number), ("watermark", timestamp))

    def _status(self, number: int, idle: bool) -> None:
        self._driver.feed(input_uid(number), ("status", idle))

    def _end(self, number: int) -> None:
        self._watermark(number, MAX_WATERMARK)
        self._driver.feed(input_uid(number), ("end",))


class OneInputStreamOperatorTestHarness(_Harness):
    """Drives a pipeline with one input stream.

    ``pipeline`` gets the input and returns the stream whose elements are looked at. ``input_type`` is the type of the
    input's elements: one of ``Types``, a pyarrow.Schema (then ``process_batch`` feeds it), or None for Python objects.
    Behind ``key_by`` operators get elements as in a job, with parallelism 1. ``processing_time`` is where the clock
    stands at first.

    >>> with OneInputStreamOperatorTestHarness(lambda words: words.map(str.upper)) as harness:
    ...     harness.process_elements(["to", "be"])
    ...     harness.extract_output_values()
    ['TO', 'BE']
    """

    def __init__(
        self,
        pipeline: Callable[[DataStream], DataStream],
        input_type: Any = None,
        *,
        configuration: Configuration | None = None,
        processing_time: int = 0,
    ) -> None:
        super().__init__(pipeline, [input_type], configuration, processing_time)

    def process_element(self, value: Any, timestamp: int | None = None) -> None:
        """One element."""
        self._elements(0, [value], None if timestamp is None else [timestamp])

    def process_elements(
        self, values: Iterable[Any], timestamps: Iterable[int] | None = None
    ) -> None:
        """Elements in one batch; each has a timestamp, or none has."""
        self._elements(0, values, timestamps)

    def process_batch(self, data: Any, timestamps: Iterable[int] | None = None) -> None:
        """An Arrow record batch, when the input was declared by a schema."""
        self._batch(0, data, timestamps)

    def process_watermark(self, timestamp: int) -> None:
        """A watermark; one that is not greater than the last is ignored, as in Flink."""
        self._watermark(0, timestamp)

    def process_watermark_status(self, idle: bool) -> None:
        """The input goes idle, or becomes active again."""
        self._status(0, idle)

    def end_input(self) -> None:
        """The input has ended: the greatest watermark, then the end itself."""
        self._end(0)


class MultiInputStreamOperatorTestHarness(_Harness):
    """Drives a pipeline with several input streams, numbered from 0; ``input_types`` has one entry for each.

    >>> with MultiInputStreamOperatorTestHarness(lambda a, b: a.union(b), [None, None]) as harness:
    ...     harness.process_watermark(0, 5)
    ...     harness.process_element(1, "b", 4)
    ...     harness.process_watermark(1, 3)
    ...     harness.get_output()
    [StreamRecord(value='b', timestamp=4), Watermark(timestamp=3)]
    """

    def __init__(
        self,
        pipeline: Callable[..., DataStream],
        input_types: Sequence[Any],
        *,
        configuration: Configuration | None = None,
        processing_time: int = 0,
    ) -> None:
        super().__init__(pipeline, input_types, configuration, processing_time)

    def process_element(self, number: int, value: Any, timestamp: int | None = None) -> None:
        """One element of input ``number``."""
        self._elements(number, [value], None if timestamp is None else [timestamp])

    def process_elements(
        self, number: int, values: Iterable[Any], timestamps: Iterable[int] | None = None
    ) -> None:
        """Elements of input ``number`` in one batch; each has a timestamp, or none has."""
        self._elements(number, values, timestamps)

    def process_batch(
        self, number: int, data: Any, timestamps: Iterable[int] | None = None
    ) -> None:
        """An Arrow record batch, when input ``number`` was declared by a schema."""
        self._batch(number, data, timestamps)

    def process_watermark(self, number: int, timestamp: int) -> None:
        """A watermark of input ``number``."""
        self._watermark(number, timestamp)

    def process_watermark_status(self, number: int, idle: bool) -> None:
        """Input ``number`` goes idle, or becomes active again."""
        self._status(number, idle)

    def end_input(self, number: int) -> None:
        """Input ``number`` has ended: the greatest watermark, then the end itself."""
        self._end(number)


def _checked(values: list[Any], declared: Any, number: int) -> list[Any]:
    """The values as the declared type has them: a ROW's elements are Rows."""
    if not isinstance(declared, TypeInformation):
        return values
    for value in values:
        wrong = declared.mismatch(value)
        if wrong:
            raise TypeError(f"input {number}: {wrong}")
    return list(map(declared.to_row, values)) if isinstance(declared, RowTypeInfo) else values
