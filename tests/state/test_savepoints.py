"""Savepoints: taken from one backend and started on the other, at another parallelism; read and written from outside."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from state.savepoint_job import (
    KEYS,
    UID,
    contents,
    expected,
    number_of_rows,
    start,
    wait_for_rows,
)

from penstock import Row, Types
from penstock.common import JobStatus
from penstock.errors import CheckpointError
from penstock.state import SavepointReader, SavepointWriter

pytestmark = pytest.mark.native

RECOVER = "execution.state-recovery.path"


def check(path: str) -> int:
    """That the savepoint holds exactly what its rows make; how many there were."""
    reader = SavepointReader(path)
    rows = number_of_rows(reader)
    assert rows > 0
    assert contents(reader) == expected(range(rows))
    return rows


def suspended(folder: Path, **options: Any) -> str:
    client = start(folder, **options)
    wait_for_rows(client)
    path = client.stop_with_savepoint(False).result(60)
    assert client.status() is JobStatus.FINISHED
    return str(path)


@pytest.mark.parametrize(
    ("first", "then"),
    [("hashmap", "rocksdb"), ("rocksdb", "hashmap"), ("hashmap", "hashmap")],
)
def test_a_savepoint_of_one_backend_starts_on_the_other(
    first: str, then: str, tmp_path: Path
) -> None:
    path = suspended(tmp_path, backend=first, parallelism=2)
    before = check(path)
    assert before >= 500
    client = start(tmp_path, backend=then, parallelism=3, settings={RECOVER: path})
    wait_for_rows(client)
    second = client.trigger_savepoint().result(60)
    assert client.status() is JobStatus.RUNNING
    wait_for_rows(client)
    third = client.stop_with_savepoint(True, str(tmp_path / "others")).result(60)
    assert before + 500 <= check(second) < check(third)
    assert Path(third).parent == tmp_path / "others"
    client = start(tmp_path, backend=first, parallelism=1, settings={RECOVER: third})
    wait_for_rows(client)
    client.cancel().result()
    assert Path(path).is_dir(), "savepoints are never removed"


def test_a_savepoint_directory_may_be_a_path_object(tmp_path: Path) -> None:
    client = start(tmp_path)
    wait_for_rows(client)
    path = client.stop_with_savepoint(False, tmp_path / "by path").result(60)
    assert Path(path).parent == tmp_path / "by path"
    check(path)


def test_a_savepoint_may_be_moved(tmp_path: Path) -> None:
    path = Path(suspended(tmp_path))
    moved = path.rename(tmp_path / "elsewhere")
    rows = check(str(moved))
    client = start(tmp_path, settings={RECOVER: f"file://{moved}"})
    wait_for_rows(client)
    assert check(client.stop_with_savepoint(False).result(60)) >= rows + 500


def test_checkpoints_of_both_backends_are_read_as_savepoints_are(tmp_path: Path) -> None:
    for backend in ("hashmap", "rocksdb"):
        settings = {"execution.checkpointing.dir": str(tmp_path / backend)}
        if backend == "rocksdb":
            settings["execution.checkpointing.incremental"] = "true"
        client = start(tmp_path, backend=backend, settings=settings)
        for _ in range(2):
            wait_for_rows(client)
            client.trigger_checkpoint()
            before = len(client.completed_checkpoints)
            while len(client.completed_checkpoints) == before:
                assert not client.wait(0.005)
        client.cancel().result()
        (path,) = (tmp_path / backend / "everything").glob("chk-*")
        check(str(path))
        states = {state.name: state for state in SavepointReader(path).states(UID)}
        assert states["count"].backend == ("rocksdb" if backend == "rocksdb" else "")
        assert states["by-rest"].entries == KEYS * 4
        assert states["processing-time-timers"].kind == "timers"


def test_state_without_an_operator_is_an_error_unless_it_may_be_left_behind(
    tmp_path: Path,
) -> None:
    path = suspended(tmp_path)
    with pytest.raises(CheckpointError, match=rf"operator '.*' \(uid {UID}\)"):
        start(tmp_path, uid="renamed", settings={RECOVER: path})
    ignore = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    client = start(tmp_path, uid="renamed", settings={RECOVER: path, **ignore})
    client.cancel().result()


def test_what_keeps_a_savepoint_from_being_taken_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    client = start(tmp_path)
    with pytest.raises(CheckpointError, match="file"):
        client.stop_with_savepoint(False, str(tmp_path / "file")).result(60)
    with pytest.raises(TypeError, match="int"):
        client.trigger_savepoint(5)  # type: ignore[arg-type]
    wait_for_rows(client)
    client.cancel().result()
    with pytest.raises(CheckpointError, match="the job does not run: it is canceled"):
        client.trigger_savepoint().result(60)


def test_a_savepoint_without_a_directory_is_an_error(tmp_path: Path) -> None:
    client = start(tmp_path, settings={"execution.checkpointing.savepoint-dir": ""})
    with pytest.raises(ValueError, match=r"execution\.checkpointing\.savepoint-dir"):
        client.trigger_savepoint()
    client.cancel().result()


def test_the_reader_describes_operators_and_states(tmp_path: Path) -> None:
    reader = SavepointReader(suspended(tmp_path))
    assert {one.uid for one in reader.operators()} >= {"ids", UID, "sink"}
    states = {state.name: state for state in reader.states(UID)}
    assert {name: state.kind for name, state in states.items()} == {
        "count": "value",
        "last": "list",
        "by-rest": "map",
        "total": "reducing",
        "any": "value",
        "event-time-timers": "timers",
        "processing-time-timers": "timers",
        "watermark": "operator union list",
    }
    assert states["count"].value_type == "LONG"
    assert states["count"].entries == KEYS
    assert states["count"].bytes > 0
    timers = reader.read(UID, "processing-time-timers").to_pylist()
    assert [row["value"] for row in timers] == [4_000_000_000_000] * KEYS
    assert sorted(row["key"] for row in timers) == list(range(KEYS))
    frame = reader.to_pandas(UID, "total")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["key", "namespace", "value"]
    assert [state.name for state in reader.states("ids")] == ["source-splits"]
    assert reader.read("ids", "source-splits").column_names == ["subtask", "value"]
    with pytest.raises(KeyError, match="no operator with uid 'nobody'; it has"):
        reader.states("nobody")
    with pytest.raises(KeyError, match="no state 'nothing'; it has any, by-rest"):
        reader.read(UID, "nothing")


def test_the_reader_refuses_what_is_damaged(tmp_path: Path) -> None:
    path = Path(suspended(tmp_path))
    file = max(path.glob("task-everything-*"), key=lambda one: one.stat().st_size)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(CheckpointError, match=f"'{file}' is damaged"):
        SavepointReader(path)
    with pytest.raises(CheckpointError, match="never completed"):
        SavepointReader(tmp_path)
    with pytest.raises(CheckpointError, match="no-such-path': the path does not exist"):
        SavepointReader(tmp_path / "no-such-path")


def test_a_job_goes_on_from_a_written_savepoint(tmp_path: Path) -> None:
    state = expected(range(1000))
    writer = SavepointWriter.new(max_parallelism=16)
    counts = pa.table({"key": list(state["count"]), "value": list(state["count"].values())})
    elements = [{"k": k, "v": v} for k, items in state["last"].items() for v in items]
    entries = pd.DataFrame(
        [(k, u, v) for k, one in state["by-rest"].items() for u, v in one.items()],
        columns=["k", "u", "v"],
    )
    operator = writer.with_operator(UID)
    operator.value_state("count", counts, "key", Types.LONG())
    operator.list_state("last", elements, "k", Types.LONG())
    operator.map_state("by-rest", entries, "k", "u", Types.LONG(), Types.STRING())
    path = str(tmp_path / "written")
    writer.write(path)
    reader = SavepointReader(path)
    assert number_of_rows(reader) == 1000
    found = [(row["key"], row["value"]) for row in reader.read(UID, "last").to_pylist()]
    assert sorted(found) == sorted((one["k"], one["v"]) for one in elements)
    client = start(tmp_path, rows=100, rate=None, settings={RECOVER: path})
    wait_for_rows_or_end(client)
    with pytest.raises(ValueError, match="exists already"):
        writer.write(path)


def wait_for_rows_or_end(client: Any) -> None:
    client.result()


def test_a_job_started_from_a_written_savepoint_adds_to_it(tmp_path: Path) -> None:
    writer = SavepointWriter.new(max_parallelism=16)
    counts = [{"key": key, "value": 1_000_000} for key in range(KEYS)]
    writer.with_operator(UID).value_state("count", counts, "key", Types.LONG())
    writer.write(tmp_path / "written")
    settings = {RECOVER: str(tmp_path / "written")}
    reader = SavepointReader(suspended(tmp_path, settings=settings))
    rows = number_of_rows(reader) - KEYS * 1_000_000
    assert rows >= 500
    for row in reader.read(UID, "count").to_pylist():
        assert row["value"] == 1_000_000 + expected(range(rows))["count"][row["key"]]


def test_written_rows_and_tuples_come_back(tmp_path: Path) -> None:
    row_type = Types.ROW_NAMED(["name", "size"], [Types.STRING(), Types.LONG()])
    rows = [
        {"a": 1, "b": "x", "name": "n", "size": 5},
        {"a": 2, "b": "y", "name": "m", "size": None},
    ]
    writer = SavepointWriter.new()
    writer.with_operator("op").value_state("row", rows, ["a", "b"], row_type, ["name", "size"])
    writer.write(tmp_path / "rows")
    found = SavepointReader(tmp_path / "rows").read("op", "row").to_pylist()
    assert sorted(found, key=str) == [
        {
            "key": {"f0": 1, "f1": "x"},
            "namespace": None,
            "value": {"name": "n", "size": 5},
        },
        {
            "key": {"f0": 2, "f1": "y"},
            "namespace": None,
            "value": {"name": "m", "size": None},
        },
    ]


def test_values_that_do_not_fit_and_doubles_are_refused(tmp_path: Path) -> None:
    operator = SavepointWriter.new().with_operator("op")
    with pytest.raises(TypeError, match="does not fit LONG"):
        operator.value_state("s", [{"k": 1, "v": "text"}], "k", Types.LONG())
    with pytest.raises(ValueError, match="a key comes twice"):
        operator.value_state("s", [{"k": 1, "v": 1}, {"k": 1, "v": 2}], "k", Types.LONG())
    with pytest.raises(KeyError, match="no column 'w'; it has k, v"):
        operator.value_state("s", [{"k": 1, "v": 1}], "k", Types.LONG(), "w")
    operator.value_state("s", [{"k": 1, "v": 1}], "k", Types.LONG())
    with pytest.raises(ValueError, match="there is a state 's' already"):
        operator.list_state("s", [], "k", Types.LONG())
    with pytest.raises(ValueError, match="from 1 to 32768"):
        SavepointWriter.new(0)


def penstock(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_command_line_lists_and_shows(tmp_path: Path) -> None:
    path = suspended(tmp_path)
    listed = penstock("state", "ls", path)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.startswith("savepoint 1 of job 'Everything' (everything), ")
    assert f"{UID} (" in listed.stdout
    assert "by-rest" in listed.stdout
    shown = penstock("state", "show", path, UID, "count", "--limit", "5")
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout.splitlines()) == 7
    assert shown.stdout.splitlines()[-1] == f"... {KEYS - 5} more of {KEYS}"
    lines = penstock("state", "show", path, UID, "total", "--format", "json").stdout.splitlines()
    rows = number_of_rows(SavepointReader(path))
    found = {one["key"]: one["value"] for one in map(json.loads, lines)}
    assert found == expected(range(rows))["total"]
    wrong = penstock("state", "show", path, UID, "total", "--limit", "-1")
    assert wrong.returncode == 2
    assert "-1 is less than 0" in wrong.stderr
    wrong = penstock("state", "show", path, UID, "nothing")
    assert wrong.returncode == 1
    assert "has no state 'nothing'" in wrong.stderr


def test_objects_of_classes_that_are_not_here_are_named(tmp_path: Path) -> None:
    module = tmp_path / "elsewhere.py"
    module.write_text("class Visit: pass\n")
    write = """
import sys
sys.path.insert(0, sys.argv[1])
from elsewhere import Visit
from penstock import Types
from penstock.state import SavepointWriter
writer = SavepointWriter.new().with_operator("clicks")
writer.value_state("last", [{"ad": 1, "v": Visit()}], "ad", Types.PICKLED_BYTE_ARRAY(), "v")
writer.write(sys.argv[2])
"""
    path = str(tmp_path / "savepoint")
    subprocess.run([sys.executable, "-c", write, str(tmp_path), path], check=True, timeout=120)
    with pytest.raises(CheckpointError, match=r"state 'last' of operator 'clicks' .* 'elsewhere'"):
        SavepointReader(path).read("clicks", "last")
    shown = penstock("state", "show", path, "clicks", "last")
    assert shown.returncode == 1
    assert shown.stderr.startswith("penstock: state 'last' of operator 'clicks' has objects of")
    assert len(shown.stderr.splitlines()) == 1


def test_names_are_checked_before_anything_is_written() -> None:
    rows = [{"k": 1, "v": 1}]
    writer = SavepointWriter.new()
    for uid in (5, None):
        with pytest.raises(TypeError, match="the uid of an operator is a str"):
            writer.with_operator(uid)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must not be empty"):
        writer.with_operator("")
    states = writer.with_operator("u")
    with pytest.raises(TypeError, match="the name of a state is a str, not 5"):
        states.value_state(5, rows, "k", Types.LONG())  # type: ignore[arg-type]
    for name in ("", "event-time-timers"):
        with pytest.raises(ValueError, match="name"):
            states.value_state(name, rows, "k", Types.LONG())


def test_rows_and_pickles_are_plain_values_in_tables() -> None:
    from penstock.state.savepoint_reader import _array

    rows = _array([Row(a=1, b="x"), Row(a=2, b=None)])
    assert rows.to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert [pickle.loads(one) for one in _array([1, "mixed"]).to_pylist()] == [1, "mixed"]


@pytest.mark.parametrize(
    ("incremental", "shared"), [(None, True), ("true", True), ("false", False)]
)
def test_rocksdb_ships_whole_checkpoints_when_told_to(
    incremental: str | None, shared: bool, tmp_path: Path
) -> None:
    settings = {"execution.checkpointing.dir": str(tmp_path / "checkpoints")}
    if incremental is not None:
        settings["execution.checkpointing.incremental"] = incremental
    client = start(tmp_path, backend="rocksdb", settings=settings)
    wait_for_rows(client, 200)
    client.trigger_checkpoint()
    while not client.completed_checkpoints:
        assert not client.wait(0.005), client.result()
    (path,) = (tmp_path / "checkpoints" / "everything").glob("chk-*/_metadata")
    backends = {state.backend for state in SavepointReader(path.parent).states(UID)}
    client.cancel()
    client.wait(30)
    assert ("rocksdb" in backends) == shared
