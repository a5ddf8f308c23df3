"""What a benchmark ran on, for its results."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import penstock

__all__ = ["machine"]


def machine() -> dict[str, object]:
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "python": platform.python_version(),
        "penstock": penstock.__version__,
    }
