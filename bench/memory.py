"""Memory of a job without end: ``python bench/memory.py`` runs it until it is killed.

``sample()`` starts that in a process of its own and reads its resident memory while it works.

The source runs as fast as it can, in one subtask: of two, one gets ahead of the other in event time, the windows between
them stay open, and memory would show how far ahead (that is what watermark alignment is for).
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

__all__ = ["Samples", "sample"]

_INTERVAL = 0.25


class Samples:
    """Resident memory in MB over time; the first third is the warm-up."""

    def __init__(self, megabytes: list[float]) -> None:
        third = len(megabytes) // 3
        self.megabytes = megabytes
        self.settled = max(megabytes[third : 2 * third])
        self.last = max(megabytes[2 * third :])

    @property
    def flat(self) -> bool:
        """Not more than a twentieth above what it was, which is what allocators and windows that come and go need."""
        return self.last <= self.settled * 1.05 + 8


def sample(seconds: float) -> Samples:
    process = subprocess.Popen(
        [sys.executable, __file__], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n", "the job did not start"
        found = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(_INTERVAL)
            assert process.poll() is None, "the job ended"
            found.append(_resident_megabytes(process.pid))
        return Samples(found)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def run_without_end() -> None:
    from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
    from penstock import functions as F
    from penstock.connectors.datagen import DataGen
    from penstock.datastream import TumblingEventTimeWindows

    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500))
    rows = DataGen(seed=1).timestamp("ts", step=0.01, disorder=500).int("key", 0, 99_999)
    (
        env.from_source(rows, WatermarkStrategy.no_watermarks(), "Rows")
        .set_parallelism(1)
        .assign_timestamps_and_watermarks(strategy.with_timestamp_column("ts"))
        .set_parallelism(1)
        .key_by("key")
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(F.count(), F.sum("key"))
        .discard()
    )
    client = env.execute_async("Without end")
    print("running", flush=True)
    client.result()


if __name__ == "__main__":
    run_without_end()
