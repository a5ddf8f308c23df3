"""A job on Spark: Spark moves frames between stages, and each of its partitions runs a native task.

Names are loaded when first used: executors need the stages only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.runtime.spark.launcher import launch_job

__all__ = ["launch_job"]


def __getattr__(name: str) -> Any:
    if name != "launch_job":
        raise AttributeError(f"module 'penstock.runtime.spark' has no attribute {name!r}")
    return import_module("penstock.runtime.spark.launcher").launch_job
