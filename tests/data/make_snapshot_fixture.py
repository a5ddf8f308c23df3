"""Writes a checkpoint of tests/snapshot/kept_job.py: ``python tests/data/make_snapshot_fixture.py FOLDER``.

tests/data/snapshots/v1 was made by it and is never made again: that files of long ago can be read is the point. For a
new format version, write a new folder beside it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from snapshot.kept_job import JOB_ID, ROWS, build

from penstock import StreamExecutionEnvironment

PARALLELISM = 2
ROWS_PER_SECOND = 20_000


def main(folder: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(PARALLELISM)
    fired: list[object] = []
    build(env, fired.append, fired.append, ROWS_PER_SECOND)
    env.get_configuration().set_string("penstock.job-id", JOB_ID)
    with tempfile.TemporaryDirectory() as storage:
        env.get_checkpoint_config().set_checkpoint_storage_dir(storage)
        client = env.execute_async("Kept job")
        time.sleep(ROWS / ROWS_PER_SECOND / 2)
        assert fired, "no window has fired yet"
        client.trigger_checkpoint()
        while not client.completed_checkpoints:
            assert not client.wait(0.01), "the job has ended before its checkpoint was complete"
        client.cancel().result()
        copied = folder / JOB_ID
        shutil.copytree(Path(storage) / JOB_ID, copied, ignore=shutil.ignore_patterns(".lock"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
