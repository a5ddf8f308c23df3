"""A whole job with Python state: value(), update() and one event-time timer per row, its results checked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from penstock import StreamExecutionEnvironment, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction
from penstock.datastream.state import ValueStateDescriptor

__all__ = ["KeyedFunction"]

SPAN_MS = 10_000
SPANS = 4


class Sum(KeyedProcessFunction):
    """The sum of each key so far, whenever a span of event time is over in which the key had rows."""

    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.sum.update((self.sum.value() or 0) + value[2])
        ctx.timer_service().register_event_time_timer((value[0] // SPAN_MS + 1) * SPAN_MS)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int, int]]:
        yield ctx.get_current_key(), timestamp, self.sum.value()


class KeyedFunction:
    """Rows of (ts, key, value), in order of time; one thread runs Python at a time, so there is one subtask."""

    def __init__(self, rows: int, keys: int) -> None:
        random = np.random.default_rng(rows)
        self._ts = np.arange(rows, dtype=np.int64) * (SPANS * SPAN_MS) // rows
        self._key = random.integers(0, keys, rows)
        self._value = random.integers(-1_000, 1_000, rows)
        table = pa.table({"ts": self._ts, "key": self._key, "value": self._value})
        self._input = pa.Table.from_batches(table.to_batches(max_chunksize=1 << 20))
        self._keys = keys

    def run(self) -> tuple[float, float]:
        """Seconds by the clock and of all cores, from the finished program to the end of the job."""
        env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("ts")
        row = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
        batches: list[pa.RecordBatch] = []
        (
            env.from_arrow(self._input)
            .assign_timestamps_and_watermarks(strategy)
            .key_by("key")
            .process(Sum(), row)
            .for_each_batch(batches.append)
        )
        began, cpu_began = time.perf_counter(), time.process_time()
        env.execute()
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        self._check(batches)
        return seconds, cpu_seconds

    def _check(self, batches: list[pa.RecordBatch]) -> None:
        """Each timer fired once, and those of the last span, at the end of the input, saw the whole sum."""
        columns = [
            np.concatenate([batch.column(i).to_numpy() for batch in batches]) for i in range(3)
        ]
        fired = set(zip(columns[0].tolist(), columns[1].tolist(), strict=True))
        ends = (self._ts // SPAN_MS + 1) * SPAN_MS
        assert len(columns[0]) == len(fired), "a timer fired twice"
        assert fired == set(zip(self._key.tolist(), ends.tolist(), strict=True))
        sums = np.zeros(self._keys, dtype=np.int64)
        np.add.at(sums, self._key, self._value)
        last = columns[1] == SPANS * SPAN_MS
        assert last.any()
        assert (columns[2][last] == sums[columns[0][last]]).all(), "a state has a wrong value"
