"""Process functions as users write them: output, side outputs, timers, state; and mistakes, when a job is built."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from penstock import Configuration, Row, StreamExecutionEnvironment, Types, WatermarkStrategy, col
from penstock.datastream import (
    DataStream,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    TimeDomain,
    TimerService,
)
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListState,
    MapState,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from penstock.errors import UserCodeError
from penstock.testing import OneInputStreamOperatorTestHarness, StreamRecord

pytestmark = pytest.mark.native

MIN = -(1 << 63)
SIDE = OutputTag("side")

Harness = OneInputStreamOperatorTestHarness
backends = pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])


class Process(ProcessFunction):
    """Calls a function of (value, ctx)."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def process_element(self, value: Any, ctx: Any) -> Any:
        return self.function(value, ctx)


class Keyed(KeyedProcessFunction):
    """Calls functions of (value, ctx) and (timestamp, ctx)."""

    def __init__(self, function: Any, on_timer: Any = None) -> None:
        self.function = function
        self.timer_function = on_timer

    def process_element(self, value: Any, ctx: Any) -> Any:
        return self.function(value, ctx)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        return None if self.timer_function is None else self.timer_function(timestamp, ctx)


def keyed(function: Any, on_timer: Any = None, **options: Any) -> Harness:
    return Harness(lambda s: s.key_by(lambda v: v[0]).process(Keyed(function, on_timer)), **options)


def plain(function: Any) -> Harness:
    return Harness(lambda stream: stream.process(Process(function)))


# --- output -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("results", "out"),
    [
        (lambda: None, []),
        (list, []),
        (lambda: ["a", "b"], ["a", "b"]),
        (lambda: ("a", "b"), ["a", "b"]),
        (lambda: iter(["a"]), ["a"]),
        (lambda: [None, (1, 2)], [None, (1, 2)]),
        (lambda: [(SIDE, 1), "a", (OutputTag("nobody asks"), 2)], ["a"]),
    ],
    ids=["None", "nothing", "list", "tuple", "iterator", "elements", "side outputs"],
)
@pytest.mark.parametrize("make", [plain, keyed], ids=["plain", "keyed"])
def test_results_are_what_an_iterable_gives(make: Any, results: Any, out: list[Any]) -> None:
    with make(lambda value, ctx: results()) as harness:
        harness.process_element("ab", 7)
        assert harness.get_record_output() == [StreamRecord(value, 7) for value in out]


def test_side_output_gets_what_carries_its_tag() -> None:
    def split(value: Any, ctx: Any) -> Iterator[Any]:
        yield "main", value
        yield SIDE, value

    def pipeline(stream: DataStream) -> DataStream:
        processed = stream.key_by(lambda v: v[0]).process(Keyed(split))
        processed.get_side_output(SIDE)
        return processed

    with Harness(pipeline) as harness:
        harness.process_elements([("a", 1), ("b", 2)], [3, 4])
        assert harness.extract_output_values() == [("main", ("a", 1)), ("main", ("b", 2))]
        assert harness.get_side_output(SIDE) == [
            StreamRecord(("a", 1), 3),
            StreamRecord(("b", 2), 4),
        ]


def test_a_tag_is_known_by_its_id() -> None:
    def pipeline(stream: DataStream) -> DataStream:
        processed = stream.process(Process(lambda v, ctx: [(OutputTag("side", Types.LONG()), v)]))
        processed.get_side_output(OutputTag("side", Types.LONG()))
        return processed

    with Harness(pipeline) as harness:
        harness.process_element(5)
        assert harness.get_side_output(SIDE) == [StreamRecord(5, None)]


def test_side_outputs_of_a_whole_job_can_be_worked_with() -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    numbers = env.from_collection(list(range(100)))
    odd = OutputTag("odd", Types.ROW_NAMED(["n"], [Types.LONG()]))

    def split(value: int, ctx: Any) -> Iterator[Any]:
        yield (odd, Row(n=value)) if value % 2 else value

    processed = numbers.key_by(lambda n: n % 7).process(Keyed(split), Types.LONG())
    total = processed.get_side_output(odd).select((col("n") * 10).alias("tens"))
    with total.union(total).execute_and_collect() as results:
        assert sorted(row.tens for row in results) == sorted([n * 10 for n in range(1, 100, 2)] * 2)


def test_declared_output_has_columns() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    row = Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.LONG()])
    table = pa.table({"k": ["a", "b"], "n": [1, 2]})
    doubled = (
        env.from_arrow(table)
        .key_by("k")
        .process(Keyed(lambda value, ctx: [(ctx.get_current_key(), value.n * 2)]), row)
    )
    with doubled.filter(col("n") > 2).execute_and_collect() as results:
        assert list(results) == [Row(k="b", n=4)]


# --- the context ------------------------------------------------------------------------------------------


def test_context_knows_time_and_key() -> None:
    def facts(value: Any, ctx: Any) -> Any:
        timers = ctx.timer_service()
        assert isinstance(timers, TimerService)
        now = timers.current_processing_time()
        return [(ctx.get_current_key(), ctx.timestamp(), timers.current_watermark(), now)]

    with keyed(facts, processing_time=50) as harness:
        harness.process_element("ab", 7)
        harness.process_watermark(9)
        harness.set_processing_time(60)
        harness.process_element("b")
        assert harness.extract_output_values() == [("a", 7, MIN, 50), ("b", None, 9, 60)]


def test_context_without_a_key_has_time_but_no_timers() -> None:
    def register(value: Any, ctx: Any) -> Any:
        getattr(ctx.timer_service(), value)(5)

    with plain(lambda v, ctx: [(ctx.timestamp(), ctx.timer_service().current_watermark())]) as h:
        h.process_watermark(3)
        h.process_element("x", 7)
        assert h.extract_output_values() == [(7, 3)]
    for method in ("register_event_time_timer", "delete_processing_time_timer"):
        with plain(register) as harness, pytest.raises(UserCodeError, match="key_by"):
            harness.process_element(method)


# --- timers -----------------------------------------------------------------------------------------------


def at_value(value: Any, ctx: Any) -> None:
    ctx.timer_service().register_event_time_timer(value[1])


def fired(timestamp: int, ctx: Any) -> Any:
    watermark = ctx.timer_service().current_watermark()
    return [(ctx.get_current_key(), timestamp, ctx.timestamp(), ctx.time_domain(), watermark)]


@backends
def test_event_time_timers_fire_in_the_order_of_time_and_key(backend: str) -> None:
    configuration = Configuration({"state.backend.type": backend})
    with keyed(at_value, fired, configuration=configuration) as harness:
        harness.process_elements([("b", 5), ("a", 5), ("a", 3), ("a", 3), ("a", 9)], [0] * 5)
        harness.process_watermark(5)
        event = TimeDomain.EVENT_TIME
        assert harness.get_record_output() == [
            StreamRecord(("a", 3, 3, event, 5), 3),
            StreamRecord(("a", 5, 5, event, 5), 5),
            StreamRecord(("b", 5, 5, event, 5), 5),
        ]


@backends
def test_processing_time_timers_fire_when_the_clock_moves(backend: str) -> None:
    def register(value: Any, ctx: Any) -> None:
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + value[1])
        if value[1] == 30:
            timers.delete_processing_time_timer(timers.current_processing_time() + 20)

    configuration = Configuration({"state.backend.type": backend})
    with keyed(
        register,
        lambda t, ctx: [(ctx.get_current_key(), t, ctx.time_domain())],
        configuration=configuration,
        processing_time=100,
    ) as harness:
        harness.process_elements([("a", 10), ("a", 20), ("b", 20), ("a", 30)])
        harness.set_processing_time(109)
        assert harness.get_record_output() == []
        harness.set_processing_time(120)
        clock = TimeDomain.PROCESSING_TIME
        assert harness.extract_output_values() == [("a", 110, clock), ("b", 120, clock)]
        harness.set_processing_time(1000)
        assert harness.extract_output_values()[2:] == [("a", 130, clock)]


def test_time_domain_is_asked_of_timers_only() -> None:
    with keyed(lambda v, ctx: [ctx.time_domain()]) as harness, pytest.raises(UserCodeError) as e:
        harness.process_element("a")
    assert "only on_timer() has a time domain" in str(e.value)


@pytest.mark.parametrize("time", [1.5, "5", None])
def test_a_timer_is_set_to_milliseconds(time: Any) -> None:
    with keyed(at_value) as harness, pytest.raises(UserCodeError) as raised:
        harness.process_element(("a", time), 0)
    assert isinstance(raised.value.__cause__, TypeError)


def test_timers_go_through_a_snapshot() -> None:
    with keyed(at_value, fired) as harness:
        harness.process_elements([("a", 5), ("b", 50)], [0, 0])
        snapshot = harness.snapshot()
    restored = keyed(at_value, fired)
    restored.initialize_state(snapshot)
    with restored:
        restored.process_watermark(9)
        assert [value[:2] for value in restored.extract_output_values()] == [("a", 5)]


def test_errors_of_on_timer_name_time_and_key() -> None:
    def fail(timestamp: int, ctx: Any) -> None:
        raise ZeroDivisionError("oh")

    with keyed(at_value, fail) as harness:
        harness.process_element(("ann", 5), 0)
        with pytest.raises(UserCodeError, match=r"on_timer\(5\) of key 'ann'") as raised:
            harness.process_watermark(5)
        assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_results_of_a_batch_that_fails_are_dropped_with_the_job() -> None:
    """In a process of its own: without the GIL the interpreter aborts."""
    program = """
import gc
from penstock import StreamExecutionEnvironment
from penstock.datastream import KeyedProcessFunction

class Fails(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield [value]
        if value == 30:
            raise ValueError("thirty")

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(range(100)).key_by(lambda value: 0).process(Fails()).discard()
client = env.execute_async()
client.wait()
print(client.status().name)
del client
# The next job lets go of those that have ended.
list(env.from_collection([1]).execute_and_collect())
gc.collect()
print("alive")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120
    )
    assert (ended.returncode, ended.stdout) == (0, "FAILED\nalive\n"), ended.stderr


def without_end() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


@pytest.mark.parametrize("side", [False, True])
def test_what_yields_without_an_end_is_sent_and_can_be_cancelled(side: bool) -> None:
    class Endless(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            return ((SIDE, n) if side else n for n in without_end())

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([1]).key_by(lambda value: value).process(Endless())
    results = (stream.get_side_output(SIDE) if side else stream).execute_and_collect()
    assert [next(results) for _ in range(200_000)] == list(range(200_000))
    results.close()


def test_errors_of_process_element_show_the_record() -> None:
    with keyed(lambda value, ctx: [1 // value[1]]) as harness:
        with pytest.raises(UserCodeError, match=r"\('ann', 0\)") as raised:
            harness.process_element(("ann", 0))
        assert isinstance(raised.value.__cause__, ZeroDivisionError)


# --- functions with state, on keyed streams ---------------------------------------------------------------


class Counts:
    """Counts what it sees of a key."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def counted(self) -> int:
        count: int = (self.count.value() or 0) + 1
        self.count.update(count)
        return count


class CountedMap(Counts, MapFunction):
    def map(self, value: Any) -> Any:
        return value, self.counted()


class FirstTwo(Counts, FilterFunction):
    def filter(self, value: Any) -> bool:
        return self.counted() <= 2


class Repeat(Counts, FlatMapFunction):
    def flat_map(self, value: Any) -> Iterator[Any]:
        yield from [value] * self.counted()


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda s: s.map(CountedMap()), [("a", 1), ("b", 1), ("a", 2), ("a", 3)]),
        (lambda s: s.filter(FirstTwo()), ["a", "b", "a"]),
        (lambda s: s.flat_map(Repeat()), ["a", "b", "a", "a", "a", "a", "a"]),
    ],
    ids=["map", "filter", "flat_map"],
)
def test_functions_over_a_keyed_stream_have_state(build: Any, expected: list[Any]) -> None:
    with Harness(lambda s: build(s.key_by(lambda v: v))) as harness:
        harness.process_elements(["a", "b", "a", "a"])
        assert harness.extract_output_values() == expected


def test_functions_over_a_stream_without_keys_have_no_state() -> None:
    with pytest.raises(Exception, match="has no keyed state, because its stream is not keyed"):
        Harness(lambda s: s.map(CountedMap())).open()


class Handles(KeyedProcessFunction):
    """Which kinds of state it gets."""

    def open(self, runtime_context: Any) -> None:
        from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor

        self.states = [
            (runtime_context.get_state(ValueStateDescriptor("v")), ValueState),
            (runtime_context.get_list_state(ListStateDescriptor("l")), ListState),
            (runtime_context.get_map_state(MapStateDescriptor("m")), MapState),
            (runtime_context.get_reducing_state(ReducingStateDescriptor("r", max)), ReducingState),
        ]

    def process_element(self, value: Any, ctx: Any) -> Any:
        return [isinstance(state, kind) for state, kind in self.states]


OPENED: list[weakref.ref[Any]] = []


class KeepsWhatRefersToIt(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        OPENED.append(weakref.ref(self))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", self.add))

    def add(self, one: int, other: int) -> int:
        return one + other

    def process_element(self, value: int, ctx: Any) -> Any:
        self.sum.add(value)
        yield self.sum.get()


def test_a_function_whose_state_refers_to_it_is_freed() -> None:
    with Harness(lambda s: s.key_by(lambda v: 0).process(KeepsWhatRefersToIt())) as running:
        running.process_elements([1, 2])
        gc.collect()  # while it is in use nothing may be taken away
        running.process_element(3)
        assert running.extract_output_values() == [1, 3, 6]
    del running
    gc.collect()
    assert [reference() for reference in OPENED] == [None]


def test_states_are_of_their_public_classes() -> None:
    with Harness(lambda s: s.key_by(len).process(Handles())) as harness:
        harness.process_element("a")
        assert harness.extract_output_values() == [True] * 4


# --- rolling aggregates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "arguments", "expected"),
    [
        ("sum", (1,), [("a", 3, "x"), ("a", 4, "x"), ("a", 7, "x")]),
        ("min", (1,), [("a", 3, "x"), ("a", 1, "x"), ("a", 1, "x")]),
        ("max", (1,), [("a", 3, "x"), ("a", 3, "x"), ("a", 3, "x")]),
        ("min_by", (1,), [("a", 3, "x"), ("a", 1, "y"), ("a", 1, "y")]),
        ("max_by", (1,), [("a", 3, "x"), ("a", 3, "x"), ("a", 3, "x")]),
        ("max_by", (1, False), [("a", 3, "x"), ("a", 3, "x"), ("a", 3, "z")]),
    ],
)
def test_rolling_aggregates_emit_for_each_element(
    method: str, arguments: tuple[Any, ...], expected: list[Any]
) -> None:
    elements = [("a", 3, "x"), ("a", 1, "y"), ("a", 3, "z")]
    with Harness(lambda s: getattr(s.key_by(lambda v: v[0]), method)(*arguments)) as harness:
        harness.process_elements(elements, [5, 3, 8])
        out = harness.get_record_output()
        assert out == [StreamRecord(v, t) for v, t in zip(expected, [5, 3, 8], strict=True)]


def test_rolling_aggregates_work_on_columns_by_name() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    table = pa.table({"k": ["a", "b", "a"], "n": [1, 2, 3]})
    summed = env.from_arrow(table).key_by("k").sum("n")
    with summed.select("k", (col("n") + 0).alias("n")).execute_and_collect() as results:
        assert sorted((row.k, row.n) for row in results) == [("a", 1), ("a", 4), ("b", 2)]


def test_rolling_aggregates_of_bare_values() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2, 3], Types.LONG())
    with numbers.key_by(lambda n: 0).sum().execute_and_collect() as results:
        assert sorted(results) == [1, 3, 6]


def test_parallel_job_with_state_counts_every_element() -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(3)
    data = [(n % 17, 1) for n in range(3000)]
    summed = (
        env.from_collection(data).key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    found: dict[int, int] = {}
    with summed.execute_and_collect() as results:
        for key, count in results:
            found[key] = max(count, found.get(key, 0))
    assert found == {key: len(range(key, 3000, 17)) for key in range(17)}


# --- mistakes, when the job is built ----------------------------------------------------------------------


class WithTimer(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any: ...

    def on_timer(self, timestamp: int, ctx: Any) -> Any: ...


@pytest.fixture
def stream() -> DataStream:
    env = StreamExecutionEnvironment.get_execution_environment()
    table = pa.table({"user": ["a"], "price": [1.5]})
    return env.from_arrow(table)


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (
            lambda s: s.process(len),
            TypeError,
            r"takes a ProcessFunction object here, not <built-in",
        ),
        (
            lambda s: s.process(Process),
            TypeError,
            r"process\(\) takes a ProcessFunction object here, not <class",
        ),
        (
            lambda s: s.process(Keyed(None)),
            TypeError,
            r"ProcessFunction object here, not .*, for a keyed stream: key_by\(...\).process",
        ),
        (
            lambda s: s.key_by("user").process(Process(None)),
            TypeError,
            "takes a KeyedProcessFunction object here, not .*, for a stream without keys",
        ),
        (
            lambda s: s.process(WithTimer()),
            TypeError,
            r"WithTimer has on_timer\(\), but without a key there are no timers; make it a Keyed",
        ),
        (
            lambda s: s.key_by("user").process(Keyed(None), int),
            TypeError,
            r"process\(\): output_type must be one of Types",
        ),
        (lambda s: s.key_by("user").sum("prize"), KeyError, r"did you mean 'price'"),
        (lambda s: s.key_by("user").max_by(2), ValueError, r"max_by\(2\): the elements have 2 fie"),
        (lambda s: s.key_by("user").min(1.0), TypeError, "position or the name of a field"),
        (lambda s: s.key_by("user").reduce(3), TypeError, "takes a ReduceFunction or a callable"),
        (
            lambda s: s.key_by("user").process(Keyed(None)).get_side_output("side"),
            TypeError,
            r"get_side_output\(\) takes an OutputTag, not 'side'",
        ),
    ],
)
def test_mistakes_show_when_the_job_is_built(
    stream: DataStream, build: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        build(stream)


def test_watermarks_reach_process_functions_of_a_whole_job() -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    table = pa.table({"k": ["a", "b", "a"], "ts": [1, 2, 3]})
    timed = env.from_arrow(table).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("ts")
    )

    def register(value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value.ts + 10)

    processed = timed.key_by("k").process(
        Keyed(register, lambda t, ctx: [(ctx.get_current_key(), t)])
    )
    with processed.execute_and_collect() as results:
        assert sorted(results) == [("a", 11), ("a", 13), ("b", 12)]


def test_an_aggregating_descriptor_is_checked_before_the_job_runs() -> None:
    with pytest.raises(TypeError, match="AggregateFunction object"):
        AggregatingStateDescriptor("mean", lambda: 0)
