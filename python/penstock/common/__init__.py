"""Types, time, configuration and watermark strategies: what PyFlink keeps in ``pyflink.common``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from penstock.common.completable_future import CompletableFuture
from penstock.common.configuration import Configuration
from penstock.common.job_status import JobStatus
from penstock.common.row import Row
from penstock.common.time import Duration, Time
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.watermark_strategy import TimestampAssigner, WatermarkStrategy

__all__ = [
    "CompletableFuture",
    "Configuration",
    "Duration",
    "JobClient",
    "JobExecutionResult",
    "JobStatus",
    "Row",
    "Time",
    "TimestampAssigner",
    "TypeInformation",
    "Types",
    "WatermarkStrategy",
]


def __getattr__(name: str) -> Any:
    # PyFlink's path to two classes that belong to the runtime; nothing here depends on them.
    if name in {"JobClient", "JobExecutionResult"}:
        return getattr(import_module("penstock.runtime"), name)
    raise AttributeError(f"module 'penstock.common' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
