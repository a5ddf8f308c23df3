"""The client of a started job: status, cancellation, result, collected elements."""

import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamExecutionEnvironment, col
from penstock.common import JobClient, JobExecutionResult, JobStatus
from penstock.connectors.datagen import DataGen
from penstock.datastream import DataStream
from penstock.errors import JobCancelledError, UserCodeError

pytestmark = pytest.mark.native


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


@pytest.fixture
def endless(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_generator(DataGen(rate=10_000).sequence("id"))


@pytest.fixture
def running(env: StreamExecutionEnvironment, endless: DataStream) -> Iterator[JobClient]:
    endless.discard()
    client = env.execute_async("Endless")
    yield client
    client.cancel().result(timeout=30)


def test_result_of_finished_job_names_it_and_counts_its_records(
    env: StreamExecutionEnvironment,
) -> None:
    env.from_collection(range(1000)).map(lambda x: x).discard()
    client = env.execute_async("Counting")
    result = client.get_job_execution_result().result()
    assert isinstance(result, JobExecutionResult)
    assert result.job_name == "Counting"
    assert result.get_job_id() == client.get_job_id()
    assert result.get_net_runtime() >= 0
    assert result.restored_checkpoint is None
    sink = [entry for entry in result.metrics if entry["name"] == "Sink: Discard"]
    assert sum(entry["records_in"] for entry in sink) == 1000
    assert client.status() is JobStatus.FINISHED


def test_status_becomes_finished_without_anybody_waiting(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).discard()
    client = env.execute_async("Watched")
    deadline = time.monotonic() + 30
    while client.get_job_status().result() is not JobStatus.FINISHED:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_execute_returns_the_result(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).discard()
    assert env.execute("One").job_name == "One"


def test_job_ids_differ_between_runs_without_checkpoints(env: StreamExecutionEnvironment) -> None:
    ids = set()
    for _ in range(2):
        env.from_collection([1]).discard()
        ids.add(env.execute("Same name").get_job_id())
    assert len(ids) == 2


def test_running_job_has_status_running_and_no_result_yet(running: JobClient) -> None:
    assert running.get_job_status().result() is JobStatus.RUNNING
    future = running.get_job_execution_result()
    assert not future.done()
    with pytest.raises(TimeoutError):
        future.result(timeout=0.01)
    assert running.wait(0.01) is False


def test_metrics_grow_while_the_job_runs(running: JobClient) -> None:
    deadline = time.monotonic() + 30
    while sum(entry["records_out"] for entry in running.metrics()) == 0:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_cancelled_job_ends_and_its_result_says_so(running: JobClient) -> None:
    assert running.cancel().result(timeout=30) is None
    assert running.status() is JobStatus.CANCELED
    with pytest.raises(JobCancelledError, match=r"'Endless'.* was cancelled"):
        running.get_job_execution_result().result()
    assert isinstance(running.get_job_execution_result().exception(), JobCancelledError)


def test_cancelling_a_finished_job_changes_nothing(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).discard()
    client = env.execute_async()
    client.result()
    client.cancel().result()
    assert client.status() is JobStatus.FINISHED


def test_cancel_ends_a_job_that_nobody_reads(endless: DataStream) -> None:
    # The collect sink waits for room in a queue that stays full.
    results = endless.execute_and_collect()
    next(results)
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 10


def test_limit_ends_an_endless_job(endless: DataStream) -> None:
    rows = endless.execute_and_collect(limit=5)
    assert len(rows) == 5


def test_failed_job_raises_and_has_status_failed(env: StreamExecutionEnvironment) -> None:
    env.from_collection([0]).map(lambda x: 1 / x).discard()
    client = env.execute_async()
    with pytest.raises(UserCodeError):
        client.result()
    assert client.status() is JobStatus.FAILED
    assert isinstance(client.get_job_execution_result().exception(), UserCodeError)


def test_collecting_a_failed_job_gives_the_results_before_and_then_the_failure(
    env: StreamExecutionEnvironment,
) -> None:
    env.set_parallelism(1).get_configuration().set_integer("penstock.batch-size", 1)
    results = env.from_collection([2, 1, 0]).map(lambda x: 2 / x).execute_and_collect()
    assert [next(results), next(results)] == [1.0, 2.0]
    with pytest.raises(UserCodeError):
        next(results)


def test_unknown_collector_is_named_with_those_that_exist(running: JobClient) -> None:
    with pytest.raises(KeyError, match="no collector 'x'"):
        running.collector("x")


def test_two_jobs_run_at_once(env: StreamExecutionEnvironment) -> None:
    first = env.from_collection(range(100)).execute_and_collect()
    second = env.from_collection(range(200)).execute_and_collect()
    assert (sum(second), sum(first)) == (sum(range(200)), sum(range(100)))


@pytest.mark.parametrize(
    ("function", "end"), [(lambda x: x, JobStatus.FINISHED), (lambda x: 1 / 0, JobStatus.FAILED)]
)
def test_status_that_is_polled_reaches_the_end(
    env: StreamExecutionEnvironment, function: Any, end: JobStatus
) -> None:
    env.from_collection([1]).map(function).discard()
    client = env.execute_async()
    deadline = time.monotonic() + 30
    while not client.get_job_status().result().is_terminal_state():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert client.get_job_status().result() is end


def test_a_collection_that_could_not_start_is_no_part_of_the_next_job(
    env: StreamExecutionEnvironment,
) -> None:
    # Left in the graph, its sink would fill up and stop the job, as nobody reads it.
    stream = env.from_generator(DataGen(count=1_000_000).sequence("id")).uid("same")
    kept = stream.filter(col("id") >= 0).uid("same")
    with pytest.raises(ValueError, match="the uid 'same' is used by two operators"):
        kept.execute_and_collect()
    kept.uid("another")
    kept.discard()
    client = env.execute_async()
    ended = client.wait(60)
    client.cancel().result()
    assert ended


def test_a_result_iterator_that_is_dropped_cancels_its_job() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    results = env.from_generator(DataGen().sequence("id")).execute_and_collect()
    next(results)
    before = threading_count()
    del results
    gc.collect()
    deadline = time.monotonic() + 30
    while threading_count() >= before:
        assert time.monotonic() < deadline, "the tasks of the dropped job still run"
        time.sleep(0.01)


def threading_count() -> int:
    """The threads of this process, native ones too."""
    return len(list(Path("/proc/self/task").iterdir()))
