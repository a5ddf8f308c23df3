"""Penstock and Spark: DataFrames in and out, and the session that jobs run in.

The same program runs on Spark with ``execution.target`` set to ``spark``.
"""

from __future__ import annotations

from penstock.runtime.spark.session import set_session
from penstock.spark.dataframes import from_dataframe, to_dataframe

__all__ = ["from_dataframe", "set_session", "to_dataframe"]


def __dir__() -> list[str]:
    return sorted(__all__)
