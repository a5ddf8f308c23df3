"""The job that test_kill.py kills: ``python killed_job.py FOLDER RUN ROWS_PER_SECOND TIER`` (0: as fast as it can).

TIER: the write-back tier of the backend rocksdb; "heap": no such backend.

It counts and sums per key in windows of 200 ms, with checkpoints in ``FOLDER/checkpoints``. Each result goes as one
line ``key,window start in ms,count,sum`` to ``FOLDER/results-RUN.csv`` before the sink returns. When the job runs, the
number of the checkpoint it started from (0: from nothing) is written to ``FOLDER/started-RUN``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from penstock import Configuration, Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import TumblingEventTimeWindows

ROWS = 3_000_000
WINDOW_MS = 200
DISORDER_MS = 700  # so that four or five windows are open at any time
CHECKPOINT_INTERVAL_MS = 150


def rows(rate: float | None = None) -> DataGen:
    """The input; row n is the same whatever the rate."""
    return (
        DataGen(count=ROWS, seed=99, rate=rate)
        .timestamp("ts", step=0.02, disorder=DISORDER_MS)
        .int("key", 0, 199)
        .int("value", -1_000, 1_000)
    )


class ResultFile:
    """Appends the lines of a batch in one write, which a kill does not undo."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __call__(self, batch: Any) -> None:
        keys, starts = batch["key"].to_pylist(), batch["window_start"].cast("int64").to_pylist()
        counts, sums = batch["count"].to_pylist(), batch["sum_value"].to_pylist()
        lines = zip(keys, starts, counts, sums, strict=True)
        os.write(self._descriptor, "".join(f"{k},{w},{n},{s}\n" for k, w, n, s in lines).encode())


def main(folder: Path, run: str, rate: float, tier: str) -> None:
    settings = {"state.backend.type": "rocksdb", "penstock.state.write-back-tier": tier}
    configuration = Configuration({} if tier == "heap" else settings)
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    env.enable_checkpointing(CHECKPOINT_INTERVAL_MS, storage_dir=str(folder / "checkpoints"))
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER_MS))
    (
        env.from_source(rows(rate or None), strategy.with_timestamp_column("ts"), "Rows")
        .key_by("key")
        .window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
        .aggregate(F.count(), F.sum("value"))
        .uid("windows")
        .for_each_batch(ResultFile(folder / f"results-{run}.csv"))
    )
    client = env.execute_async("Killed job")
    started = folder / f"started-{run}.new"
    started.write_text(str(client.restored_checkpoint or 0))
    started.rename(folder / f"started-{run}")
    client.result()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4])
