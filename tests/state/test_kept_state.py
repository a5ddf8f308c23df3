"""Keyed state of all format versions so far can still be read, and jobs go on from it on either backend."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from snapshot import page_reader
from state.savepoint_job import (
    KEYS,
    UID,
    contents,
    expected,
    number_of_rows,
    start,
    wait_for_rows,
)

from penstock.state import SavepointReader

pytestmark = pytest.mark.native

KEPT = Path(__file__).parents[1] / "data" / "state_snapshots"
VERSIONS = sorted(path.name for path in KEPT.iterdir())
SNAPSHOTS = ["hashmap/chk-1", "rocksdb/chk-1", "savepoint"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("snapshot", SNAPSHOTS)
def test_kept_state_is_what_its_rows_make(version: str, snapshot: str) -> None:
    reader = SavepointReader(KEPT / version / snapshot)
    rows = number_of_rows(reader)
    assert rows >= 300
    assert contents(reader) == expected(range(rows))
    assert f"v{reader.metadata['format_version']}" == version


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("snapshot", SNAPSHOTS)
def test_kept_state_is_what_the_page_says(version: str, snapshot: str) -> None:
    metadata, tasks = page_reader.read_checkpoint(KEPT / version / snapshot)
    assert metadata["savepoint"] == (snapshot == "savepoint")
    operators = [task.operator(UID) for task in tasks if any(o.uid == UID for o in task.operators)]
    if snapshot.startswith("rocksdb"):
        assert metadata["shared_files"]
        assert all(one.native[0].backend == "rocksdb" for one in operators)
        names = {state.name for state in operators[0].native[0].states}
    else:
        assert not metadata["shared_files"]
        counts = [entry for one in operators for entry in one.state("count").entries]
        assert len(counts) == KEYS
        names = {state.name for state in operators[0].states}
    assert names >= {"count", "last", "by-rest", "total", "any", "processing-time-timers"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("snapshot", "backend"),
    [
        ("hashmap/chk-1", "hashmap"),
        ("rocksdb/chk-1", "rocksdb"),
        ("savepoint", "hashmap"),
        ("savepoint", "rocksdb"),
    ],
)
def test_a_job_goes_on_from_kept_state(
    version: str, snapshot: str, backend: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(KEPT / version, kept)
    before = number_of_rows(SavepointReader(kept / snapshot))
    settings = {"execution.state-recovery.path": str(kept / snapshot)}
    client = start(tmp_path, backend=backend, parallelism=3, settings=settings)
    wait_for_rows(client, 200)
    reader = SavepointReader(client.stop_with_savepoint(False).result(60))
    rows = number_of_rows(reader)
    assert rows >= before + 200
    assert contents(reader) == expected(range(rows))
    original = {p: p.read_bytes() for p in (KEPT / version).rglob("*") if p.is_file()}
    assert all(
        (kept / p.relative_to(KEPT / version)).read_bytes() == b for p, b in original.items()
    )
