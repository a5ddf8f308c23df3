"""JobClient: follows, cancels and awaits a job that was started.

The base has PyFlink's methods; each runtime has a subclass that says how to ask it.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from penstock.common.completable_future import CompletableFuture
from penstock.common.job_status import JobStatus
from penstock.errors import JobCancelledError
from penstock.runtime.job_execution_result import JobExecutionResult

__all__ = ["JobClient"]

# How long a wait may keep Ctrl-C from being seen.
_POLL_SECONDS = 0.05


class JobClient(ABC):
    """A started job. Methods that PyFlink has return futures as in PyFlink; the others are plain.

    >>> from penstock import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> sink = env.from_collection([1, 2, 3]).discard()
    >>> client = env.execute_async("Counting")
    >>> client.get_job_execution_result().result().job_name
    'Counting'
    >>> client.get_job_status().result()
    <JobStatus.FINISHED: 6>
    """

    def __init__(self, job_id: str, job_name: str) -> None:
        self._job_id = job_id
        self._job_name = job_name
        self._started = time.monotonic()
        self._ended: float | None = None

    # --- as in PyFlink ---

    def get_job_id(self) -> str:
        return self._job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Where the job stands now."""
        return CompletableFuture.completed(self.status())

    def cancel(self) -> CompletableFuture[None]:
        """Asks the job to end; the future is done when it has. A job that has ended stays as it is."""
        self._cancel()
        return CompletableFuture(self.wait, lambda: None)

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        return CompletableFuture.completed({})

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """The result, or what failed the job; Ctrl-C while waiting for it cancels the job."""
        return CompletableFuture(self._wait_or_cancel, self._result)

    def trigger_savepoint(
        self, savepoint_directory: str | os.PathLike[str] | None = None
    ) -> CompletableFuture[str]:
        """Takes a savepoint in the directory (or ``execution.checkpointing.savepoint-dir``) while the job goes on; its
        path."""
        raise NotImplementedError(f"{type(self).__name__} cannot take savepoints")

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | os.PathLike[str] | None = None,
    ) -> CompletableFuture[str]:
        """Ends the job with a savepoint; its path. With ``advance_to_end_of_event_time`` all windows and event-time
        timers fire before, as at the end of the input; without, nothing fires and the job can go on from the
        savepoint as if it had never stopped."""
        raise NotImplementedError(f"{type(self).__name__} cannot take savepoints")

    # --- plain ---

    def wait(self, timeout: float | None = None) -> bool:
        """Waits at most ``timeout`` seconds; whether the job has ended. Raises nothing when it failed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._wait(self._next_poll(deadline)):
            if deadline is not None and time.monotonic() >= deadline:
                return False
        if self._ended is None:
            self._ended = time.monotonic()
        return True

    def result(self) -> JobExecutionResult:
        """Waits for the end: the result, or the exception that failed the job."""
        return self.get_job_execution_result().result()

    @abstractmethod
    def status(self) -> JobStatus:
        """Where the job stands now."""

    @abstractmethod
    def metrics(self) -> list[dict[str, Any]]:
        """Counters per operator and subtask, while the job runs and after."""

    @abstractmethod
    def collector(self, name: str) -> Iterator[Any]:
        """The elements of a CollectSinkSpec while they come; raises what failed the job."""

    # --- what a runtime has to say ---

    @abstractmethod
    def _wait(self, seconds: float) -> bool:
        """Whether the job has ended, after at most so long."""

    @abstractmethod
    def _cancel(self) -> None:
        """Asks the job to end; returns at once."""

    @abstractmethod
    def _raise_failure(self) -> None:
        """Raises what failed the job, if anything did."""

    @property
    def restored_checkpoint(self) -> int | None:
        """The number of the checkpoint that the job started from."""
        return None

    @property
    def completed_checkpoints(self) -> Sequence[int]:
        """The numbers of the checkpoints taken so far."""
        return ()

    def _wait_or_cancel(self, timeout: float | None) -> bool:
        try:
            return self.wait(timeout)
        except KeyboardInterrupt:
            # Tasks run user code and hold files: they end before the program goes on. A second Ctrl-C does not wait.
            self._cancel()
            self.wait()
            raise

    def _result(self) -> JobExecutionResult:
        self._raise_failure()
        if self.status() is JobStatus.CANCELED:
            raise JobCancelledError(f"job {self._job_name!r} ({self._job_id}) was cancelled")
        ended = self._started if self._ended is None else self._ended
        return JobExecutionResult(
            job_id=self._job_id,
            job_name=self._job_name,
            net_runtime_ms=round((ended - self._started) * 1000),
            metrics=self.metrics(),
            restored_checkpoint=self.restored_checkpoint,
            completed_checkpoints=tuple(self.completed_checkpoints),
        )

    def _next_poll(self, deadline: float | None) -> float:
        if deadline is None:
            return _POLL_SECONDS
        return min(_POLL_SECONDS, max(0.0, deadline - time.monotonic()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._job_name!r} {self.status().name}>"
