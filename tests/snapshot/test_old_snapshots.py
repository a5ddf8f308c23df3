"""Checkpoints of all format versions so far can still be read, and jobs go on from them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from snapshot import page, page_reader
from snapshot.kept_job import (
    JOB_ID,
    WINDOW_MS,
    build,
    general_windows,
    sliced_windows,
)

from penstock import StreamExecutionEnvironment

pytestmark = pytest.mark.native

KEPT = Path(__file__).parents[1] / "data" / "snapshots"
VERSIONS = sorted(path.name for path in KEPT.iterdir())

Results = tuple[list[Any], list[Any]]


def run(parallelism: int, settings: dict[str, str]) -> tuple[Results, int | None]:
    """Runs the job to its end: its results, and the checkpoint it started from."""
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(parallelism)
    for key, value in settings.items():
        env.get_configuration().set_string(key, value)
    results: Results = ([], [])
    build(env, results[0].append, results[1].append)
    client = env.execute_async("Kept job")
    client.result()
    return results, client.restored_checkpoint


def kept_checkpoint(version: str) -> Path:
    (path,) = (KEPT / version / JOB_ID).iterdir()
    return path


def watermark_of(tasks: list[page_reader.TaskState], uid: str) -> int:
    """The watermark of a window operator at the barrier; the same in all its subtasks."""
    states = [op.state("watermark") for task in tasks for op in task.operators if op.uid == uid]
    spec = "watermark: i64"
    (watermark,) = {page_reader.read_fields(i, spec)[0] for state in states for i in state.items}
    return int(watermark)


def still_open(windows: set[Any], watermark: int) -> set[Any]:
    """Those that had not fired at ``watermark``; the second value is the window's start."""
    return {window for window in windows if window[1] + WINDOW_MS - 1 > watermark}


def check_results(results: Results, version: str) -> None:
    """What was not yet emitted at the checkpoint, each window once, is emitted now."""
    _, tasks = page_reader.read_checkpoint(kept_checkpoint(version))
    for found, windows, uid in (
        (results[0], sliced_windows(), "sliced"),
        (results[1], general_windows(), "general"),
    ):
        expected = still_open(windows, watermark_of(tasks, uid))
        assert 0 < len(expected) < len(windows), "the checkpoint is in the middle of the job"
        assert len(found) == len(expected)
        assert set(found) == expected


def test_an_uninterrupted_run_gives_what_pyarrow_gives() -> None:
    (sliced, general), restored = run(2, {})
    assert restored is None
    assert len(sliced) == len(set(sliced))
    assert set(sliced) == sliced_windows()
    assert len(general) == len(set(general))
    assert set(general) == general_windows()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_job_goes_on_from_a_kept_checkpoint(version: str, parallelism: int) -> None:
    path = kept_checkpoint(version)
    results, restored = run(parallelism, {"execution.state-recovery.path": str(path)})
    assert path.name == f"chk-{restored}"
    check_results(results, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_checkpoint_is_found_as_the_newest(version: str, tmp_path: Path) -> None:
    shutil.copytree(KEPT / version, tmp_path, dirs_exist_ok=True)
    settings = {"execution.checkpointing.dir": str(tmp_path), "penstock.job-id": JOB_ID}
    results, restored = run(2, settings)
    assert kept_checkpoint(version).name == f"chk-{restored}"
    check_results(results, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_checkpoint_is_what_the_page_says(version: str) -> None:
    metadata, tasks = page_reader.read_checkpoint(kept_checkpoint(version))
    rows = page.table("member", "type", "meaning")
    if version == "v1":
        rows = [row for row in rows if "not in version 1" not in row["meaning"]]
    assert set(metadata) == {name for row in rows for name in _names(row)}
    assert f"v{metadata['format_version']}" == version
    assert metadata["job_id"] == JOB_ID
    states = page.table("operator", "state", "kind", "key", "namespace", "value or item")
    kinds = {row["state"]: int(row["kind"]) for row in states}
    found = {state.name for task in tasks for op in task.operators for state in op.states}
    assert found == set(kinds) - {"script-position"}
    for task in tasks:
        for operator in task.operators:
            for state in operator.states:
                assert state.kind == kinds[state.name]


def _names(row: dict[str, str]) -> list[str]:
    return [name.strip("`") for name in row["member"].split(", ")]
