"""Flink's streaming semantics for Python, in one process or on Spark.

Names are loaded when first used: ``import penstock`` itself imports neither numpy nor pyarrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock._version import __version__

if TYPE_CHECKING:
    from penstock import common, connectors, datastream, errors, expressions, functions
    from penstock.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.expressions import Expression, call_function, col, lit

__all__ = [
    "Configuration",
    "Duration",
    "Expression",
    "Row",
    "StreamExecutionEnvironment",
    "Time",
    "Types",
    "WatermarkStrategy",
    "__version__",
    "call_function",
    "col",
    "common",
    "connectors",
    "datastream",
    "errors",
    "expressions",
    "functions",
    "lit",
]

_HOMES = {
    "Configuration": "penstock.common",
    "Duration": "penstock.common",
    "Expression": "penstock.expressions",
    "Row": "penstock.common",
    "StreamExecutionEnvironment": "penstock.datastream",
    "Time": "penstock.common",
    "Types": "penstock.common",
    "WatermarkStrategy": "penstock.common",
    "call_function": "penstock.expressions",
    "col": "penstock.expressions",
    "lit": "penstock.expressions",
}
_MODULES = {
    "common",
    "connectors",
    "datastream",
    "errors",
    "expressions",
    "functions",
    "spark",
    "testing",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"penstock.{name}")
    else:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
