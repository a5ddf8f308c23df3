"""Process functions and rolling aggregates on Spark: the same as in one process, on both state backends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import cloudpickle
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from penstock import StreamExecutionEnvironment, Types, WatermarkStrategy
from penstock.datastream import DataStream, KeyedProcessFunction, OutputTag, ProcessFunction
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor

from .conftest import collected, environment

pytestmark = pytest.mark.spark

ROWS = 2_000
TABLE = pa.table(
    {
        "user": [f"user {n * 7 % 13}" for n in range(ROWS)],
        "n": list(range(ROWS)),
        "ts": list(range(ROWS)),
    }
)
RARE = OutputTag("rare")


class CountUntilQuiet(KeyedProcessFunction):
    """Counts a user's rows by their last digit and tells when the user has been quiet for 30 ms."""

    def open(self, runtime_context: Any) -> None:
        digits = MapStateDescriptor("digits", Types.LONG(), Types.LONG())
        self.digits = runtime_context.get_map_state(digits)
        self.due = runtime_context.get_state(ValueStateDescriptor("due", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        digit, due, timers = value.n % 10, self.due.value(), ctx.timer_service()
        if due is not None:
            timers.delete_event_time_timer(due)
        self.due.update(value.ts + 30)
        timers.register_event_time_timer(value.ts + 30)
        self.digits[digit] = (self.digits.get(digit) or 0) + 1
        if value.n % 500 == 0:
            yield RARE, (value.user, value.n)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), timestamp, list(self.digits.items())
        self.digits.clear()
        self.due.clear()


class WithTime(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value.n, ctx.timestamp()


@pytest.fixture(autouse=True, scope="module")
def functions_travel_by_value() -> Iterator[None]:
    """The executors do not have this module."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def timed(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_arrow(TABLE).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("ts")
    )


def counted(env: StreamExecutionEnvironment) -> DataStream:
    return timed(env).key_by("user").process(CountUntilQuiet())


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_keyed_process_functions_with_state_and_timers(spark: SparkSession, backend: str) -> None:
    settings = {"state.backend.type": backend}
    with counted(environment("spark", 2, **settings)).execute_and_collect() as results:
        on_spark = sorted(results, key=repr)
    assert on_spark == collected("local", counted, 2)
    assert sum(count for _, _, digits in on_spark for _, count in digits) == ROWS


def test_side_outputs(run_on_spark: Any) -> None:
    found = run_on_spark(lambda env: counted(env).get_side_output(RARE))
    assert sorted(n for _, n in found) == list(range(0, ROWS, 500))


def test_process_functions_without_a_key(run_on_spark: Any) -> None:
    found = run_on_spark(lambda env: timed(env).process(WithTime()))
    assert sorted(found) == [(n, n) for n in range(ROWS)]


def test_rolling_aggregates(run_on_spark: Any) -> None:
    # With one subtask rows come in order; what a rolling aggregate emits depends on it.
    found = run_on_spark(lambda env: timed(env).key_by("user").sum("n"), 1)
    assert len(found) == ROWS
    last = {row.user: row.n for row in sorted(found, key=lambda row: row.n)}
    assert last == {f"user {u}": sum(n for n in range(ROWS) if n * 7 % 13 == u) for u in range(13)}


def test_a_bad_setting_shows_before_anything_runs() -> None:
    env = environment("spark", 1, **{"state.backend.type": "heap"})
    counted(env).discard()
    with pytest.raises(ValueError, match=r"state\.backend\.type must be hashmap or rocksdb"):
        env.execute()
