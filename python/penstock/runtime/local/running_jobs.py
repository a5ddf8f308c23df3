"""Keeps jobs alive that run without a client, and ends what still runs when the interpreter does.

A task's thread must not outlive the interpreter whose functions it calls.
"""

from __future__ import annotations

import atexit
import time

from penstock._core.task import LocalJob

__all__ = ["forget_ended_jobs", "keep_running"]

_SECONDS_TO_END = 10.0
_running: set[LocalJob] = set()


def keep_running(job: LocalJob) -> None:
    """Holds a started job until it has ended."""
    _running.add(job)


def forget_ended_jobs() -> None:
    """Lets go of the jobs that have ended, and of the checkpoint directories that they held."""
    ended = {known for known in _running if known.wait(0)}
    _running.difference_update(ended)


@atexit.register
def _end_all() -> None:
    for job in _running:
        job.cancel()
    deadline = time.monotonic() + _SECONDS_TO_END
    for job in _running:
        job.wait(max(0, round((deadline - time.monotonic()) * 1000)))
    _running.clear()
