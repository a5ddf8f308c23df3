"""Checkpoints and savepoints on storage that is not the machine's own, through ``pyarrow.fs``, which may fail."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from state.savepoint_job import contents, expected, number_of_rows, start, wait_for_rows

from penstock.errors import CheckpointError
from penstock.runtime import file_systems
from penstock.runtime.file_systems import ArrowFileSystem, locate
from penstock.state import SavepointReader

pytestmark = pytest.mark.native

DIRECTORY = "execution.checkpointing.dir"
RECOVER = "execution.state-recovery.path"


class Unreliable(ArrowFileSystem):
    """Fails, or cuts an object short without a word, one in so many times."""

    def __init__(self, file_system: Any, one_in: int, seed: int) -> None:
        super().__init__(file_system)
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._one_in = one_in
        self.failures = 0

    def _maybe_fail(self, what: str) -> None:
        with self._lock:
            if self._random.randrange(self._one_in) == 0:
                self.failures += 1
                raise OSError(f"the storage cannot {what} now")

    def create(self, path: str) -> Any:
        self._maybe_fail("create")
        return super().create(path)

    def remove_all(self, path: str) -> None:
        self._maybe_fail("remove")
        super().remove_all(path)

    def exists(self, path: str) -> bool:
        self._maybe_fail("look")
        return super().exists(path)


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that ``mem://storage`` leads to, as if it were an object store."""
    folder = tmp_path / "storage"
    folder.mkdir()

    def open_uri(uri: str) -> tuple[Any, str]:
        return fs.LocalFileSystem(), str(folder / uri.removeprefix("mem://storage/"))

    monkeypatch.setattr(file_systems, "_open", open_uri)
    return folder


def check(path: str) -> int:
    reader = SavepointReader(path)
    rows = number_of_rows(reader)
    assert contents(reader) == expected(range(rows))
    return rows


def take_checkpoints(client: Any, count: int) -> None:
    for _ in range(count):
        wait_for_rows(client, 200)
        before = len(client.completed_checkpoints)
        client.trigger_checkpoint()
        while len(client.completed_checkpoints) == before:
            assert not client.wait(0.005), client.result()


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_job_goes_on_from_a_checkpoint_elsewhere(
    backend: str, storage: Path, tmp_path: Path
) -> None:
    settings = {DIRECTORY: "mem://storage/c", "execution.checkpointing.incremental": "true"}
    client = start(tmp_path, backend=backend, settings=settings)
    take_checkpoints(client, 3)
    client.cancel().result()
    job = storage / "c" / "everything"
    (checkpoint,) = job.glob("chk-*")
    assert not list(job.glob("*.inprogress"))
    rows = check(f"mem://storage/c/everything/{checkpoint.name}")
    again = start(tmp_path, backend=backend, settings=settings)
    assert f"chk-{again.restored_checkpoint}" == checkpoint.name
    wait_for_rows(again, 200)
    path = again.stop_with_savepoint(False, "mem://storage/s").result(60)
    assert path.startswith("mem://storage/")
    assert check(path) >= rows + 200
    third = start(tmp_path, backend="hashmap", settings={RECOVER: path})
    wait_for_rows(third, 200)
    third.cancel().result()


def test_only_metadata_makes_a_checkpoint_complete(storage: Path, tmp_path: Path) -> None:
    settings = {DIRECTORY: "mem://storage/c", "execution.checkpointing.num-retained": "5"}
    client = start(tmp_path, settings=settings)
    take_checkpoints(client, 2)
    client.cancel().result()
    older, newer = sorted((storage / "c" / "everything").glob("chk-*"))
    (newer / "_metadata").unlink()
    again = start(tmp_path, settings=settings)
    assert f"chk-{again.restored_checkpoint}" == older.name
    assert not newer.exists(), "what a crash has left is removed"
    again.cancel().result()


def test_storage_that_fails_now_and_then_costs_checkpoints_only(
    storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreliable = Unreliable(fs.LocalFileSystem(), one_in=1_000_000, seed=5)
    monkeypatch.setattr(
        "penstock.runtime.local.launcher.locate", lambda uri, what="": (locate(uri)[0], unreliable)
    )
    settings = {
        DIRECTORY: "mem://storage/c",
        "execution.checkpointing.interval": "5ms",
        "execution.checkpointing.tolerable-failed-checkpoints": "1000000",
        "execution.checkpointing.incremental": "true",
    }
    client = start(tmp_path, backend="rocksdb", settings=settings)
    unreliable._one_in = 12
    while unreliable.failures < 15 or len(client.completed_checkpoints) < 3:
        assert not client.wait(0.01), client.result()
    client.cancel().result()
    unreliable._one_in = 1_000_000
    again = start(tmp_path, backend="rocksdb", settings=settings)
    assert again.restored_checkpoint == client.completed_checkpoints[-1]
    again.cancel().result()
    job = storage / "c" / "everything"
    used: set[str] = set()
    for path in job.glob("chk-*"):
        reader = SavepointReader(f"mem://storage/c/everything/{path.name}")
        assert contents(reader) == expected(range(number_of_rows(reader)))
        used |= {file["content_id"] for file in reader.metadata["shared_files"]}
    assert {path.name for path in (job / "shared").iterdir()} == used


def test_copies_on_this_machine_are_used_when_they_verify(
    storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        DIRECTORY: "mem://storage/c",
        "execution.checkpointing.local-backup.enabled": "true",
        "execution.checkpointing.local-backup.dirs": str(tmp_path / "copies"),
        "execution.checkpointing.incremental": "true",
    }
    client = start(tmp_path, backend="rocksdb", settings=settings)
    take_checkpoints(client, 2)
    client.cancel().result()
    (copy,) = (tmp_path / "copies" / "everything").glob("chk-*")
    read: list[str] = []
    plain = ArrowFileSystem.read
    monkeypatch.setattr(
        ArrowFileSystem, "read", lambda self, path: read.append(path) or plain(self, path)
    )

    def restored() -> bool:
        """Whether all but the metadata came from this machine."""
        read.clear()
        again = start(tmp_path, backend="rocksdb", settings=settings)
        assert f"chk-{again.restored_checkpoint}" == copy.name
        only_metadata = all(path.endswith("_metadata") for path in read)
        again.cancel().result()
        return only_metadata

    assert restored()
    file = max(copy.glob("task-everything-*"))
    file.write_bytes(file.read_bytes()[:-1])
    assert not restored()


def test_a_directory_that_cannot_be_written_to_is_an_error_at_once(
    storage: Path, tmp_path: Path
) -> None:
    (storage / "c").write_text("in the way")
    with pytest.raises(CheckpointError, match="cannot be written to"):
        start(tmp_path, settings={DIRECTORY: "mem://storage/c"})
