"""A job that does little but take checkpoints, killed again and again: ``python killed_while_checkpointing.py FOLDER
BACKEND KILLS SEED``.

This process imports everything and then forks a child for each life, which saves the second that a start takes. A
child checks that the newest checkpoint is exactly what its rows make, says how many rows that were, starts the job from
it, says so, and runs until it is killed. One line of JSON on stdout for each life, and one for what is left at the end.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from state.savepoint_job import contents, expected, number_of_rows, start

from penstock.state import SavepointReader

INTERVAL = "5ms"
MOST_CHECKPOINTS = 3  # that a life takes before the kill is near
LONGEST_REST = 0.03  # seconds from then to the kill: some more checkpoints


def newest(folder: Path) -> Path | None:
    found = (folder / "everything").glob("chk-*")
    complete = [path for path in found if not path.name.endswith(".inprogress")]
    return max(complete, key=lambda path: int(path.name[4:]), default=None)


def run(folder: Path, backend: str) -> Any:
    settings = {
        "execution.checkpointing.dir": str(folder),
        "execution.checkpointing.interval": INTERVAL,
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.num-retained": "2",
    }
    return start(folder, backend=backend, settings=settings, rate=3_000)


def live(folder: Path, backend: str, say: int) -> None:
    """The life of a child. ``say``: where its lines go."""
    report: dict[str, Any] = {"checkpoint": None, "rows": 0}
    path = newest(folder)
    if path is not None:
        reader = SavepointReader(path)
        report = {"checkpoint": path.name, "rows": number_of_rows(reader)}
        assert contents(reader) == expected(range(report["rows"])), path
    client = run(folder, backend)
    assert (f"chk-{client.restored_checkpoint}" if path else "None") == (
        path.name if path else "None"
    )
    os.write(say, json.dumps(report).encode() + b"\n")
    said = 0
    while not client.wait(0.001):
        for _ in range(said, len(client.completed_checkpoints)):
            os.write(say, b"complete\n")
            said += 1


def one_life(folder: Path, backend: str, checkpoints: int, rest: float) -> None:
    hear, say = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        try:
            live(folder, backend, say)
        finally:
            sys.stderr.flush()
            os._exit(1)
    os.close(say)
    with os.fdopen(hear) as lines:
        report = lines.readline()
        for _ in range(checkpoints):
            lines.readline()
        time.sleep(rest)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    print(json.dumps({**json.loads(report or "{}"), "killed": killed}), flush=True)


def last_life(folder: Path, backend: str) -> None:
    """Starts once more and ends in good order: what is on the disk then?"""
    client = run(folder, backend)
    client.cancel().result()
    job = folder / "everything"
    checkpoints = [path for path in job.iterdir() if path.name.startswith("chk-")]
    used: set[str] = set()
    for path in checkpoints:
        used |= {file["content_id"] for file in SavepointReader(path).metadata["shared_files"]}
    shared = job / "shared"
    print(
        json.dumps(
            {
                "names": sorted(path.name for path in job.iterdir()),
                "unused": sorted({p.name for p in shared.iterdir()} - used) if used else [],
                "shared": len(used),
                "checkpoints": len(checkpoints),
            }
        ),
        flush=True,
    )


def main(folder: Path, backend: str, kills: int, seed: str) -> None:
    rng = random.Random(seed)
    for _ in range(kills):
        one_life(folder, backend, rng.randrange(MOST_CHECKPOINTS + 1), rng.uniform(0, LONGEST_REST))
    last_life(folder, backend)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
