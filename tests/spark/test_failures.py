"""What goes wrong on Spark arrives as it would in one process."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock import Configuration, StreamExecutionEnvironment, col
from penstock.common import JobStatus
from penstock.connectors.datagen import DataGen
from penstock.errors import JobCancelledError, PenstockError, UserCodeError
from penstock.runtime.spark import spark_job
from penstock.runtime.spark.acknowledgements import MixedAttemptsError
from penstock.runtime.spark.session import resolve_session
from penstock.spark import from_dataframe, set_session

from .conftest import environment

pytestmark = pytest.mark.spark


def failure_of(env: StreamExecutionEnvironment) -> Exception:
    with pytest.raises(Exception) as failure:  # noqa: PT011
        env.execute()
    assert isinstance(failure.value, Exception)
    return failure.value


def test_an_error_in_a_lambda_is_the_same_error(spark: SparkSession) -> None:
    failures = {}
    for target in ("local", "spark"):
        env = environment(target, 2)
        numbers = env.from_collection(range(20000)).rebalance()
        numbers.map(lambda n: 1 // (n - 12345)).name("Divide").uid("divide").discard()
        failures[target] = failure_of(env)
    found, local = failures["spark"], failures["local"]
    assert type(found) is type(local) is UserCodeError
    assert str(found).startswith(str(local).splitlines()[0][:40])
    for text in ("Divide", "divide", "12345", "ZeroDivisionError", "1 // (n - 12345)", "Traceback"):
        assert text in str(found), text
    assert isinstance(found.__cause__, ZeroDivisionError)
    assert isinstance(local, UserCodeError)
    assert (found.operator, found.record) == (local.operator, local.record) == ("Divide", "12345")
    assert found.subtask == local.subtask
    assert "Py4J" not in str(found)
    assert "py4j" not in str(found)


def test_an_error_that_is_not_of_a_function_keeps_its_type(spark: SparkSession) -> None:
    env = environment("spark", 2)
    env.from_collection([1, "a"]).key_by(lambda x: object()).map(lambda x: x).discard()
    local = environment("local", 2)
    local.from_collection([1, "a"]).key_by(lambda x: object()).map(lambda x: x).discard()
    assert type(failure_of(env)) is type(failure_of(local))


def test_an_error_of_a_class_that_does_not_pickle_keeps_its_text(spark: SparkSession) -> None:
    class Strange(Exception):
        def __init__(self, lock: Any) -> None:
            super().__init__("strange")
            self.lock = lock

    def fail(value: Any) -> Any:
        raise Strange(threading.Lock())

    env = environment("spark", 1)
    env.from_collection([1]).map(fail).discard()
    found = failure_of(env)
    assert isinstance(found, PenstockError)
    assert "strange" in str(found)


def test_a_function_that_does_not_pickle_is_refused(spark: SparkSession) -> None:
    lock = threading.Lock()
    env = environment("spark", 1)
    env.from_collection([1]).map(lambda x: lock).discard()
    found = failure_of(env)
    assert isinstance(found, TypeError)
    assert "cannot be sent to the executors" in str(found)


def test_a_cancelled_job_ends_at_once(spark: SparkSession) -> None:
    env = environment("spark", 1)
    env.from_collection(range(100)).map(lambda x: __import__("time").sleep(3)).discard()
    client = env.execute_async("Sleepy")
    while not spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.05)
    assert client.get_job_status().result() is JobStatus.RUNNING
    started = time.monotonic()
    client.cancel().result()
    assert time.monotonic() - started < 20
    assert client.get_job_status().result() is JobStatus.CANCELED
    with pytest.raises(JobCancelledError, match="Sleepy"):
        client.result()


def test_a_job_cancelled_before_it_began_does_not_run(spark: SparkSession) -> None:
    env = environment("spark", 1)
    env.from_collection(range(100)).map(lambda x: __import__("time").sleep(3)).discard()
    client = env.execute_async()
    client.cancel().result()
    assert client.get_job_status().result() is JobStatus.CANCELED


def test_mixed_attempts_make_the_job_run_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    verify = spark_job.verify

    def once_mixed(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise MixedAttemptsError("mixed")
        return verify(*arguments)

    monkeypatch.setattr(spark_job, "verify", once_mixed)
    with environment("spark", 1).from_collection([1, 2]).execute_and_collect() as found:
        assert sorted(found) == [1, 2]
    assert len(calls) == 2


def test_what_spark_cannot_do_yet_is_refused_at_the_start(
    spark: SparkSession, tmp_path: Any
) -> None:
    env = environment("spark", 1)
    env.from_generator(DataGen().sequence("id")).discard()
    with pytest.raises(NotImplementedError, match=r"'Source: Generator' has no end.*bounded"):
        env.execute()
    env = environment("spark", 1)
    env.enable_checkpointing(1000, storage_dir=str(tmp_path))
    env.from_collection([1]).discard()
    with pytest.raises(NotImplementedError, match=r"checkpoints are not taken with .* spark"):
        env.execute()


def test_a_missing_pyspark_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    env = environment("spark", 1)
    env.from_collection([1]).discard()
    with pytest.raises(ImportError, match=r"pip install 'penstock\[spark\]'"):
        env.execute()


def test_a_dataframe_needs_spark(spark: SparkSession) -> None:
    env = environment("local", 1)
    from_dataframe(env, spark.range(1)).discard()
    with pytest.raises(
        NotImplementedError, match=r"execution.target local; .*from_arrow\(df.toArrow"
    ):
        env.execute()


def test_there_is_one_session_unless_another_is_set(spark: SparkSession) -> None:
    assert resolve_session(Configuration()) is not None
    with pytest.raises(ValueError, match=r"master is 'local\[7\]', but .* on 'local\[2\]'"):
        resolve_session(Configuration({"penstock.spark.master": "local[7]"}))
    other = spark.newSession()
    set_session(other)
    try:
        assert resolve_session(Configuration()) is other
    finally:
        set_session(None)
    assert resolve_session(Configuration(), [other.range(1)]) is other


def test_settings_of_the_users_session_stay_as_they_are(spark: SparkSession) -> None:
    with environment("spark", 1).from_collection([1]).execute_and_collect() as found:
        assert list(found) == [1]
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"


def test_an_unknown_collector_is_a_key_error(spark: SparkSession) -> None:
    env = environment("spark", 1)
    env.from_collection([1]).discard()
    client = env.execute_async()
    with pytest.raises(KeyError, match="no collector 'x'"):
        client.collector("x")
    client.result()


def test_sinks_run_on_the_executors(spark: SparkSession, tmp_path: Any) -> None:
    env = environment("spark", 2)
    folder = str(tmp_path)

    def write(batch: Any) -> None:
        import os
        import uuid

        from pyarrow import parquet

        parquet.write_table(
            __import__("pyarrow").Table.from_batches([batch]),
            os.path.join(folder, f"{uuid.uuid4()}.parquet"),
        )

    rows = env.from_generator(DataGen(count=20000).sequence("id"))
    rows.for_each_batch(write)
    rows.filter(col("id") < 3).print()
    result = env.execute()
    assert sorted(row.id for row in spark.read.parquet(folder).collect()) == list(range(20000))
    assert result.total("records_in") == 20000 + 20000 + 3
