"""Windows on Spark: the same as in one process, and as DuckDB says where its rules are the same."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.datastream import DataStream, OutputTag, TumblingEventTimeWindows

from .conftest import environment

pytestmark = pytest.mark.spark

ROWS = 30_000
WINDOWS = TumblingEventTimeWindows.of(Time.seconds(30))


def clicks(late: bool) -> pa.Table:
    """Out-of-order rows with strings and nulls; with ``late`` some are two minutes behind."""
    random = np.random.default_rng(5)
    times = np.arange(ROWS) * 10 - random.integers(0, 900, ROWS)
    if late:
        times -= np.where(random.random(ROWS) < 0.02, 120_000, 0)
    numbers = random.integers(0, 40, ROWS)
    return pa.table(
        {
            "ts": pa.array(times + 1_000_000, pa.timestamp("ms")),
            "user": [None if n == 0 else f"user {n}" for n in numbers],
            "price": pa.array(random.random(ROWS), mask=random.random(ROWS) < 0.1),
            "n": random.integers(-100, 100, ROWS),
        }
    )


ON_TIME, WITH_LATE = clicks(late=False), clicks(late=True)


def timed(stream: DataStream) -> DataStream:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_column("ts"))


def sliced(stream: DataStream) -> DataStream:
    windows = timed(stream).key_by("user").window(WINDOWS)
    return windows.aggregate(F.count(), F.sum("n"), F.min("price"), F.max("user"))


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_built_in_aggregates_by_a_string_key_with_nulls(
    run_on_spark: Any, parallelism: int
) -> None:
    found = run_on_spark(lambda env: sliced(env.from_arrow(ON_TIME)), parallelism)
    clicks = ON_TIME  # read by DuckDB
    expected = duckdb.sql(
        """
        select user, time_bucket(interval 30 seconds, ts) as start, start + interval 30 seconds,
               count(*), sum(n)::bigint, min(price), max(user)
        from clicks group by all
        """
    ).fetchall()
    assert clicks.num_rows == ROWS
    assert [tuple(row) for row in found] == sorted(expected, key=repr)


def test_a_python_reduce_by_a_function_key(run_on_spark: Any) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        pairs = timed(env.from_arrow(ON_TIME)).map(lambda row: (row.user, row.n))
        windows = pairs.key_by(lambda pair: pair[0]).window(WINDOWS)
        return windows.reduce(lambda one, other: (one[0], one[1] + other[1]))

    clicks = ON_TIME
    expected = duckdb.sql(
        "select user, sum(n)::bigint from clicks group by user, time_bucket(interval 30 seconds, ts)"
    ).fetchall()
    assert clicks.num_rows == ROWS
    assert run_on_spark(program) == sorted(expected, key=repr)


def test_a_python_reduce_by_key_columns(run_on_spark: Any) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        windows = timed(env.from_arrow(ON_TIME)).key_by("user").window(WINDOWS)
        return windows.max("n").map(lambda row: (row.user, row.n))

    clicks = ON_TIME
    expected = duckdb.sql(
        "select user, max(n) from clicks group by user, time_bucket(interval 30 seconds, ts)"
    ).fetchall()
    assert clicks.num_rows == ROWS
    assert run_on_spark(program) == sorted(expected, key=repr)


def test_windows_over_all_rows(run_on_spark: Any) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        windows = timed(env.from_arrow(ON_TIME)).window_all(WINDOWS)
        return windows.aggregate(F.count(), F.avg("n"))

    assert sum(row["count"] for row in run_on_spark(program)) == ROWS


def test_a_union_of_streams_before_windows(run_on_spark: Any) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        half = ROWS // 2
        parts = [env.from_arrow(ON_TIME.slice(0, half)), env.from_arrow(ON_TIME.slice(half))]
        windows = timed(parts[0]).union(timed(parts[1])).key_by("user").window(WINDOWS)
        return windows.aggregate(F.count(), F.sum("n"))

    # The parts are of different times: without combined watermarks the earlier one would be late.
    assert sum(row["count"] for row in run_on_spark(program)) == ROWS


def test_no_rows_before_windows(run_on_spark: Any) -> None:
    assert run_on_spark(lambda env: sliced(env.from_arrow(ON_TIME.slice(0, 0))), 3) == []


def test_late_rows_are_dropped_and_counted(spark: SparkSession) -> None:
    """With one source subtask the order is given, and so is what is late."""
    results: dict[str, Any] = {}
    for target in ("local", "spark"):
        env = environment(target, 2)
        source = env.from_arrow(WITH_LATE)
        source.set_parallelism(1)
        timed_rows = timed(source).set_parallelism(1)
        windows = timed_rows.key_by("user").window(WINDOWS)
        rows: list[Any] = []
        with windows.aggregate(F.count(), F.sum("n")).execute_and_collect() as found:
            rows = sorted(found, key=repr)
        results[target] = rows
    assert results["spark"] == results["local"]
    kept = sum(row["count"] for row in results["spark"])
    assert 0 < ROWS - kept < ROWS * 0.03


def test_metrics_are_those_of_the_run_in_one_process(spark: SparkSession) -> None:
    found: dict[str, Any] = {}
    for target in ("local", "spark"):
        env = environment(target, 2)
        source = env.from_arrow(WITH_LATE)
        source.set_parallelism(1)
        timed(source).set_parallelism(1).key_by("user").window(WINDOWS).sum("n").uid(
            "sum"
        ).discard()
        result = env.execute("Late")
        assert result.job_name == "Late"
        found[target] = [{**entry, "current_watermark": None} for entry in result.metrics]
        found[target].sort(key=lambda entry: (entry["vertex"], entry["subtask"], entry["uid"]))
    assert found["spark"] == found["local"]
    window = [entry for entry in found["spark"] if entry["uid"] == "sum"]
    assert sum(entry["records_in"] for entry in window) == ROWS
    assert 0 < sum(entry["late_records_dropped"] for entry in window) < ROWS * 0.03


@pytest.mark.parametrize("general", [False, True], ids=["sliced", "general"])
def test_late_rows_go_to_the_side_output(spark: SparkSession, general: bool) -> None:
    tag = OutputTag("late")
    found: dict[str, Any] = {}
    for target in ("local", "spark"):
        env = environment(target, 2)
        source = env.from_arrow(WITH_LATE)
        source.set_parallelism(1)
        windows = timed(source).set_parallelism(1).key_by("user").window(WINDOWS)
        windows = windows.side_output_late_data(tag)
        result = windows.sum("n") if general else windows.aggregate(F.sum("n"))
        with result.get_side_output(tag).execute_and_collect() as late:
            found[target] = sorted(late, key=repr)
    assert found["spark"] == found["local"]
    late_times = {row.ts for row in found["spark"]}
    assert late_times <= set(WITH_LATE["ts"].to_pylist())
    assert 0 < len(found["spark"]) < ROWS * 0.03


def test_keys_go_by_the_max_parallelism_of_the_window(run_on_spark: Any) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        return sliced(env.from_arrow(ON_TIME)).set_max_parallelism(7)

    assert run_on_spark(program, 3)
