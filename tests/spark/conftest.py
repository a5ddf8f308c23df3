"""A Spark in this process for all tests of the folder, and programs that run on it and without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock import Configuration, StreamExecutionEnvironment
from penstock.datastream import DataStream
from penstock.runtime.spark.session import QUIET_OPTION, resolve_session

Program = Callable[[StreamExecutionEnvironment], DataStream]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {
        "penstock.spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        # Many small queries: compiling costs more than it brings.
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": f"{QUIET_OPTION} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    session = resolve_session(Configuration(settings))
    yield session
    session.stop()


def environment(target: str, parallelism: int, **settings: Any) -> StreamExecutionEnvironment:
    configuration = Configuration({"execution.target": target, **settings})
    return StreamExecutionEnvironment(configuration).set_parallelism(parallelism)


def collected(target: str, program: Program, parallelism: int) -> list[Any]:
    """What the program's stream has, sorted."""
    with program(environment(target, parallelism)).execute_and_collect() as results:
        return sorted(results, key=repr)


@pytest.fixture
def run_on_spark(spark: SparkSession) -> Callable[..., list[Any]]:
    """The results of a program on Spark, which must be those of the same program in one process."""

    def run(program: Program, parallelism: int = 2) -> list[Any]:
        on_spark = collected("spark", program, parallelism)
        assert on_spark == collected("local", program, parallelism)
        return on_spark

    return run
