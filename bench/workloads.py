"""The jobs that are measured, each with DuckDB's answer to the same question on the same rows.

A workload makes its input once; ``stream()`` runs the job and ``batch()`` asks DuckDB, as often as the caller likes.
Both return a Timing; ``check()`` compares the last answers and raises AssertionError when they differ.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock import Duration, StreamExecutionEnvironment, Time, Types, WatermarkStrategy, col
from penstock import functions as F
from penstock.datastream import DataStream, TumblingEventTimeWindows

__all__ = ["THREADS", "WORKLOADS", "Timing", "Workload"]

THREADS = len(os.sched_getaffinity(0))
START_MS = 1_800_000_000_000
DISORDER_MS = 500
_CHUNK = 1 << 20  # rows per record batch: enough of them for DuckDB's threads


class Timing:
    """Seconds by the clock, and of all cores together."""

    def __init__(self) -> None:
        self._began, self._cpu_began = time.perf_counter(), time.process_time()
        self.seconds = self.cpu_seconds = 0.0

    def stop(self) -> Timing:
        self.seconds = time.perf_counter() - self._began
        self.cpu_seconds = time.process_time() - self._cpu_began
        return self


class Workload(ABC):
    """``target`` is in rows per second, for ``full_rows`` rows; ``least_ratio`` of DuckDB's speed."""

    name: str
    question: str
    full_rows: int
    target: float | None = None
    least_ratio: float | None = None

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.duckdb = duckdb.connect()
        self.duckdb.execute(f"SET threads = {THREADS}")

    @abstractmethod
    def stream(self) -> Timing: ...
    @abstractmethod
    def batch(self) -> Timing: ...
    @abstractmethod
    def check(self) -> None: ...


def events(rows: int, keys: int, step_ms: float) -> pa.Table:
    """Rows of (ts, key, value), up to DISORDER_MS out of order."""
    random = np.random.default_rng(rows)
    ts = START_MS + np.floor(np.arange(rows) * step_ms).astype(np.int64)
    ts -= random.integers(0, DISORDER_MS + 1, rows)
    table = pa.table(
        {
            "ts": pa.array(ts, pa.timestamp("ms")),
            "key": random.integers(0, keys, rows),
            "value": random.integers(-1_000, 1_000, rows),
        }
    )
    return pa.Table.from_batches(table.to_batches(max_chunksize=_CHUNK))


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(THREADS)


def execute(env: StreamExecutionEnvironment) -> tuple[Timing, Any]:
    """From the finished program to the end of the job: planning and starting count."""
    timing = Timing()
    result = env.execute()
    return timing.stop(), result


class TumblingWindow(Workload):
    """count and sum per key in windows of 10 s."""

    def __init__(self, rows: int, keys: int, windows: int) -> None:
        super().__init__(rows)
        self._input = events(rows, keys, windows * 10_000 / rows)
        # Its own table and whole milliseconds are what DuckDB is fastest with.
        self.duckdb.register("arrow_events", self._input)
        self.duckdb.execute(
            "CREATE TABLE events AS SELECT epoch_ms(ts) AS ms, key, value FROM arrow_events"
        )
        self._found: Any = None
        self._expected: Any = None

    def stream(self) -> Timing:
        env = environment()
        batches: list[pa.RecordBatch] = []
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER_MS))
        stream = (
            env.from_arrow(self._input)
            .assign_timestamps_and_watermarks(strategy.with_timestamp_column("ts"))
            .key_by("key")
            .window(TumblingEventTimeWindows.of(Time.seconds(10)))
            .aggregate(F.count().alias("n"), F.sum("value").alias("total"))
        )
        stream.for_each_batch(batches.append)
        timing, result = execute(env)
        assert result.total("late_records_dropped") == 0
        self._found = pa.Table.from_batches(batches, stream.get_schema())
        return timing

    def batch(self) -> Timing:
        timing = Timing()
        self._expected = self.duckdb.sql(
            "SELECT key, ms // 10_000 AS number, count(*) AS n, sum(value)::BIGINT AS total "
            "FROM events GROUP BY ALL"
        ).to_arrow_table()
        return timing.stop()

    def check(self) -> None:
        numbers = pc.divide(self._found["window_start"].cast(pa.int64()), 10_000)
        found = self._found.append_column("number", numbers)
        self.duckdb.register("found", found.select(["key", "number", "n", "total"]))
        self.duckdb.register("expected", self._expected)
        assert found.num_rows == self._expected.num_rows
        for one, other in (("found", "expected"), ("expected", "found")):
            sql = f"SELECT count(*) FROM (SELECT * FROM {one} EXCEPT ALL SELECT * FROM {other})"
            assert self.duckdb.sql(sql).fetchall() == [(0,)], f"{one} has windows {other} has not"


class TenThousandKeys(TumblingWindow):
    name = "window, 10 k keys"
    question = "tumbling 10 s, count and sum, int keys"
    full_rows = 20_000_000
    target = 25e6
    least_ratio = 1 / 3

    def __init__(self, rows: int) -> None:
        super().__init__(rows, keys=10_000, windows=20)


class FiveMillionKeys(TumblingWindow):
    name = "window, 5 M keys"
    question = "the same with 5 M int keys"
    full_rows = 20_000_000
    target = 6e6

    def __init__(self, rows: int) -> None:
        super().__init__(rows, keys=max(1, rows // 4), windows=2)


class PassThrough(Workload):
    """All rows from memory to a sink that drops them; DuckDB copies them into a new Arrow table."""

    full_rows = 100_000_000
    target = 100e6

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        # One table over and over: the engine does not know, and 100 M rows need not fit.
        self._repeats = max(1, rows // 10_000_000)
        once = events(rows // self._repeats, 10_000, 0.01)
        self._input = pa.concat_tables([once] * self._repeats)
        self.rows = self._input.num_rows
        self.duckdb.register("events", self._input)
        self._found = self._expected = -1

    @abstractmethod
    def connect(self, stream: DataStream) -> DataStream: ...

    def stream(self) -> Timing:
        env = environment()
        self.connect(env.from_arrow(self._input)).discard()
        timing, result = execute(env)
        self._found = sum(
            m["records_in"] for m in result.metrics if m["name"].startswith("Sink: Discard")
        )
        return timing

    def batch(self) -> Timing:
        timing = Timing()
        self._expected = sum(
            batch.num_rows
            for batch in self.duckdb.sql("SELECT * FROM events").to_arrow_reader(_CHUNK)
        )
        return timing.stop()

    def check(self) -> None:
        assert self._found == self._expected == self.rows


class Chained(PassThrough):
    name = "pass-through"
    question = "source to sink in one task"

    def connect(self, stream: DataStream) -> DataStream:
        return stream


class Exchanged(PassThrough):
    name = "pass-through, rebalance"
    question = "source to sink through an exchange"

    def connect(self, stream: DataStream) -> DataStream:
        return stream.rebalance()


class HashExchanged(PassThrough):
    name = "pass-through, hash"
    question = "source to sink, each row by its key"
    target = None

    def connect(self, stream: DataStream) -> DataStream:
        return stream.key_by("key")


class LambdaMap(Workload):
    """A Python lambda per row; DuckDB's is a Python scalar function, also called per row."""

    name = "map, Python lambda"
    question = "x -> 3 * x + 1 over Python ints"
    full_rows = 5_000_000
    target = 2e6

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self._input = events(rows, 10_000, 1).select(["value"])
        self._values = self._input["value"].to_pylist()
        self.duckdb.register("events", self._input)
        self.duckdb.create_function("f", lambda x: 3 * x + 1, ["BIGINT"], "BIGINT")
        self._expected = -1

    def mapped(self, env: StreamExecutionEnvironment) -> DataStream:
        return env.from_collection(self._values).map(lambda x: 3 * x + 1, Types.LONG())

    def stream(self) -> Timing:
        env = environment()
        self.mapped(env).discard()
        return execute(env)[0]

    def batch(self) -> Timing:
        timing = Timing()
        self._expected = int(self.duckdb.sql("SELECT sum(f(value)) FROM events").fetchall()[0][0])
        return timing.stop()

    def check(self) -> None:
        """The sum over all results of the same program; the measured run drops them."""
        env = environment()
        sums: list[int] = []
        self.mapped(env).for_each_batch(lambda batch: sums.append(pc.sum(batch.column(0)).as_py()))
        env.execute()
        assert sum(sums) == self._expected


class LambdaMapOfColumns(LambdaMap):
    name = "map, lambda on columns"
    question = "row -> 3 * row.value + 1, rows from Arrow"
    target = None

    def mapped(self, env: StreamExecutionEnvironment) -> DataStream:
        return env.from_arrow(self._input).map(lambda row: 3 * row.value + 1, Types.LONG())


class ExpressionMap(LambdaMap):
    name = "map, column expression"
    question = "col('value') * 3 + 1 over Arrow"
    full_rows = 50_000_000
    target = None

    def mapped(self, env: StreamExecutionEnvironment) -> DataStream:
        return env.from_arrow(self._input).map((col("value") * 3 + 1).alias("result"))

    def batch(self) -> Timing:
        timing = Timing()
        sql = "SELECT sum(value * 3 + 1) FROM events"
        self._expected = int(self.duckdb.sql(sql).fetchall()[0][0])
        return timing.stop()


WORKLOADS: list[type[Workload]] = [
    TenThousandKeys,
    FiveMillionKeys,
    Chained,
    Exchanged,
    HashExchanged,
    LambdaMap,
    LambdaMapOfColumns,
    ExpressionMap,
]
