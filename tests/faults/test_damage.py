"""Seeded damage of checkpoints and savepoints: each is detected and named, or what is read is exactly right.

``make test`` does some hundreds, ``make damage`` (PENSTOCK_DAMAGES) at least 10,000.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from faults.damage import Files, damaged
from state.savepoint_job import contents, expected, number_of_rows, start, wait_for_rows

from penstock.errors import CheckpointError
from penstock.state import SavepointReader

DAMAGES = int(os.environ.get("PENSTOCK_DAMAGES", "450"))
SEED = int(os.environ.get("PENSTOCK_SEED", "20270301"))
SNAPSHOTS = ["heap checkpoint", "rocksdb checkpoint", "heap savepoint", "rocksdb savepoint"]

pytestmark = [pytest.mark.faults, pytest.mark.native, pytest.mark.timeout(1800)]


def everything(path: Path) -> dict[tuple[str, str], Any]:
    """All that the snapshot holds, in no order."""
    reader = SavepointReader(path)
    assert contents(reader) == expected(range(number_of_rows(reader)))
    return {
        (state.uid, state.name): sorted(reader.read(state.uid, state.name).to_pylist(), key=repr)
        for state in reader.states()
    }


def everything_or_damage(path: Path) -> dict[tuple[str, str], Any] | str:
    """The same, or what is said of the damage."""
    try:
        return everything(path)
    except CheckpointError as error:
        return str(error)


def take_checkpoint(client: Any) -> None:
    wait_for_rows(client)
    before = len(client.completed_checkpoints)
    client.trigger_checkpoint()
    while len(client.completed_checkpoints) == before:
        assert not client.wait(0.002)


def make_snapshot(kind: str, folder: Path) -> Files:
    backend, form = kind.split()
    settings = {
        "execution.checkpointing.dir": str(folder),
        "execution.checkpointing.num-retained": "2",
        "execution.checkpointing.incremental": "true",
    }
    backend = "hashmap" if backend == "heap" else backend
    client = start(folder, backend=backend, settings=settings)
    for _ in range(3):
        take_checkpoint(client)
    savepoint = client.trigger_savepoint().result(60)
    client.cancel().result()
    older, newer = sorted((folder / "everything").glob("chk-*"))
    return Files(newer, older) if form == "checkpoint" else Files(Path(savepoint), None)


@pytest.mark.parametrize("kind", SNAPSHOTS)
def test_damage_is_named_or_does_no_harm(kind: str, tmp_path: Path) -> None:
    files = make_snapshot(kind, tmp_path)
    assert any("shared" in file.parts for file in files.names) == (kind == "rocksdb checkpoint")
    whole = everything(files.path)
    outcomes: Counter[str] = Counter()
    for number in range(-(-DAMAGES // len(SNAPSHOTS))):
        with damaged(files, f"{SEED} {kind} {number}") as what:
            found = everything_or_damage(files.path)
            if isinstance(found, str):
                assert str(tmp_path) in found, f"{number}: {what}: {found!r} names no file"
            else:
                assert found == whole, f"{number}: {what}: went unseen"
            outcomes["detected" if isinstance(found, str) else "harmless"] += 1
    assert everything(files.path) == whole
    assert outcomes["detected"] > 3 * outcomes["harmless"], outcomes
