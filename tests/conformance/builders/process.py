"""Kind ``process``: process functions over (key, value, ts, seq) tuples, by FORMAT.md section 4.

They emit (key, payload, watermark).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.builders.experiment import Experiment
from conformance.corpus import Scenario
from penstock import Types
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
)
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.testing import StreamRecord

SIDE = OutputTag("side")

RECORD = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG(), Types.LONG()])

# What a function of FORMAT.md yields: a payload, or ``_aside(payload)``.
Payloads = Iterator[list[Any] | tuple[OutputTag, list[Any]]]


def build_process(scenario: Scenario) -> Experiment:
    """The experiment of a process function over one stream."""

    def pipeline(records: DataStream) -> DataStream:
        if scenario["function"] == "plain":
            processed = records.process(Plain())
        else:
            function = FUNCTIONS[scenario["function"]](scenario.get("a", 0), scenario.get("b", 0))
            processed = records.key_by(lambda record: record[0]).process(function)
        processed.get_side_output(
            SIDE
        )  # nobody reads it here, but the harness keeps what is asked for
        return processed

    return Experiment(scenario, pipeline, _read, {"side": (SIDE, _read)})


def _read(record: StreamRecord) -> list[Any]:
    key, payload, watermark = record.value
    return [key, payload, record.timestamp, watermark]


def _aside(payload: list[Any]) -> tuple[OutputTag, list[Any]]:
    return SIDE, payload


def _with_context(key: Any, found: Any, ctx: Any) -> Any:
    watermark = ctx.timer_service().current_watermark()
    if isinstance(found, tuple):
        return found[0], (key, found[1], watermark)
    return key, found, watermark


class Plain(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterator[Any]:
        key, number, timestamp, _ = value
        late = timestamp <= ctx.timer_service().current_watermark()
        yield _with_context(key, [number, ctx.timestamp(), late], ctx)
        if number < 0:
            yield _with_context(key, _aside([number]), ctx)


class _Process(KeyedProcessFunction):
    """Adds key and watermark to the payloads of ``element`` and ``timer``."""

    def __init__(self, a: int, b: int) -> None:
        self.a = a
        self.b = b

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        for found in self.element(*value[1:], ctx) or ():
            yield _with_context(ctx.get_current_key(), found, ctx)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[Any]:
        for found in self.timer(timestamp, ctx) or ():
            yield _with_context(ctx.get_current_key(), found, ctx)

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads | None: ...

    def timer(self, t: int, ctx: Any) -> Payloads | None: ...


def _value_state(context: RuntimeContext, name: str) -> Any:
    return context.get_state(ValueStateDescriptor(name, Types.LONG()))


class CountTimeout(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = _value_state(runtime_context, "count")
        self.last = _value_state(runtime_context, "last")

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> None:
        timers, last = ctx.timer_service(), self.last.value()
        if self.b == 1 and last is not None:
            timers.delete_event_time_timer(last + self.a)
        self.count.update((self.count.value() or 0) + 1)
        self.last.update(ts)
        timers.register_event_time_timer(ts + self.a)

    def timer(self, t: int, ctx: Any) -> Payloads:
        count, last = self.count.value(), self.last.value()
        if self.b == 1 or (last is not None and t == last + self.a):
            yield ["timeout", count, t, ctx.timestamp()]
            self.count.clear()
            self.last.clear()
        else:
            yield ["stale", count, t, ctx.timestamp()]


class DedupTtl(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        seen = MapStateDescriptor("seen", Types.LONG(), Types.LONG())
        self.seen = runtime_context.get_map_state(seen)

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads:
        if self.seen.is_empty():
            ctx.timer_service().register_event_time_timer(ts + self.a)
        if value not in self.seen:
            self.seen[value] = ts
            yield ["first", value, ts, ctx.timestamp()]
        else:
            yield ["dup", value, ts, self.seen[value]]

    def timer(self, t: int, ctx: Any) -> Payloads:
        size = len(self.seen)
        self.seen.clear()
        yield ["cleared", size, t]


class SortBuffer(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        element = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
        self.buffer = runtime_context.get_list_state(ListStateDescriptor("buffer", element))

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads:
        timers = ctx.timer_service()
        if ts <= timers.current_watermark():
            yield _aside([value, ts])
        else:
            self.buffer.add((value, ts, seq))
            timers.register_event_time_timer(ts)

    def timer(self, t: int, ctx: Any) -> Payloads:
        waiting = sorted(self.buffer.get(), key=lambda element: element[1:])
        self.buffer.update([element for element in waiting if element[1] > t])
        yield from (list(element) for element in waiting if element[1] <= t)


class Reducing(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        total = ReducingStateDescriptor("sum", lambda x, y: x + y, Types.LONG())
        self.sum = runtime_context.get_reducing_state(total)

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads:
        before = self.sum.get()
        self.sum.add(value)
        yield [before, self.sum.get()]
        if value % self.a == 0:
            self.sum.clear()


class Average(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Aggregating(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        accumulator = Types.TUPLE([Types.LONG(), Types.LONG()])
        descriptor = AggregatingStateDescriptor("average", Average(), accumulator)
        self.average = runtime_context.get_aggregating_state(descriptor)

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> None:
        self.average.add(value)
        ctx.timer_service().register_event_time_timer(ts // self.a * self.a + self.a - 1)

    def timer(self, t: int, ctx: Any) -> Payloads:
        yield [t, self.average.get()]
        self.average.clear()


class TimerOps(_Process):
    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads:
        timers = ctx.timer_service()
        register, delete = timers.register_event_time_timer, timers.delete_event_time_timer
        match value % 6:
            case 0:
                register(ts - self.a)
            case 1:
                register(ts + self.a)
                register(ts + self.a)
            case 2:
                register(ts + self.a)
                delete(ts + self.a)
            case 3:
                register(ts + 2 * self.a)
            case 4:
                delete(ts + self.a)
            case 5:
                register(timers.current_watermark())
                register(ts)
        yield ["e", value, ctx.timestamp()]

    def timer(self, t: int, ctx: Any) -> Payloads:
        yield ["t", t, ctx.timestamp(), ctx.time_domain().name]


class TimerChain(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.left = _value_state(runtime_context, "left")

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> None:
        self.left.update(self.b)
        ctx.timer_service().register_event_time_timer(ts + abs(self.a))

    def timer(self, t: int, ctx: Any) -> Payloads:
        left = self.left.value()
        yield [t, left, ctx.timestamp()]
        if left is not None and left > 0:
            self.left.update(left - 1)
            ctx.timer_service().register_event_time_timer(t + self.a)
        else:
            self.left.clear()


class SideSplit(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.n = _value_state(runtime_context, "n")

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads:
        n = (self.n.value() or 0) + 1
        self.n.update(n)
        payload = [value, n, ctx.timestamp()]
        yield payload if value % 2 == 0 else _aside(payload)
        if n == self.a:
            self.n.clear()
            ctx.timer_service().register_event_time_timer(ts + 1)

    def timer(self, t: int, ctx: Any) -> Payloads:
        yield _aside(["timer", t, self.n.value()])


class ListOps(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.LONG()))

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads:
        match value % 5:
            case 0:
                self.list.update([value, value + 1])
            case 1:
                self.list.add_all([value, value])
            case 2:
                self.list.clear()
            case _:
                self.list.add(value)
        yield [list(self.list)]


class MapOps(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        descriptor = MapStateDescriptor("map", Types.LONG(), Types.LONG())
        self.map = runtime_context.get_map_state(descriptor)

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> Payloads:
        key = abs(value) % self.a
        if value % 4 == 3:
            self.map.remove(key)
        else:
            self.map.put(key, (self.map.get(key) or 0) + value)
        yield [sorted(map(list, self.map.items())), self.map.is_empty()]


class Alarm(_Process):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.armed = _value_state(runtime_context, "armed")

    def element(self, value: int, ts: int, seq: int, ctx: Any) -> None:
        timers, armed = ctx.timer_service(), self.armed.value()
        if value > self.b and armed is None:
            self.armed.update(ts + self.a)
            timers.register_event_time_timer(ts + self.a)
        elif value <= self.b and armed is not None:
            timers.delete_event_time_timer(armed)
            self.armed.clear()

    def timer(self, t: int, ctx: Any) -> Payloads:
        yield ["alarm", t]
        self.armed.clear()


FUNCTIONS: dict[str, Callable[[int, int], _Process]] = {
    "count_timeout": CountTimeout,
    "dedup_ttl": DedupTtl,
    "sort_buffer": SortBuffer,
    "reducing_state": Reducing,
    "aggregating_state": Aggregating,
    "timer_ops": TimerOps,
    "timer_chain": TimerChain,
    "side_split": SideSplit,
    "list_ops": ListOps,
    "map_ops": MapOps,
    "alarm": Alarm,
}
