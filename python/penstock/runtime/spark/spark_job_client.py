"""SparkJobClient: the client of a job on Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from penstock.common.job_status import JobStatus
from penstock.errors import JobCancelledError
from penstock.runtime.job_client import JobClient
from penstock.runtime.spark.spark_job import SparkResult

if TYPE_CHECKING:
    from pyspark import SparkContext

__all__ = ["SparkJobClient"]


class SparkJobClient(JobClient):
    """Runs ``run`` in a thread, under a job group of its own so that it can be cancelled.

    Results and metrics are there when the job has ended, all at once: before, it is not known which attempts count.
    """

    def __init__(
        self,
        job_id: str,
        job_name: str,
        collectors: Collection[str],
        context: SparkContext,
        run: Callable[[], SparkResult],
    ) -> None:
        super().__init__(job_id, job_name)
        self._collectors = collectors
        self._context = context
        self._group = f"penstock-{job_id}"
        self._run = run
        self._result_of_run: SparkResult | None = None
        self._error: BaseException | None = None
        self._cancelled = False
        self._done = threading.Event()
        self._start()

    def status(self) -> JobStatus:
        if not self._done.is_set():
            return JobStatus.CANCELLING if self._cancelled else JobStatus.RUNNING
        if self._error is None:
            return JobStatus.FINISHED
        cancelled = isinstance(self._error, JobCancelledError)
        return JobStatus.CANCELED if cancelled else JobStatus.FAILED

    def metrics(self) -> list[dict[str, Any]]:
        """As of a job in one process; nothing before the end."""
        return [] if self._result_of_run is None else self._result_of_run.metrics

    def collector(self, name: str) -> Iterator[Any]:
        if name not in self._collectors:
            raise KeyError(f"the job has no collector {name!r}; it has {sorted(self._collectors)}")
        return self._collected(name)

    def _start(self) -> None:
        from pyspark import InheritableThread

        # With the caller's scheduler pool and other local properties.
        InheritableThread(self._main, name=f"Penstock {self._job_name}", daemon=True).start()

    def _main(self) -> None:
        try:
            self._context.setJobGroup(self._group, self._job_name, interruptOnCancel=True)
            self._result_of_run = self._run()
        except BaseException as error:  # noqa: BLE001 (whatever it is, the client raises it)
            self._error = self._cancellation() if self._cancelled else error
        finally:
            self._done.set()

    def _cancellation(self) -> JobCancelledError:
        return JobCancelledError(f"job {self._job_name!r} ({self._job_id}) was cancelled")

    def _wait(self, seconds: float) -> bool:
        ended = self._done.wait(seconds)
        if not ended and self._cancelled:
            self._cancel()  # it may have begun a query since
        return ended

    def _cancel(self) -> None:
        if not self._done.is_set():
            self._cancelled = True
            self._context.cancelJobGroup(self._group)

    def _raise_failure(self) -> None:
        if self._error is not None and not isinstance(self._error, JobCancelledError):
            raise self._error

    def _collected(self, name: str) -> Iterator[Any]:
        self._wait_or_cancel(None)
        self._raise_failure()
        if self._result_of_run is not None:
            batches = self._result_of_run.collected[name]
            while batches:
                yield from batches.pop(0).to_rows()
