"""A job outlives the loss of an executor, and its answer stays the same."""

from __future__ import annotations

import os
import signal
import time

import pytest
from pyspark.sql import SparkSession

from penstock import Configuration, Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import DataStream, TumblingEventTimeWindows

from .cluster import Cluster, executor_pid, finished_tasks

pytestmark = [pytest.mark.spark_cluster, pytest.mark.slow, pytest.mark.faults]

ROWS = 400_000


def program(target: str, rate: float | None) -> DataStream:
    configuration = Configuration({"execution.target": target})
    env = StreamExecutionEnvironment(configuration).set_parallelism(2)
    rows = (
        DataGen(count=ROWS, seed=8, rate=rate)
        .timestamp("ts", step=10, disorder=500)
        .string("k", "key ", 50)
        .int("v", 0, 1000)
    )
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    stream = env.from_generator(rows, strategy.with_timestamp_column("ts"))
    windows = stream.key_by("k").window(TumblingEventTimeWindows.of(Time.minutes(5)))
    return windows.aggregate(F.count(), F.sum("v"))


def test_the_answer_is_the_same_when_an_executor_is_killed(
    spark: SparkSession, cluster: Cluster
) -> None:
    expected = sorted(program("local", None).execute_and_collect(), key=repr)
    before = set(finished_tasks(spark))
    results = program("spark", ROWS / 8).execute_and_collect()
    while not spark.sparkContext.statusTracker().getActiveStageIds():
        time.sleep(0.1)
    time.sleep(3)
    os.kill(executor_pid(cluster), signal.SIGKILL)
    assert sorted(results, key=repr) == expected
    assert sum(row["count"] for row in expected) == ROWS
    # Its worker has started another one, or will.
    deadline = time.monotonic() + 60
    while set(finished_tasks(spark)) <= before and time.monotonic() < deadline:
        time.sleep(0.2)
    assert set(finished_tasks(spark)) - before
