"""What the configuration says about checkpoints, and what is wrong with it."""

import logging
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.errors import CheckpointError
from penstock.runtime.checkpoint_settings import CheckpointSettings
from penstock.runtime.file_systems import locate

DIRECTORY = "execution.checkpointing.dir"


def of(values: dict[str, Any], name: str = "My Job") -> CheckpointSettings:
    return CheckpointSettings.of(Configuration(values), name)


def test_defaults_are_flinks() -> None:
    found = of({})
    assert (found.directory, found.interval_ms, found.restore_path) == (None, None, None)
    assert (found.retained, found.timeout_ms, found.min_pause_ms) == (1, 600_000, 0)
    assert found.tolerable_failures == 0


def test_durations_may_be_texts(tmp_path: Path) -> None:
    found = of(
        {
            DIRECTORY: str(tmp_path),
            "execution.checkpointing.interval": "10 s",
            "execution.checkpointing.timeout": "1 min",
            "execution.checkpointing.min-pause": "500 ms",
            "execution.checkpointing.num-retained": 3,
            "execution.checkpointing.tolerable-failed-checkpoints": "2",
        }
    )
    assert (found.interval_ms, found.timeout_ms, found.min_pause_ms) == (10_000, 60_000, 500)
    assert (found.retained, found.tolerable_failures) == (3, 2)


def test_file_uri_is_a_local_path() -> None:
    assert of({DIRECTORY: "file:///tmp/a%20b"}).directory == "/tmp/a b"


def test_other_storage_stays_a_uri() -> None:
    assert of({DIRECTORY: "s3://bucket/x"}).directory == "s3://bucket/x"


def test_storage_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="the directory: 'nowhere://bucket/x' cannot be used"):
        locate("nowhere://bucket/x", "the directory")


def test_local_copies_are_on_this_machine() -> None:
    enabled = {"execution.checkpointing.local-backup.enabled": "true"}
    assert of({DIRECTORY: "s3://bucket/x"}).local_directory is None
    assert "penstock-local-backup" in str(of(enabled).local_directory)
    key = "execution.checkpointing.local-backup.dirs"
    assert of({**enabled, key: "/tmp/copies"}).local_directory == "/tmp/copies"
    with pytest.raises(ValueError, match="'s3://bucket/x' is not on this machine"):
        of({**enabled, key: "s3://bucket/x"})


def test_job_id_is_stable_with_a_directory_and_follows_the_name(tmp_path: Path) -> None:
    values = {DIRECTORY: str(tmp_path)}
    assert of(values).job_id == of(values).job_id
    assert of(values).job_id != of(values, "Another").job_id
    assert of({}).job_id != of({}).job_id


def test_job_id_may_be_given() -> None:
    assert of({"penstock.job-id": "clicks-1"}).job_id == "clicks-1"


@pytest.mark.parametrize("bad", ["", "a/b", "..", "-x", "a b"])
def test_job_id_that_is_no_file_name_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=r"penstock\.job-id"):
        of({"penstock.job-id": bad})


def test_interval_without_directory_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="penstock"):
        assert of({"execution.checkpointing.interval": 1000}).directory is None
    assert "execution.checkpointing.dir is not" in caplog.text


def test_retaining_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="num-retained must be at least 1, but is 0"):
        of({"execution.checkpointing.num-retained": 0})


def test_missing_directory_is_made(tmp_path: Path) -> None:
    of({DIRECTORY: str(tmp_path / "a" / "b")}).check_writable()
    assert (tmp_path / "a" / "b").is_dir()
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_directory_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"execution\.checkpointing\.dir: cannot write.*file"):
        of({DIRECTORY: str(tmp_path / "file" / "x")}).check_writable()
