"""The exceptions that Penstock raises by itself.

Mistakes in arguments, and data that does not fit (a null timestamp, a key that cannot be one, a sum that
overflows), are plain ``ValueError``, ``TypeError``, ``KeyError`` and ``OverflowError``. Whatever else goes wrong
while a job runs is a :class:`PenstockError`.
"""

from __future__ import annotations

__all__ = ["CheckpointError", "JobCancelledError", "PenstockError", "UserCodeError"]


class PenstockError(RuntimeError):
    """Something failed while a job was running.

    The parts of the message are kept where they are known.

    >>> error = PenstockError("disk full", operator="Sink", subtask=1)
    >>> error.operator, error.subtask, error.record
    ('Sink', 1, None)

    Attributes:
        operator: name (and uid) of the operator that failed.
        subtask: index of its parallel instance.
        record: the repr of the offending record, shortened.
    """

    def __init__(
        self,
        message: str = "",
        *,
        operator: str | None = None,
        subtask: int | None = None,
        record: str | None = None,
    ) -> None:
        super().__init__(message)
        self.operator = operator
        self.subtask = subtask
        self.record = record


class UserCodeError(PenstockError):
    """A function given by the user raised; ``__cause__`` is what it raised."""


class CheckpointError(PenstockError):
    """A checkpoint or savepoint could not be taken, found or verified."""


class JobCancelledError(PenstockError):
    """The job was cancelled before it finished."""


def __dir__() -> list[str]:
    return sorted(__all__)
