"""Checkpoints and savepoints on S3, as moto's server plays it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from state.savepoint_job import contents, expected, number_of_rows, start, wait_for_rows

from penstock.state import SavepointReader

MOTO = Path(sys.executable).with_name("moto_server")

pytestmark = pytest.mark.native


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The end of URIs into the bucket ``penstock``."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "anybody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [MOTO, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert server.poll() is None, "moto_server ended"
                time.sleep(0.05)
        where = f"endpoint_override=127.0.0.1:{port}&region=us-east-1"
        yield f"?scheme=http&{where}&allow_bucket_creation=true"
    finally:
        server.terminate()
        server.wait()


def objects(options: str) -> list[str]:
    files, bucket = fs.FileSystem.from_uri(f"s3://penstock{options}")
    found = files.get_file_info(fs.FileSelector(bucket, recursive=True))
    return sorted(info.path for info in found if info.is_file)


def take_checkpoints(client: Any, count: int) -> None:
    for _ in range(count):
        wait_for_rows(client, 200)
        before = len(client.completed_checkpoints)
        client.trigger_checkpoint()
        while len(client.completed_checkpoints) == before:
            assert not client.wait(0.005), client.result()


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_checkpoints_and_savepoints_on_s3(backend: str, options: str, tmp_path: Path) -> None:
    files, bucket = fs.FileSystem.from_uri(f"s3://penstock{options}")
    files.create_dir(bucket)
    settings = {
        "execution.checkpointing.dir": f"s3://penstock/checkpoints{options}",
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.num-retained": "2",
    }
    client = start(tmp_path, backend=backend, settings=settings)
    take_checkpoints(client, 4)
    client.cancel().result()
    job = "penstock/checkpoints/everything/"
    assert {path.split("/")[3] for path in objects(options)} - {"shared"} == {"chk-3", "chk-4"}
    again = start(tmp_path, backend=backend, settings=settings)
    assert again.restored_checkpoint == 4
    reader = SavepointReader(f"s3://{job}chk-4{options}")
    assert contents(reader) == expected(range(number_of_rows(reader)))
    wait_for_rows(again, 200)
    path = again.stop_with_savepoint(False, f"s3://penstock/savepoints{options}").result(60)
    savepoint = SavepointReader(path)
    assert contents(savepoint) == expected(range(number_of_rows(savepoint)))
    assert not [one for one in objects(options) if one.startswith(job)], "the job has finished"
