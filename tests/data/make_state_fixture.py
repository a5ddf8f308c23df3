"""Writes snapshots of tests/state/savepoint_job.py: ``python tests/data/make_state_fixture.py FOLDER``.

``FOLDER/hashmap`` and ``FOLDER/rocksdb`` get a checkpoint each, that of RocksDB in its own files, and ``FOLDER/savepoint``
a savepoint. tests/data/state_snapshots/v2 was made by it and is never made again: that files of long ago can be read is
the point. For a new format version, write a new folder beside it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from state.savepoint_job import start, wait_for_rows


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        storage = Path(name)
        for backend in ("hashmap", "rocksdb"):
            settings = {
                "execution.checkpointing.dir": str(storage / backend),
                "execution.checkpointing.incremental": "true",
            }
            client = start(storage, backend=backend, settings=settings, rate=2_000)
            wait_for_rows(client, 300)
            client.trigger_checkpoint()
            while not client.completed_checkpoints:
                assert not client.wait(0.005)
            savepoint = client.trigger_savepoint().result(60)
            client.cancel().result()
            ignore = shutil.ignore_patterns(".lock")
            shutil.copytree(storage / backend / "everything", folder / backend, ignore=ignore)
        shutil.copytree(savepoint, folder / "savepoint")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
