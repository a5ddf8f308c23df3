"""Kind ``window``: general windows with Python functions over (key, value, ts, seq) tuples."""

from collections.abc import Iterable, Iterator
from typing import Any

from conformance.builders.experiment import Experiment, ReadRecord, require
from conformance.corpus import Scenario
from penstock import Time
from penstock.datastream import (
    AggregateFunction,
    AllWindowedStream,
    DataStream,
    KeyedStream,
    OutputTag,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    TumblingEventTimeWindows,
    WindowedStream,
    window,
)
from penstock.datastream.field_reduce import FieldReduce
from penstock.testing import StreamRecord

LATE = OutputTag("late")

# What the API must have before a feature can run.
_ASSIGNERS = {
    "sliding": (window, "SlidingEventTimeWindows"),
    "session": (window, "EventTimeSessionWindows"),
    "dynamic_session": (window, "EventTimeSessionWindows"),
    "global": (window, "GlobalWindows"),
    "global_eos": (window, "GlobalWindows"),
    "count_tumbling": (KeyedStream, "count_window"),
    "count_sliding": (KeyedStream, "count_window"),
}
_FUNCTIONS = {
    "minBy": "min_by",
    "minBy_last": "min_by",
    "maxBy": "max_by",
    "maxBy_last": "max_by",
}


class Average(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Any, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class WindowInfo(ProcessWindowFunction):
    """(key, start, end, result, watermark) of each result."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        where = context.window()
        for element in elements:
            yield key, where.start, where.end, element, context.current_watermark()


class AllWindowInfo(ProcessAllWindowFunction):
    """The same without a key and without a watermark."""

    def process(self, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        where = context.window()
        for element in elements:
            yield None, where.start, where.end, element, None


def build_window(scenario: Scenario) -> Experiment:
    """The experiment of a window over one stream."""
    _check(scenario)

    def pipeline(records: DataStream) -> DataStream:
        return _evaluated(_windowed(records, scenario), scenario)

    sides = {"late": (LATE, _read_late)} if scenario["late_output"] else {}
    return Experiment(scenario, pipeline, _reader(scenario), sides)


def _check(scenario: Scenario) -> None:
    assigner, function = scenario["assigner"]["type"], scenario["function"]
    if assigner in _ASSIGNERS:
        require(*_ASSIGNERS[assigner])
    trigger = scenario["trigger"]
    if trigger is not None and trigger["type"] != "event_time":
        # The trigger of event time is what a time window has anyway.
        require(WindowedStream, "trigger")
    if scenario["evictor"] is not None:
        require(WindowedStream, "evictor")
    if function in _FUNCTIONS:
        require(WindowedStream, _FUNCTIONS[function])


def _windowed(records: DataStream, scenario: Scenario) -> WindowedStream | AllWindowedStream:
    assigner = tumbling(scenario)
    windowed: WindowedStream | AllWindowedStream
    if scenario["all"]:
        windowed = records.window_all(assigner)
    else:
        windowed = records.key_by(lambda record: record[0]).window(assigner)
    windowed.allowed_lateness(scenario["allowed_lateness"])
    if scenario["late_output"]:
        windowed.side_output_late_data(LATE)
    return windowed


def tumbling(scenario: Scenario) -> TumblingEventTimeWindows:
    size, offset = scenario["assigner"]["size"], scenario["assigner"]["offset"]
    return TumblingEventTimeWindows.of(Time.milliseconds(size), Time.milliseconds(offset))


def _evaluated(windowed: WindowedStream | AllWindowedStream, scenario: Scenario) -> DataStream:
    function = scenario["function"]
    info: Any = None
    if scenario["window_info"]:
        info = AllWindowInfo() if scenario["all"] else WindowInfo()
    if function == "avg":
        return windowed.aggregate(Average(), window_function=info)
    if function == "reduce_sum":
        return windowed.reduce(lambda a, b: (a[0], a[1] + b[1], *a[2:]), window_function=info)
    if function in {"sum", "min", "max"}:
        if info is None:
            return getattr(windowed, function)(1)
        return windowed.reduce(FieldReduce(function, 1), window_function=info)
    return windowed.process(info)


def _reader(scenario: Scenario) -> ReadRecord:
    function, with_info = scenario["function"], scenario["window_info"]

    def result(element: Any) -> Any:
        if function == "avg":
            return element
        return element[1] if function == "reduce_sum" else list(element[1:])

    def read(record: StreamRecord) -> list[Any]:
        if with_info:
            key, start, end, element, watermark = record.value
            return [key, start, end, result(element), record.timestamp, watermark]
        unkeyed = scenario["all"] or function == "avg"
        key = None if unkeyed else record.value[0]
        return [key, None, None, result(record.value), record.timestamp, None]

    return read


def _read_late(record: StreamRecord) -> list[Any]:
    return list(record.value[:3])
