"""Parts of the engine by themselves, with pytest-benchmark: ``pytest bench/test_parts.py``.

Each works on one batch of 8192 rows, the size that jobs use, and asserts its result against an answer from elsewhere.
``extra_info`` has the speed in rows per second.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import mmh3
import numpy as np
import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from penstock._core import operators, source
from penstock._core.columnar import Batch
from penstock._core.record import encode_columns, encode_key, hash_columns
from penstock._core.task import TaskDriver

ROWS = 8192
KEYS = 1_000

Measure = Callable[..., Any]


@pytest.fixture
def measure(benchmark: BenchmarkFixture) -> Measure:
    """Runs a function many times; its last result."""

    def run(function: Callable[..., Any], **options: Any) -> Any:
        if options:
            result = benchmark.pedantic(function, **options)
        else:
            result = benchmark(function)
        if benchmark.stats is not None:
            benchmark.extra_info["rows_per_second"] = round(ROWS / benchmark.stats.stats.median)
        return result

    return run


@pytest.fixture(scope="module")
def data() -> pa.RecordBatch:
    random = np.random.default_rng(1)
    keys = random.integers(0, KEYS, ROWS)
    return pa.record_batch(
        {
            "ts": pa.array(np.arange(ROWS, dtype=np.int64), pa.timestamp("ms")),
            "key": keys,
            "name": [f"campaign-{key}" for key in keys],
            "value": random.integers(-1_000, 1_000, ROWS),
        }
    )


@pytest.fixture(scope="module")
def batch(data: pa.RecordBatch) -> Batch:
    return Batch.from_arrow(data).with_timestamps(list(range(ROWS)))


def murmur(key: object) -> int:
    """The hash of a key's canonical bytes, computed by another library."""
    return mmh3.hash(encode_key(key), 0, signed=False)


@pytest.mark.parametrize("column", ["key", "name"])
def test_hash_keys(measure: Measure, data: pa.RecordBatch, batch: Batch, column: str) -> None:
    hashes = struct.unpack(f"<{ROWS}I", measure(lambda: hash_columns(batch, [column])))
    assert list(hashes[:50]) == [murmur(key) for key in data[column].to_pylist()[:50]]


def test_encode_keys(measure: Measure, data: pa.RecordBatch, batch: Batch) -> None:
    keys = measure(lambda: encode_columns(batch, ["name", "key"]))
    names, numbers = data["name"].to_pylist(), data["key"].to_pylist()
    assert keys == [encode_key(key) for key in zip(names, numbers, strict=True)]


def test_columns_to_rows(measure: Measure, data: pa.RecordBatch, batch: Batch) -> None:
    rows = measure(batch.to_rows)
    assert [tuple(row) for row in rows] == [tuple(row.values()) for row in data.to_pylist()]


def test_rows_to_columns(measure: Measure, data: pa.RecordBatch) -> None:
    rows = Batch.from_rows([tuple(row.values()) for row in data.to_pylist()])
    assert pa.record_batch(measure(lambda: rows.to_columns(data.schema))) == data


def test_arrow_in_and_out(measure: Measure, data: pa.RecordBatch) -> None:
    assert measure(lambda: pa.record_batch(Batch.from_arrow(data))) == data


@pytest.mark.parametrize("kind", ["rebalance", "hash", "broadcast"])
def test_partition(measure: Measure, data: pa.RecordBatch, batch: Batch, kind: str) -> None:
    driver = TaskDriver("task", 0, 1, 128, [0], now_ms=0)
    as_they_are = operators.timestamps(None, None, None, None, ROWS, 200)
    driver.add_operator(as_they_are, "Pass", "pass")
    driver.add_edge(0, None, kind, 2, ["key"] if kind == "hash" else None)
    driver.open()

    def send() -> list[Any]:
        driver.feed(0, ("batch", batch))
        return driver.take_output()

    sent = measure(send)
    rows = sum(len(element[1]) for _, _, element in sent)
    assert rows == (2 * ROWS if kind == "broadcast" else ROWS)
    if kind == "hash":
        groups = {key: murmur(key) % 128 * 2 // 128 for key in data["key"].to_pylist()}
        for _, target, (_, part) in sent:
            assert {groups[key] for key in pa.record_batch(part)["key"].to_pylist()} == {target}


def test_map_with_a_lambda(measure: Measure) -> None:
    driver = TaskDriver("task", 0, 1, 128, [0], now_ms=0)
    driver.add_operator(operators.map(lambda x: 3 * x + 1), "Map", "map")
    driver.add_edge(0, None, "forward", 1)
    driver.open()
    rows = Batch.from_rows(list(range(ROWS)))

    def send() -> list[Any]:
        driver.feed(0, ("batch", rows))
        return driver.take_output()

    ((_, _, (_, mapped)),) = measure(send)
    assert mapped.to_rows() == [3 * x + 1 for x in range(ROWS)]


@pytest.mark.parametrize("key", ["key", "name"])
@pytest.mark.parametrize("operator", ["local", "sliced"])
def test_window(
    measure: Measure, data: pa.RecordBatch, batch: Batch, operator: str, key: str
) -> None:
    """One batch into a window of its own, and the window's results out."""
    aggregates = [("count", None, "n"), ("sum", "value", "total")]
    arguments = ([key], ROWS, 0, aggregates, data.schema)

    def make() -> tuple[tuple[Any, ...], dict[str, Any]]:
        driver = TaskDriver("task", 0, 1, 128, [0], now_ms=0)
        if operator == "local":
            driver.add_operator(operators.local_window(*arguments, "error"), "Window", "window")
        else:
            sliced = operators.sliced_window(*arguments, False, "error", None)
            driver.add_operator(sliced, "Window", "window")
        driver.add_edge(0, None, "forward", 1)
        driver.open()
        return (driver,), {}

    def fire(driver: TaskDriver) -> list[Any]:
        driver.feed(0, ("batch", batch))
        driver.feed(0, ("watermark", ROWS - 1))
        return driver.take_output()

    sent = measure(fire, setup=make, rounds=200)
    ((_, _, (_, results)),) = [one for one in sent if one[2][0] == "batch"]
    expected: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for name, value in zip(data[key].to_pylist(), data["value"].to_pylist(), strict=True):
        expected[name][0] += 1
        expected[name][1] += value
    found = pa.record_batch(results)
    columns = [found[key], found[-2], found[-1]]
    assert {
        row[0]: [row[1], row[2]]
        for row in zip(*(column.to_pylist() for column in columns), strict=True)
    } == expected


def test_generate(measure: Measure) -> None:
    driver = TaskDriver("task", 0, 1, 128, now_ms=0)
    columns = [
        ("ts", "timestamp", {"start": 0, "step": 1.0, "disorder": 9, "late": 0, "late_fraction": 0.0}),
        ("key", "int", {"min": 0, "max": 9}),
    ]  # fmt: skip
    driver.add_source(source.generator(columns, None, 7, None, ROWS), "Source", "source")
    driver.add_edge(0, None, "forward", 1)
    driver.open()

    def poll() -> list[Any]:
        driver.poll()
        return driver.take_output()

    ((_, _, (_, made)),) = measure(poll)
    assert len(made) == ROWS
    assert set(pa.record_batch(made)["key"].to_pylist()) == set(range(10))
