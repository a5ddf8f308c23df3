"""What a job says about a checkpoint directory that is unwritable, half-written, damaged, too new or not its own."""

from __future__ import annotations

import logging
import re
import shutil
import struct
import time
from pathlib import Path

import pytest

from penstock import Configuration, Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import TumblingEventTimeWindows
from penstock.errors import CheckpointError, PenstockError
from penstock.runtime import JobClient

pytestmark = [pytest.mark.faults, pytest.mark.native]


def start(
    directory: Path | str,
    *,
    job_id: str = "clicks",
    window_uid: str = "windows",
    interval_ms: int = 3_600_000,
    recover_from: Path | None = None,
) -> JobClient:
    """A job without end whose windows are checkpointed in ``directory``."""
    configuration = Configuration({"penstock.job-id": job_id})
    if recover_from is not None:
        configuration.set_string("execution.state-recovery.path", str(recover_from))
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    env.enable_checkpointing(interval_ms, storage_dir=str(directory))
    env.get_checkpoint_config().set_num_retained_checkpoints(10)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100))
    (
        env.from_source(
            DataGen(seed=1, rate=50_000).timestamp("ts", disorder=100).int("key", 0, 9),
            strategy.with_timestamp_column("ts"),
            "Rows",
        )
        .uid("rows")
        .key_by("key")
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(F.count())
        .uid(window_uid)
        .discard()
    )
    return env.execute_async("Clicks")


def stop(client: JobClient) -> None:
    client.cancel().result()


def checkpoint(client: JobClient) -> int:
    """Takes a checkpoint; its number."""
    before = len(client.completed_checkpoints)
    client.trigger_checkpoint()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 60
    while len(client.completed_checkpoints) == before:
        assert not client.wait(0.01), "the job has ended"
        assert time.monotonic() < deadline, "no checkpoint was completed"
    return client.completed_checkpoints[-1]


@pytest.fixture
def two_checkpoints(tmp_path: Path) -> Path:
    """The directory of a cancelled job that took the checkpoints 1 and 2."""
    client = start(tmp_path)
    assert [checkpoint(client), checkpoint(client)] == [1, 2]
    stop(client)
    return tmp_path


def restored(directory: Path) -> int | None:
    client = start(directory)
    stop(client)
    return client.restored_checkpoint


def state_files(checkpoint_directory: Path) -> list[Path]:
    return sorted(p for p in checkpoint_directory.iterdir() if p.name != "_metadata")


def crc32c(data: bytes) -> int:
    """The checksum of RFC 3720, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def set_format_version(file: Path, version: int) -> None:
    """Rewrites the header as a later release would write it, with a checksum that matches."""
    header = file.read_bytes()[:8] + struct.pack("<I", version) + file.read_bytes()[12:16]
    crc = crc32c(header)
    masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    file.write_bytes(header + struct.pack("<I", masked) + file.read_bytes()[20:])


def test_job_restarts_from_its_newest_checkpoint(two_checkpoints: Path) -> None:
    assert restored(two_checkpoints) == 2


def test_directory_that_cannot_be_made_is_named_before_the_job_starts(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError) as error:
        start(tmp_path / "file" / "checkpoints")
    assert "execution.checkpointing.dir: cannot write to" in str(error.value)
    assert str(tmp_path / "file" / "checkpoints") in str(error.value)
    assert "Not a directory" in str(error.value)


def test_read_only_file_system_is_named_before_the_job_starts() -> None:
    with pytest.raises(CheckpointError, match=r"cannot write to '/proc/penstock'"):
        start("/proc/penstock")


def test_directory_that_is_lost_while_the_job_runs_fails_the_job(tmp_path: Path) -> None:
    directory = tmp_path / "checkpoints"
    client = start(directory, interval_ms=50)
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)
    directory.write_text("in the way")
    with pytest.raises(PenstockError) as error:
        client.result()
    assert re.search(r"checkpoint \d+ failed", str(error.value))
    assert str(directory) in str(error.value)
    assert "Not a directory" in str(error.value)


def test_half_written_checkpoint_is_skipped_with_a_warning(
    two_checkpoints: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = two_checkpoints / "clicks"
    half = job / "chk-3.inprogress"
    shutil.copytree(job / "chk-2", half)
    (half / "_metadata").unlink()
    with caplog.at_level(logging.WARNING, "penstock"):
        assert restored(two_checkpoints) == 2
    assert f"checkpoint {half} is skipped: it was never completed" in caplog.text


def test_half_written_checkpoint_alone_means_a_start_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "clicks" / "chk-1.inprogress").mkdir(parents=True)
    assert restored(tmp_path) is None


def test_truncated_newest_checkpoint_falls_back_to_the_older_one(
    two_checkpoints: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = state_files(two_checkpoints / "clicks" / "chk-2")[0]
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[:-7])
    with caplog.at_level(logging.WARNING, "penstock"):
        assert restored(two_checkpoints) == 1
    assert f"{two_checkpoints / 'clicks' / 'chk-2'} is skipped: " in caplog.text
    assert f"'{file}' is damaged: it has {size - 7} bytes and should have {size}" in caplog.text


@pytest.mark.parametrize("which", ["_metadata", "state"])
def test_flipped_bit_in_the_newest_checkpoint_falls_back_to_the_older_one(
    two_checkpoints: Path, caplog: pytest.LogCaptureFixture, which: str
) -> None:
    newest = two_checkpoints / "clicks" / "chk-2"
    file = newest / "_metadata" if which == "_metadata" else state_files(newest)[-1]
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    with caplog.at_level(logging.WARNING, "penstock"):
        assert restored(two_checkpoints) == 1
    assert f"'{file}' is damaged: " in caplog.text
    assert "checksum" in caplog.text


def test_missing_state_file_falls_back_to_the_older_one(
    two_checkpoints: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = state_files(two_checkpoints / "clicks" / "chk-2")[0]
    file.unlink()
    with caplog.at_level(logging.WARNING, "penstock"):
        assert restored(two_checkpoints) == 1
    assert f"'{file}' is damaged: the file is missing" in caplog.text


def test_number_of_a_damaged_checkpoint_is_not_used_again(two_checkpoints: Path) -> None:
    (two_checkpoints / "clicks" / "chk-2" / "_metadata").write_bytes(b"")
    client = start(two_checkpoints)
    assert checkpoint(client) == 3
    stop(client)
    assert restored(two_checkpoints) == 3


def test_newer_format_version_is_an_error_and_not_a_fall_back(two_checkpoints: Path) -> None:
    file = two_checkpoints / "clicks" / "chk-2" / "_metadata"
    set_format_version(file, 7)
    with pytest.raises(CheckpointError) as error:
        start(two_checkpoints)
    assert f"'{file}' has snapshot format version 7" in str(error.value)
    assert "use the Penstock release that wrote it, or a newer one" in str(error.value)


def test_checkpoint_of_another_job_in_the_way_is_an_error(two_checkpoints: Path) -> None:
    (two_checkpoints / "clicks").rename(two_checkpoints / "orders")
    with pytest.raises(CheckpointError) as error:
        start(two_checkpoints, job_id="orders")
    assert "holds checkpoint 2 of job 'clicks' (Clicks)" in str(error.value)
    assert "expected checkpoint 2 of job 'orders'" in str(error.value)


def test_checkpoint_of_a_job_with_other_operators_is_an_error(two_checkpoints: Path) -> None:
    path = two_checkpoints / "clicks" / "chk-2"
    with pytest.raises(CheckpointError) as error:
        start(two_checkpoints, job_id="orders", window_uid="orders", recover_from=path)
    assert f"checkpoint '{path}' has state of operator" in str(error.value)
    assert "(uid windows), which this job does not have" in str(error.value)


def test_recovery_path_without_a_checkpoint_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="chk-1': the path does not exist"):
        start(tmp_path, recover_from=tmp_path / "chk-1")
    (tmp_path / "chk-1").mkdir()
    with pytest.raises(CheckpointError, match="it has no _metadata, so it was never completed"):
        start(tmp_path, recover_from=tmp_path / "chk-1")


def test_directory_in_use_by_another_run_is_an_error(tmp_path: Path) -> None:
    first = start(tmp_path)
    with pytest.raises(ValueError, match="in use by another run of this job"):
        start(tmp_path)
    other = start(tmp_path, job_id="other")
    stop(other)
    stop(first)
    stop(start(tmp_path))
