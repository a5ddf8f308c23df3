"""LocalJobClient: the client of a job in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock._core.operators import ResultQueue
from penstock._core.task import LocalJob
from penstock.common.job_status import JobStatus
from penstock.errors import PenstockError
from penstock.runtime.failures import keep_parts
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
    ) -> None:
        super().__init__(job_id, job_name)
        self._job = job
        self._collectors = collectors
        self._restored_checkpoint = restored_checkpoint

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
