"""How user code lives in the core: threads, references, cancellation."""

from __future__ import annotations

import decimal
import gc
import itertools
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from penstock._core import operators, source
from penstock._core.columnar import Batch
from penstock._core.operators import Operator
from penstock._core.task import LocalJob

pytestmark = pytest.mark.native


class Record:
    def __init__(self, value: int) -> None:
        self.value = value


def job_of(items: list[Any], *chain: Operator, batch_rows: int = 2) -> LocalJob:
    """One subtask: a collection, the operators."""
    job = LocalJob()
    vertex = job.add_vertex("v", 1, 128)
    job.add_source(vertex, 0, source.collection(source.ObjectTable(items), batch_rows), "s", "s")
    for number, operator in enumerate(chain):
        job.add_operator(vertex, 0, operator, f"Op{number}", f"uid-{number}", number)
    return job


def run(job: LocalJob) -> None:
    job.start()
    assert job.wait(60_000)
    job.raise_failure()


def test_thread_locals_and_contexts_last_from_batch_to_batch() -> None:
    local = threading.local()
    threads, counts, precisions = set(), [], []

    def function(value: int) -> int:
        local.count = getattr(local, "count", 0) + 1
        counts.append(local.count)
        threads.add(threading.get_ident())
        precisions.append(decimal.getcontext().prec)
        decimal.getcontext().prec = 50
        return value

    run(job_of(list(range(6)), operators.map(function), operators.discard_sink()))
    assert counts == [1, 2, 3, 4, 5, 6]
    assert precisions[1:] == [50] * 5
    assert threads != {threading.get_ident()}
    assert decimal.getcontext().prec != 50


def test_no_thread_state_is_left_behind_when_a_task_ends() -> None:
    frames = len(sys._current_frames())
    for _ in range(5):
        run(job_of([1, 2], operators.map(str), operators.discard_sink()))
    assert len(sys._current_frames()) == frames


def operators_over_records() -> list[Operator]:
    return [
        operators.filter(lambda record: record.value % 3 != 0),
        operators.flat_map(lambda record: [record, Record(record.value)]),
        operators.map(lambda record: Record(record.value + 1)),
        operators.timestamps(None, lambda record, _: record.value, 0, None, 5, 200),
        operators.key_selector(None, lambda record: record.value % 2),
        operators.general_window(10, 0, 0, ("reduce", lambda a, _: a), None, False, None),
    ]


def alive() -> int:
    gc.collect()
    return sum(isinstance(thing, Record) for thing in gc.get_objects())


def test_no_record_outlives_its_job() -> None:
    before = alive()
    queue = operators.ResultQueue()
    job = job_of(
        [Record(i) for i in range(100)], *operators_over_records(), operators.collect_sink(queue)
    )
    run(job)
    results = []
    while batch := queue.pop(1000):
        results += batch
    assert len(results) > 0
    del results, batch, job, queue
    assert alive() == before


def test_no_record_is_left_after_a_failure(chain: Any) -> None:
    def fail(record: Record) -> Record:
        if record.value == 7:
            raise ValueError
        return Record(record.value)

    before = alive()
    makers = [
        lambda: [operators.map(fail)],
        lambda: [operators.filter(fail)],
        lambda: [operators.flat_map(lambda r: [fail(r)])],
        lambda: [operators.key_selector(None, lambda r: fail(r).value)],
        lambda: [operators.timestamps(None, lambda r, _: fail(r).value, 0, None, 5, 200)],
    ]
    for make in makers:
        out = chain(*make())
        with pytest.raises(RuntimeError):
            out.rows([Record(i) for i in range(10)])
        out.driver.close()
    del out
    assert alive() == before


def test_an_operator_lets_its_function_go() -> None:
    class Function:
        def __call__(self, value: Any) -> Any:
            return value

        def open(self, _: Any) -> None: ...
        def close(self) -> None: ...

    function = Function()
    gone = weakref.ref(function)
    made = [
        operators.map(function, [function]),
        operators.general_window(10, 0, 0, ("reduce", function), function, True, None, [function]),
        operators.key_selector(None, function),
        operators.timestamps(None, function, None, None, 1, 1),
        operators.function_sink(function),
        operators.arrow_map(function),
    ]
    del function
    assert gone() is not None
    made.clear()
    assert gone() is None


@pytest.mark.parametrize(
    "make",
    [
        lambda slow: operators.map(slow),
        lambda slow: operators.filter(slow),
        lambda slow: operators.flat_map(lambda v: [slow(v)]),
        lambda slow: operators.flat_map(lambda _: map(slow, itertools.count())),
        lambda slow: operators.key_selector(None, slow),
        lambda slow: operators.timestamps(None, lambda v, _: slow(v), None, None, 1, 1),
    ],
    ids=["map", "filter", "flat_map", "endless generator", "key_selector", "timestamps"],
)
def test_cancellation_does_not_wait_for_the_rest_of_a_batch(make: Any) -> None:
    started = threading.Event()

    def slow(value: int) -> int:
        started.set()
        time.sleep(0.01)
        return value

    job = job_of(list(range(8192)), make(slow), operators.discard_sink(), batch_rows=8192)
    job.start()
    assert started.wait(60)
    begin = time.monotonic()
    job.cancel()
    assert job.wait(60_000)
    assert time.monotonic() - begin < 20  # the batch itself would take 80 seconds
    assert job.state == "canceled"


def test_a_window_function_is_cancelled_between_two_records() -> None:
    started = threading.Event()

    def slow(a: int, b: int) -> int:
        started.set()
        time.sleep(0.01)
        return a + b

    chain = [
        operators.timestamps(None, lambda _, __: 1, None, None, 8192, 200),
        operators.general_window(10, 0, 0, ("reduce", slow), None, True, None),
        operators.discard_sink(),
    ]
    job = job_of(list(range(8192)), *chain, batch_rows=8192)
    job.start()
    assert started.wait(60)
    begin = time.monotonic()
    job.cancel()
    assert job.wait(60_000)
    assert time.monotonic() - begin < 20


def test_a_window_function_without_end_is_cancelled_between_two_results() -> None:
    started = threading.Event()

    def endless(*_: Any) -> Iterator[None]:
        started.set()
        return iter(lambda: time.sleep(0.01), "never")

    chain = [
        operators.timestamps(None, lambda _, __: 1, None, None, 8192, 200),
        operators.general_window(10, 0, 0, ("reduce", max), endless, True, None),
        operators.discard_sink(),
    ]
    job = job_of([1], *chain)
    job.start()
    assert started.wait(60)
    job.cancel()
    assert job.wait(20_000)
    assert job.state == "canceled"


def test_batches_can_be_dropped_on_a_thread_without_python_in_it() -> None:
    # The discard sink drops rows on the task's thread, which has never run Python code.
    records = [Record(i) for i in range(100)]
    gone = [weakref.ref(record) for record in records]
    job = job_of(records, operators.discard_sink())
    del records
    run(job)
    del job
    assert all(ref() is None for ref in gone)


def test_encoded_keys_travel_with_a_batch() -> None:
    batch = Batch.from_rows([1, 2, 3]).with_encoded_keys([b"a", b"", b"ccc"])
    assert batch.encoded_keys == [b"a", b"", b"ccc"]
    assert batch.slice(1, 2).encoded_keys == [b"", b"ccc"]
    assert batch.take([2, 0]).encoded_keys == [b"ccc", b"a"]
    assert batch.with_encoded_keys(None).encoded_keys is None
    with pytest.raises(ValueError, match="1 keys for 3 rows"):
        batch.with_encoded_keys([b"a"])
