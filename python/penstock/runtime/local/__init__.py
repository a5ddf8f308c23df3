"""A job on threads of this process."""

from __future__ import annotations

from penstock.runtime.local.launcher import launch_job

__all__ = ["launch_job"]
