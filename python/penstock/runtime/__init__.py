"""Runs a job graph, in this process or on Spark. The only room that touches the compiled core.

Names are loaded when first used, so that a plan can be made without the core.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.runtime.job_client import JobClient
    from penstock.runtime.job_execution_result import JobExecutionResult

__all__ = ["JobClient", "JobExecutionResult"]

_HOMES = {
    "JobClient": "penstock.runtime.job_client",
    "JobExecutionResult": "penstock.runtime.job_execution_result",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock.runtime' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
