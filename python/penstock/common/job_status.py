"""The states of a job."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """Where a job stands.

    >>> JobStatus.FINISHED.is_terminal_state(), JobStatus.RUNNING.is_terminal_state()
    (True, False)
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9
    INITIALIZING = 10

    def is_globally_terminal_state(self) -> bool:
        """The job has ended for good, wherever it ran."""
        return self in {JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED}

    def is_terminal_state(self) -> bool:
        """The job has ended for the runtime at hand; a suspended job may go on elsewhere."""
        return self.is_globally_terminal_state() or self is JobStatus.SUSPENDED
