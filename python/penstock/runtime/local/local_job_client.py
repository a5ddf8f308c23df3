"""LocalJobClient: the client of a job in this process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock._core.operators import ResultQueue
from penstock._core.task import LocalJob
from penstock.common.completable_future import CompletableFuture
from penstock.common.job_status import JobStatus
from penstock.errors import CheckpointError, PenstockError
from penstock.runtime.failures import keep_parts
from penstock.runtime.file_systems import locate
from penstock.runtime.job_client import JobClient

__all__ = ["LocalJobClient"]

_POLL_MS = 50


class LocalJobClient(JobClient):
    """Made by ``launch_job``."""

    def __init__(
        self,
        job: LocalJob,
        job_id: str,
        job_name: str,
        collectors: Mapping[str, ResultQueue],
        restored_checkpoint: int | None,
        savepoint_directory: str | None = None,
    ) -> None:
        super().__init__(job_id, job_name)
        self._job = job
        self._collectors = collectors
        self._restored_checkpoint = restored_checkpoint
        self._savepoint_directory = savepoint_directory

    def status(self) -> JobStatus:
        return JobStatus[self._job.state.upper()]

    def metrics(self) -> list[dict[str, Any]]:
        """Per operator and subtask: vertex, subtask, uid, name, records_in, records_out, late_records_dropped,
        windows_fired, current_watermark."""
        return self._job.metrics()

    def collector(self, name: str) -> Iterator[Any]:
        if name not in self._collectors:
            raise KeyError(f"the job has no collector {name!r}; it has {sorted(self._collectors)}")
        return self._collected(self._collectors[name])

    def trigger_checkpoint(self) -> None:
        """Asks for a checkpoint now; returns at once."""
        self._job.trigger_checkpoint()

    def trigger_savepoint(
        self, savepoint_directory: str | os.PathLike[str] | None = None
    ) -> CompletableFuture[str]:
        return self._savepoint(savepoint_directory, "go on")

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | os.PathLike[str] | None = None,
    ) -> CompletableFuture[str]:
        after = "drain" if advance_to_end_of_event_time else "suspend"
        return self._savepoint(savepoint_directory, after)

    @property
    def restored_checkpoint(self) -> int | None:
        return self._restored_checkpoint

    @property
    def completed_checkpoints(self) -> Sequence[int]:
        return self._job.completed_checkpoints

    def _wait(self, seconds: float) -> bool:
        return self._job.wait(round(seconds * 1000))

    def _cancel(self) -> None:
        self._job.cancel()

    def _raise_failure(self) -> None:
        try:
            self._job.raise_failure()
        except PenstockError as error:
            keep_parts(error)
            raise

    def _savepoint(
        self, directory: str | os.PathLike[str] | None, after: str
    ) -> CompletableFuture[str]:
        directory = directory or self._savepoint_directory
        if directory is None:
            raise ValueError(
                "a savepoint needs a directory: give one, or set execution.checkpointing.savepoint-dir"
            )
        directory = os.fspath(directory)
        path, file_system = locate(directory, "the savepoint's directory")
        savepoint = self._job.trigger_savepoint(path, after, file_system)

        def wait(seconds: float | None) -> bool:
            deadline = None if seconds is None else time.monotonic() + seconds
            # In small steps, so that Ctrl-C is seen; the job comes to its end when somebody looks.
            while not savepoint.wait(round(self._next_poll(deadline) * 1000)):
                self._job.wait(0)
                if deadline is not None and time.monotonic() >= deadline:
                    return False
            try:
                savepoint.path()
            except Exception:  # noqa: BLE001 (the job goes on; the caller gets to see it)
                return True
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            return after == "go on" or self.wait(left)

        def path_of() -> str:
            try:
                found = savepoint.path()
            except (OSError, ValueError, PenstockError) as error:
                raise CheckpointError(str(error)) from error
            if file_system is None:
                return found
            uri, query, options = directory.partition("?")
            return uri.rstrip("/") + "/" + found.rpartition("/")[2] + query + options

        return CompletableFuture(wait, path_of)

    def _collected(self, queue: ResultQueue) -> Iterator[Any]:
        while True:
            batch = queue.pop(_POLL_MS)
            if isinstance(batch, list):
                yield from batch
            elif batch is False or self._job.wait(0):
                break
        # A last batch may have come between the empty pop and the end of the job.
        while isinstance(batch := queue.pop(0), list):
            yield from batch
        self._wait_or_cancel(None)
        self._raise_failure()
