"""Each subtask has its own copy of a Function object; plain callables are shared."""

import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from penstock import StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    TumblingEventTimeWindows,
)

pytestmark = pytest.mark.native


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(3)


class Counting(MapFunction):
    """Emits how many elements it has seen, and where."""

    def __init__(self) -> None:
        self.seen = 0

    def open(self, runtime_context: RuntimeContext) -> None:
        self.where = runtime_context.get_task_name_with_subtasks()

    def map(self, value: Any) -> tuple[str, int]:
        self.seen += 1
        return self.where, self.seen


def test_subtasks_do_not_share_the_state_of_a_function(env: StreamExecutionEnvironment) -> None:
    function = Counting()
    stream = env.from_collection(range(30)).set_parallelism(1).rebalance()
    results = list(stream.map(function).name("Count").execute_and_collect())
    # Each subtask counts from 1 on without a gap, and the object given is untouched.
    expected: Counter[Any] = Counter()
    for where, times in Counter(where for where, _ in results).items():
        expected.update((where, n) for n in range(1, times + 1))
    assert Counter(results) == expected
    assert function.seen == 0
    assert {where for where, _ in results} <= {f"Count ({n}/3)" for n in (1, 2, 3)}


def test_plain_callables_are_shared(env: StreamExecutionEnvironment) -> None:
    seen: list[int] = []
    env.from_collection(range(100)).add_sink(seen.append)
    env.execute()
    assert sorted(seen) == list(range(100))


def test_every_kind_of_function_object_runs(env: StreamExecutionEnvironment) -> None:
    class Even(FilterFunction):
        def filter(self, value: int) -> bool:
            return value % 2 == 0

    class Twice(FlatMapFunction):
        def flat_map(self, value: int) -> Iterable[int]:
            yield value
            yield value

    class Mod(KeySelector):
        def get_key(self, value: int) -> int:
            return value % 3

    class Add(ReduceFunction):
        def reduce(self, value1: int, value2: int) -> int:
            return value1 + value2

    class Named(ProcessWindowFunction):
        def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
            return [(key, context.window().start, element) for element in elements]

    strategy = WatermarkStrategy.for_monotonous_timestamps()
    results = (
        env.from_collection(range(10))
        .filter(Even())
        .flat_map(Twice())
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(lambda value, _: value))
        .key_by(Mod())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
        .reduce(Add(), Named())
    )
    assert sorted(results.execute_and_collect()) == [(0, 0, 12), (1, 0, 8), (2, 0, 20)]


def test_aggregate_function_is_opened_and_closed(env: StreamExecutionEnvironment) -> None:
    class Total(AggregateFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.start = 1000

        def create_accumulator(self) -> int:
            return self.start

        def add(self, value: int, accumulator: int) -> int:
            return accumulator + value

        def get_result(self, accumulator: int) -> int:
            return accumulator

        def merge(self, acc_a: int, acc_b: int) -> int:
            return acc_a + acc_b

    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_collection(range(5)).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(lambda value, _: value)
    )
    windows = stream.window_all(TumblingEventTimeWindows.of(Time.milliseconds(100)))
    assert list(windows.aggregate(Total()).execute_and_collect()) == [1010]


def test_sink_function_gets_every_element(env: StreamExecutionEnvironment, tmp_path: Any) -> None:
    class ToFile(SinkFunction):
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def open(self, runtime_context: RuntimeContext) -> None:
            number = runtime_context.get_index_of_this_subtask()
            self.file = open(f"{self.folder}/part-{number}", "w", encoding="utf-8")  # noqa: SIM115

        def invoke(self, value: int) -> None:
            self.file.write(f"{value}\n")

        def close(self) -> None:
            self.file.close()

    env.from_collection(range(100)).rebalance().add_sink(ToFile(str(tmp_path)))
    env.execute()
    parts = sorted(tmp_path.glob("part-*"))
    assert len(parts) == 3
    assert sorted(int(n) for p in parts for n in p.read_text().split()) == list(range(100))


def test_function_that_does_not_pickle_is_named_with_advice(
    env: StreamExecutionEnvironment,
) -> None:
    class Locked(MapFunction):
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def map(self, value: Any) -> Any:
            return value

    env.from_collection([1]).map(Locked()).name("Guarded").discard()
    with pytest.raises(
        TypeError, match=r"operator 'Guarded'.*\(Locked\).*does not pickle.*open\(\)"
    ):
        env.execute()
