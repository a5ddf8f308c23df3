"""kill -9 while checkpoints are written, completed and removed all the time: the newest complete one always restores.

``make test`` kills 6 times on each backend, ``make faults`` (PENSTOCK_CHECKPOINT_KILLS) 200 times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

KILLS = int(os.environ.get("PENSTOCK_CHECKPOINT_KILLS", "6"))
SEED = os.environ.get("PENSTOCK_SEED", "20270401")
SCRIPT = Path(__file__).with_name("killed_while_checkpointing.py")

pytestmark = [pytest.mark.faults, pytest.mark.native, pytest.mark.timeout(1800)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where that is possible: a kill loses nothing that was written, and checkpoints are fast there."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="penstock-", dir=memory) as name:
        yield Path(name)


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_job_that_is_killed_while_it_takes_checkpoints_loses_none(
    backend: str, folder: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, SCRIPT, folder, backend, str(KILLS), SEED],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    *lives, end = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(lives) == KILLS
    assert all(life.get("killed") for life in lives), ran.stderr
    rows = [life["rows"] for life in lives]
    assert rows == sorted(rows), "a checkpoint was lost: there are fewer rows than before"
    assert rows[-1] > 0
    assert len({life["checkpoint"] for life in lives}) > KILLS // 3, "hardly any life left one"
    assert end["unused"] == []
    assert [name for name in end["names"] if "inprogress" in name] == []
    assert end["checkpoints"] <= 3
    assert (end["shared"] > 0) == (backend == "rocksdb")
