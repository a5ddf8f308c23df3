"""A job that failed goes on from its newest checkpoint when it is run again."""

from collections import Counter
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import TumblingEventTimeWindows
from penstock.errors import UserCodeError
from penstock.runtime import JobExecutionResult

pytestmark = [pytest.mark.native, pytest.mark.faults]

ROWS = 40_000
ROWS_GENERATOR = DataGen(count=ROWS, seed=1, rate=20_000).timestamp("ts").int("key", 0, 9)


class Sink:
    """Counts windows it got; with ``fail_at`` raises when a window that ends so late comes."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.rows: dict[tuple[int, int], int] = {}
        self.fail_at = fail_at

    def __call__(self, row: Any) -> None:
        start = int(row["window_start"].replace(tzinfo=UTC).timestamp() * 1000)
        if self.fail_at is not None and start >= self.fail_at:
            raise RuntimeError("no more")
        self.rows[row["key"], start] = row["count"]


def run(directory: Path, sink: Sink) -> JobExecutionResult:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    env.enable_checkpointing(Duration.of_millis(100), storage_dir=str(directory))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("ts")
    windows = (
        env.from_generator(ROWS_GENERATOR, strategy)
        .key_by("key")
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .aggregate(F.count())
        .uid("windows")
    )
    windows.add_sink(sink)
    return env.execute("Recovering")


def expected() -> Counter[tuple[int, int]]:
    rows = ROWS_GENERATOR.rows(0, ROWS)
    times = rows.column("ts").cast("int64").to_pylist()
    keys = rows.column("key").to_pylist()
    return Counter((k, t // 1000 * 1000) for k, t in zip(keys, times, strict=True))


def test_failed_job_goes_on_from_its_newest_checkpoint(tmp_path: Path) -> None:
    first, second = Sink(fail_at=25_000), Sink()
    with pytest.raises(UserCodeError, match="no more"):
        run(tmp_path, first)
    result = run(tmp_path, second)
    assert result.restored_checkpoint is not None
    # What was emitted before the checkpoint does not come again; nothing is missing and nothing counted twice.
    assert len(second.rows) < len(expected())
    assert {**first.rows, **second.rows} == expected()


def test_finished_job_starts_anew_when_it_is_run_again(tmp_path: Path) -> None:
    for _ in range(2):
        sink = Sink()
        result = run(tmp_path, sink)
        assert result.restored_checkpoint is None
        assert len(result.completed_checkpoints) > 0
        assert sink.rows == expected()
