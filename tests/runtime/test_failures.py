"""What fails a job is raised with its place: operator, subtask, record, and the user's own traceback."""

import threading
import traceback
from typing import Any

import pyarrow as pa
import pytest

from penstock import Configuration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import DataStream, MapFunction, RuntimeContext, TumblingEventTimeWindows
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def fails_at_seven(value: int) -> int:
    if value == 7:
        raise LookupError("seven: is bad")
    return value


def failure_of(stream: DataStream) -> UserCodeError:
    with pytest.raises(UserCodeError) as caught:
        list(stream.execute_and_collect())
    return caught.value


def test_failure_names_operator_uid_subtask_and_record(env: StreamExecutionEnvironment) -> None:
    error = failure_of(env.from_collection(range(10)).map(fails_at_seven).name("Sevens").uid("m"))
    assert "operator 'Sevens' (uid m), subtask 1/2" in str(error)
    assert "record 7: LookupError: seven: is bad" in str(error)
    assert (error.operator, error.subtask, error.record) == ("Sevens", 0, "7")


def test_failure_has_the_users_exception_and_traceback_as_cause(
    env: StreamExecutionEnvironment,
) -> None:
    error = failure_of(env.from_collection(range(10)).map(fails_at_seven))
    assert isinstance(error.__cause__, LookupError)
    frames = traceback.extract_tb(error.__cause__.__traceback__)
    assert frames[-1].name == "fails_at_seven"


def test_failure_shows_long_records_shortened(env: StreamExecutionEnvironment) -> None:
    def fail(value: str) -> str:
        raise ValueError("no")

    error = failure_of(env.from_collection(["x" * 100_000]).map(fail))
    assert error.record is not None
    assert 10 < len(error.record) < 1000


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.filter(fails_at_seven),
        lambda s: s.flat_map(lambda x: [fails_at_seven(x)]),
        lambda s: s.key_by(fails_at_seven).map(lambda x: x),
        lambda s: s.assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
                lambda value, _: fails_at_seven(value)
            )
        ),
    ],
    ids=["filter", "flat_map", "key_by", "timestamps"],
)
def test_every_function_names_its_record(env: StreamExecutionEnvironment, build: Any) -> None:
    error = failure_of(build(env.from_collection(range(10))))
    assert error.record == "7"
    assert isinstance(error.__cause__, LookupError)


def test_failure_in_a_later_task_ends_an_endless_source(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_generator(DataGen().sequence("id"))
    error = failure_of(numbers.rebalance().map(lambda row: fails_at_seven(row["id"])))
    assert isinstance(error.__cause__, LookupError)


def test_first_failure_wins(env: StreamExecutionEnvironment) -> None:
    failed, never = threading.Event(), threading.Event()

    def first(value: int) -> int:
        failed.set()
        raise ValueError("first")

    def second(value: int) -> int:
        failed.wait(20)
        never.wait(0.5)  # until the failure of the other task has been noted
        raise ValueError("second")

    env.set_parallelism(1)
    numbers = env.from_collection(range(10))
    numbers.rebalance().map(second).name("Second").discard()
    numbers.rebalance().map(first).name("First").discard()
    with pytest.raises(UserCodeError, match="operator 'First'") as caught:
        env.execute()
    assert str(caught.value.__cause__) == "first"


class Recording(MapFunction):
    """Notes what is called, in a list outside of its copies."""

    calls: list[str] = []

    def __init__(self, fails_in: str) -> None:
        self.fails_in = fails_in

    def open(self, runtime_context: RuntimeContext) -> None:
        Recording.calls.append("open")
        if self.fails_in == "open":
            raise ValueError("cannot open")

    def map(self, value: int) -> int:
        if self.fails_in == "map":
            raise ValueError("cannot map")
        return value

    def close(self) -> None:
        Recording.calls.append("close")
        if self.fails_in == "close":
            raise ValueError("cannot close")


@pytest.mark.parametrize("where", ["open", "map", "close"])
def test_failing_function_is_closed_and_named(env: StreamExecutionEnvironment, where: str) -> None:
    Recording.calls.clear()
    error = failure_of(env.set_parallelism(1).from_collection([1]).map(Recording(where)))
    assert error.operator == "Map"
    assert str(error.__cause__) == f"cannot {where}"
    assert Recording.calls == ["open", "close"]


def sums(configuration: Configuration) -> list[Any]:
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    big = pa.table({"k": [1, 1], "v": [2**63 - 1, 2], "ts": [0, 1]})
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("ts")
    windows = (
        env.set_parallelism(1)
        .from_arrow(big)
        .assign_timestamps_and_watermarks(strategy)
        .key_by("k")
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
    )
    return [row["sum_v"] for row in windows.aggregate(F.sum("v")).execute_and_collect()]


def test_sum_that_overflows_fails_the_job_and_names_column_and_setting() -> None:
    with pytest.raises(OverflowError, match=r"column 'v' overflows.*penstock\.sum-overflow"):
        sums(Configuration())


def test_sum_wraps_when_told_so() -> None:
    assert sums(Configuration({"penstock.sum-overflow": "wrap"})) == [-(2**63) + 1]
