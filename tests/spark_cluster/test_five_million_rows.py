"""Five million rows with strings, nulls and late ones, on two executors: Spark's answer, and that of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as S

from penstock import Configuration, Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.datastream import DataStream, OutputTag, TumblingEventTimeWindows
from penstock.spark import from_dataframe, to_dataframe

from .cluster import finished_tasks

pytestmark = [pytest.mark.spark_cluster, pytest.mark.slow]

ROWS = 5_000_000
KEYS = 1000
MINUTE = TumblingEventTimeWindows.of(Time.minutes(1))


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """A row per millisecond, up to two seconds out of order; one in a hundred is five minutes late."""
    random = np.random.default_rng(11)
    times = np.arange(ROWS) - random.integers(0, 2000, ROWS)
    times -= np.where(random.random(ROWS) < 0.01, 300_000, 0)
    names = pa.array([None, *(f"campaign {n}" for n in range(1, KEYS))])
    return pa.table(
        {
            "ts": pa.array(times + 1_700_000_000_000, pa.timestamp("ms")),
            "campaign": names.take(pa.array(random.integers(0, KEYS, ROWS))),
            "price": pa.array(random.integers(0, 10_000, ROWS), mask=random.random(ROWS) < 0.05),
            "page": pc.cast(pa.array(random.integers(0, 500, ROWS)), pa.string()),
        }
    )


@pytest.fixture(scope="module")
def folder(rows: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same rows as Parquet files."""
    path: Path = tmp_path_factory.mktemp("rows")
    part = ROWS // 5
    for number in range(5):
        pq.write_table(rows.slice(number * part, part), path / f"part-{number}.parquet")
    return str(path)


def environment(target: str) -> StreamExecutionEnvironment:
    configuration = Configuration({"execution.target": target})
    return StreamExecutionEnvironment(configuration).set_parallelism(2)


def timed(stream: DataStream, delay: Duration) -> DataStream:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(delay)
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_column("ts"))


def in_order(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=repr)


def test_windows_are_sparks_own_where_nothing_is_late(spark: SparkSession, folder: str) -> None:
    before = finished_tasks(spark)
    clicks = spark.read.parquet(folder)
    stream = timed(from_dataframe(environment("spark"), clicks), Duration.of_days(1))
    windows = stream.key_by("campaign").window(MINUTE)
    calls = (F.count(), F.count("price"), F.sum("price"), F.min("page"), F.max("price"))
    found = in_order(to_dataframe(windows.aggregate(*calls)).toArrow())
    took_part = {k for k, done in finished_tasks(spark).items() if done > before.get(k, 0)}

    grouped = clicks.groupBy("campaign", S.window("ts", "1 minute").alias("w")).agg(
        S.count("*"), S.count("price"), S.sum("price"), S.min("page"), S.max("price")
    )
    expected = grouped.select("campaign", "w.start", "w.end", *grouped.columns[2:])
    assert found == in_order(expected.toArrow())
    assert sum(row[3] for row in found) == ROWS
    assert len(took_part) == 2


def test_windows_and_late_rows_are_those_of_one_process(
    spark: SparkSession, rows: pa.Table
) -> None:
    """One source subtask: what is late depends on the order of the rows, which is given then."""
    late = OutputTag("late")
    found: dict[str, tuple[list[Any], int, int]] = {}
    before = finished_tasks(spark)
    for target in ("local", "spark"):
        env = environment(target)
        source = env.from_arrow(rows)
        source.set_parallelism(1)
        stream = timed(source, Duration.of_seconds(2)).set_parallelism(1)
        windows = stream.key_by("campaign").window(MINUTE).side_output_late_data(late)
        results = windows.aggregate(F.count(), F.sum("price"), F.max("page"))
        results.get_side_output(late).discard().uid("late")
        with results.execute_and_collect() as collected:
            answers = sorted(collected, key=repr)
        found[target] = answers
    took_part = {k for k, done in finished_tasks(spark).items() if done > before.get(k, 0)}
    assert found["spark"] == found["local"]
    dropped = ROWS - sum(row["count"] for row in found["spark"])
    assert ROWS * 0.009 < dropped < ROWS * 0.011
    assert len(took_part) == 2


def test_pre_aggregated_windows_drop_the_same_late_rows(
    spark: SparkSession, rows: pa.Table
) -> None:
    found: dict[str, Any] = {}
    for target in ("local", "spark"):
        env = environment(target)
        source = env.from_arrow(rows)
        source.set_parallelism(1)
        stream = timed(source, Duration.of_seconds(2)).set_parallelism(1)
        windows = stream.key_by("campaign").window(MINUTE)
        windows.aggregate(F.count(), F.avg("price")).uid("windows").discard()
        result = env.execute()
        totals = ("records_in", "records_out", "late_records_dropped", "windows_fired")
        found[target] = {metric: result.total(metric) for metric in totals}
    assert found["spark"] == found["local"]
    assert ROWS * 0.009 < found["spark"]["late_records_dropped"] < ROWS * 0.011
