"""What a job's configuration says about checkpoints.

=====================================================  ==========================================================
key (Flink's, but for the last)                        meaning
=====================================================  ==========================================================
execution.checkpointing.dir                            where checkpoints go: a local path, or a URI that pyarrow.fs
                                                       can open (file:, s3:, gs:, hdfs:)
execution.checkpointing.savepoint-dir                  where savepoints go that name no directory
execution.checkpointing.interval                       how often one is taken; without it none is taken by time
execution.checkpointing.num-retained                   complete ones that are kept (1)
execution.checkpointing.timeout                        a checkpoint that takes longer is given up (10 min)
execution.checkpointing.min-pause                      rest between two of them (0)
execution.checkpointing.tolerable-failed-checkpoints   failures in a row that do not fail the job (0)
execution.checkpointing.local-backup.enabled           keep a copy of the newest checkpoint on this machine (false)
execution.checkpointing.local-backup.dirs              where to; without it a directory for temporary files
execution.state-recovery.path                          start from this checkpoint or savepoint, whatever else there is
execution.state-recovery.ignore-unclaimed-state        leave state behind whose operator the job does not have (false)
penstock.job-id                                        whose checkpoints they are
=====================================================  ==========================================================

With a directory, a job starts from the newest complete checkpoint of its job id. The id is therefore the same in every
run: ``penstock.job-id``, or else one that is derived from the job's name. Two different jobs in one directory need
different names, or ids.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import uuid
from dataclasses import dataclass

from penstock.common.configuration import Configuration
from penstock.errors import CheckpointError
from penstock.runtime.file_systems import locate

__all__ = ["CheckpointSettings"]

_LOGGER = logging.getLogger("penstock")
_PREFIX = "execution.checkpointing."
_TEN_MINUTES = 600_000


@dataclass(frozen=True)
class CheckpointSettings:
    """The settings of one job. ``directory`` None: no checkpoints.

    >>> CheckpointSettings.of(Configuration({"penstock.job-id": "clicks"}), "Clicks").job_id
    'clicks'
    """

    job_id: str
    directory: str | None = None
    interval_ms: int | None = None
    retained: int = 1
    timeout_ms: int = _TEN_MINUTES
    min_pause_ms: int = 0
    tolerable_failures: int = 0
    restore_path: str | None = None
    ignore_unclaimed: bool = False
    savepoint_directory: str | None = None
    local_directory: str | None = None

    @staticmethod
    def of(configuration: Configuration, job_name: str) -> CheckpointSettings:
        """The settings in ``configuration``, checked."""
        directory = _path(configuration, _PREFIX + "dir")
        interval = _interval(configuration)
        if interval is not None and directory is None:
            _LOGGER.warning(
                "%sinterval is set, but %sdir is not: no checkpoints are taken", _PREFIX, _PREFIX
            )
        return CheckpointSettings(
            job_id=_job_id(configuration, job_name, stable=directory is not None),
            directory=directory,
            interval_ms=interval,
            retained=_at_least(configuration.get_integer(_PREFIX + "num-retained", 1), 1),
            timeout_ms=configuration.get_duration_ms(_PREFIX + "timeout", _TEN_MINUTES),
            min_pause_ms=configuration.get_duration_ms(_PREFIX + "min-pause", 0),
            tolerable_failures=configuration.get_integer(
                _PREFIX + "tolerable-failed-checkpoints", 0
            ),
            restore_path=_path(configuration, "execution.state-recovery.path"),
            ignore_unclaimed=configuration.get_boolean(
                "execution.state-recovery.ignore-unclaimed-state", False
            ),
            savepoint_directory=_path(configuration, _PREFIX + "savepoint-dir"),
            local_directory=_local_directory(configuration),
        )

    def check_writable(self) -> None:
        """Makes the directory if need be; CheckpointError when nothing can be written there."""
        if self.directory is None or "://" in self.directory:
            return  # the core tries others
        import tempfile  # slow to import, and most jobs have no checkpoints

        try:
            os.makedirs(self.directory, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.directory):
                pass
        except OSError as error:
            raise CheckpointError(
                f"{_PREFIX}dir: cannot write to {self.directory!r}: {error.strerror}"
            ) from error


def _interval(configuration: Configuration) -> int | None:
    interval = configuration.get_duration_ms(_PREFIX + "interval", -1)
    return interval if interval > 0 else None


def _at_least(value: int, least: int) -> int:
    if value < least:
        raise ValueError(f"{_PREFIX}num-retained must be at least {least}, but is {value}")
    return value


def _path(configuration: Configuration, key: str) -> str | None:
    """A local path, absolute, or the URI as it is."""
    value = configuration.get(key)
    if value is None or value == "":
        return None
    text: str = os.fspath(value)
    if "://" in text and not text.startswith("file://"):
        return text
    path, _ = locate(text, key)
    return path


def _local_directory(configuration: Configuration) -> str | None:
    if not configuration.get_boolean(_PREFIX + "local-backup.enabled", False):
        return None
    given = _path(configuration, _PREFIX + "local-backup.dirs")
    if given is None:
        import tempfile

        return os.path.join(tempfile.gettempdir(), f"penstock-local-backup-{os.getuid()}")
    if "://" in given:
        raise ValueError(f"{_PREFIX}local-backup.dirs: {given!r} is not on this machine")
    return given


def _job_id(configuration: Configuration, job_name: str, *, stable: bool) -> str:
    given = configuration.get("penstock.job-id")
    if given is not None:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", str(given)):
            raise ValueError(
                f"penstock.job-id: {given!r} is not a name of letters, digits, '_', '-' and '.'"
            )
        return str(given)
    if stable:
        return hashlib.sha256(job_name.encode()).hexdigest()[:32]
    return uuid.uuid4().hex
