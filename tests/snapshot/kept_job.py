"""The job whose checkpoint is kept in tests/data/snapshots.

Generated rows, counted and summed per key in tumbling windows twice: by the sliced operator over columns, and by the
general one with a Python reduce function. Never to change: the kept checkpoints belong to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import TumblingEventTimeWindows

__all__ = ["JOB_ID", "ROWS", "build", "general_windows", "rows", "sliced_windows"]

JOB_ID = "kept-job"
ROWS = 60_000
WINDOW_MS = 3_000
DISORDER_MS = 500

Result = tuple[Any, ...]


def rows(rate: float | None = None) -> DataGen:
    """The input. No row is late, and sums of prices are exact in any order."""
    return (
        DataGen(count=ROWS, seed=2026, rate=rate)
        .timestamp("ts", start=-10_000, step=1, disorder=DISORDER_MS)
        .int("key", -3, 3)
        .choice("name", ("ash", "birch", "elm", "oak", "Ulme, große"))
        .int("value", -1_000, 1_000)
        .choice("price", (0.25, 0.5, 1.75))
    )


def build(
    env: StreamExecutionEnvironment,
    sliced: Callable[[Result], Any],
    general: Callable[[Result], Any],
    rate: float | None = None,
) -> None:
    """Adds the job to ``env``; the results go to the two functions."""
    env.set_max_parallelism(16)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER_MS))
    source = env.from_source(rows(rate), WatermarkStrategy.no_watermarks(), "Rows").uid("rows")
    times = source.assign_timestamps_and_watermarks(strategy.with_timestamp_column("ts"))
    stream = times.uid("times")
    windows = TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))
    aggregates = (F.count(), F.sum("value"), F.sum("price"), F.min("name"), F.max("value"))
    (
        stream.key_by("key")
        .window(windows)
        .aggregate(*aggregates, F.avg("value"))
        .uid("sliced")
        .for_each_batch(lambda batch: [sliced(row) for row in _tuples(batch)])
        .uid("sliced-sink")
    )
    (
        stream.map(lambda row: (row["name"], row["value"], 1))
        .uid("tuples")
        .key_by(lambda row: row[0])
        .window(windows)
        .reduce(
            lambda a, b: (a[0], a[1] + b[1], a[2] + b[2]),
            lambda key, window, results: [(key, window.start, *r[1:]) for r in results],
        )
        .uid("general")
        .add_sink(general)
        .uid("general-sink")
    )


def sliced_windows() -> set[Result]:
    """All results of the sliced operator, by pyarrow: key, start, count, sums, min, max, avg."""
    table = _with_starts().group_by(["key", "start"])
    aggregates = [([], "count_all"), ("value", "sum"), ("price", "sum"), ("name", "min")]
    result = table.aggregate([*aggregates, ("value", "max"), ("value", "mean")])
    return set(zip(*(column.to_pylist() for column in result.columns), strict=True))


def general_windows() -> set[Result]:
    """All results of the general operator, by pyarrow: name, start, sum, count."""
    table = _with_starts().group_by(["name", "start"])
    result = table.aggregate([("value", "sum"), ([], "count_all")])
    return set(zip(*(column.to_pylist() for column in result.columns), strict=True))


def _with_starts() -> Any:
    import pyarrow as pa

    table = pa.table(rows().rows(0, ROWS))
    times = table["ts"].cast(pa.int64()).to_pylist()
    return table.append_column("start", pa.array([t // WINDOW_MS * WINDOW_MS for t in times]))


def _tuples(batch: Any) -> list[Result]:
    batch = batch.drop_columns(["window_end"])
    starts = pc.cast(batch["window_start"], "int64")
    index = batch.schema.get_field_index("window_start")
    batch = batch.set_column(index, "window_start", starts)
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
