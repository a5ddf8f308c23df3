"""kill -9 at random moments: the windows of all runs together are those of an undisturbed run.

State is exact. Results may repeat (the sink does not commit in two phases yet), but only unchanged.
``make test`` kills 5 times, ``make faults`` (PENSTOCK_KILLS) 20 times.
"""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

KILLS = int(os.environ.get("PENSTOCK_KILLS", "5"))
SEED = int(os.environ.get("PENSTOCK_SEED", "20270101"))
SCRIPT = Path(__file__).with_name("killed_job.py")
LONGEST_LIFE = 0.7  # seconds of running before a kill
SLOWLY = 120_000  # rows per second while kills are due: the job must not end before the last one

Window = tuple[int, int]  # key, start
Value = tuple[int, int]  # count, sum

# State on the heap; in RocksDB's write-back tier; and most of it beyond that.
tiers = pytest.mark.parametrize("tier", ["heap", "64 mb", "4 kb"])

pytestmark = [pytest.mark.faults, pytest.mark.native, pytest.mark.timeout(900)]


def load_job() -> ModuleType:
    spec = importlib.util.spec_from_file_location("killed_job", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def start(folder: Path, run: int | str, rate: float, tier: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, SCRIPT, folder, str(run), str(rate), tier])


def run_to_its_end(folder: Path, run: int | str, tier: str) -> None:
    assert start(folder, run, 0, tier).wait(300) == 0


def kill_when_running(folder: Path, run: int, life: float, tier: str) -> int:
    """Starts the job and kills it ``life`` seconds after it has begun to run; its exit code."""
    process = start(folder, run, SLOWLY, tier)
    try:
        while not (folder / f"started-{run}").exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(life)
    finally:
        process.send_signal(signal.SIGKILL)
    return process.wait(60)


def kill_while_starting(folder: Path, run: int, life: float, tier: str) -> int:
    process = start(folder, run, SLOWLY, tier)
    time.sleep(life)
    process.send_signal(signal.SIGKILL)
    return process.wait(60)


def results(folder: Path) -> Iterator[tuple[Window, Value]]:
    """Every line that any run wrote; a kill may have cut the last one of a file short."""
    for file in sorted(folder.glob("results-*.csv")):
        for line in file.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                key, window_start, count, total = map(int, line.split(","))
                yield (key, window_start), (count, total)


def windows(folder: Path) -> dict[Window, Value]:
    found: dict[Window, Value] = {}
    for window, value in results(folder):
        assert found.setdefault(window, value) == value, f"{window} fired with two values"
    return found


@pytest.fixture(scope="module")
def expected() -> dict[Window, Value]:
    """DuckDB's windows over the same rows."""
    job = load_job()
    rows = job.rows().rows(0, job.ROWS)  # noqa: F841  (DuckDB finds it by name)
    answer = duckdb.sql(
        f"SELECT key, epoch_ms(time_bucket(INTERVAL {job.WINDOW_MS} MILLISECONDS, ts)) AS start, "
        "count(*), sum(value)::BIGINT FROM rows GROUP BY ALL"
    ).fetchall()
    return {(key, start): (count, total) for key, start, count, total in answer}


@tiers
def test_undisturbed_run_fires_every_window_once(
    expected: dict[Window, Value], tier: str, tmp_path: Path
) -> None:
    run_to_its_end(tmp_path, "undisturbed", tier)
    assert windows(tmp_path) == expected
    assert max(Counter(window for window, _ in results(tmp_path)).values()) == 1


@tiers
def test_killed_runs_together_give_the_windows_of_an_undisturbed_run(
    expected: dict[Window, Value], tier: str, tmp_path: Path
) -> None:
    moments = random.Random(SEED)
    exits = []
    for run in range(KILLS):
        # One in five does not live to run, or only just.
        if run % 5 == 4:
            exits.append(kill_while_starting(tmp_path, run, moments.uniform(0, 1), tier))
        else:
            exits.append(kill_when_running(tmp_path, run, moments.uniform(0, LONGEST_LIFE), tier))
    run_to_its_end(tmp_path, KILLS, tier)

    assert exits == [-signal.SIGKILL] * KILLS, "a run ended before it was killed"
    restored = [
        int(file.read_text())
        for run in range(KILLS + 1)
        if (file := tmp_path / f"started-{run}").exists()
    ]
    assert restored == sorted(restored), "a run started from an older checkpoint than one before it"
    assert len({number for number in restored if number > 0}) > KILLS // 4
    assert windows(tmp_path) == expected
