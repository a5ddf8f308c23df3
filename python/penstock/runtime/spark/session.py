"""The SparkSession that jobs run in.

In this order: the one that was set, that of the job's DataFrames, the active one, or else a new one by
``penstock.spark.master`` (default ``local[*]``) and all settings that begin with ``spark.``. A new one stays open until
the program ends, for the jobs that follow.

Executors need Penstock and pyarrow in the Python they start. On one machine, and on a cluster whose machines have the
same environment at the same place, there is nothing to do. Elsewhere ship the environment by Spark's own means:
``spark.archives`` with a packed environment, or an image.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.common.configuration import Configuration

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["QUIET_OPTION", "for_jobs", "ignore_version_warnings", "resolve_session", "set_session"]

_chosen: SparkSession | None = None

# Spark's start warns of things that a user could not change.
QUIET_OPTION = (
    f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
)

# Of sessions that are made here; a user's own setting goes before.
_DEFAULTS = {
    "spark.driver.extraJavaOptions": QUIET_OPTION,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

_LOCAL_ONLY = {"spark.driver.host", "spark.driver.bindAddress"}

# Of the queries of a job.
_FOR_JOBS = {
    # A subtask per partition, from the plan to the end.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.unionOutputPartitioning": "false",
    # Rows are frames of up to a megabyte.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}


def set_session(session: SparkSession | None) -> None:
    """Jobs run in this session from now on; None: in the one that is active then."""
    global _chosen
    if session is not None:
        _check_classic(session)
    _chosen = session


def resolve_session(
    configuration: Configuration, dataframes: list[DataFrame] | None = None
) -> SparkSession:
    """The session for a job over ``dataframes``."""
    found = _chosen
    if found is None and dataframes:
        found = dataframes[0].sparkSession
    if found is None:
        found = _active()
    if found is None:
        return _create(configuration)
    _check_classic(found)
    wanted = configuration.get("penstock.spark.master")
    running = found.sparkContext.master
    if wanted is not None and wanted != running:
        raise ValueError(
            f"penstock.spark.master is {wanted!r}, but there is a Spark session on {running!r}; "
            "stop it first, or leave the setting out"
        )
    return found


def ignore_version_warnings() -> None:
    """PySpark warns at every call that it does not know the installed pandas; jobs do not use pandas."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def for_jobs(session: SparkSession) -> SparkSession:
    """A session beside the given one, with the same settings but for those that jobs need."""
    from pyspark.sql import SparkSession

    clone = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())
    for key, value in _FOR_JOBS.items():
        clone.conf.set(key, value)
    return clone


def _active() -> SparkSession | None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    if found is None and SparkContext._active_spark_context is not None:
        found = SparkSession.builder.getOrCreate()  # of another thread
    return found


def _create(configuration: Configuration) -> SparkSession:
    from pyspark.sql import SparkSession

    master = configuration.get_string("penstock.spark.master", "local[*]")
    given = {k: v for k, v in configuration.to_dict().items() if k.startswith("spark.")}
    local = master.startswith("local")
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # The executors' Python must be the driver's.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("Penstock")
    for key, value in {**_defaults(local), **given}.items():
        builder = builder.config(key, _setting(value))
    return builder.getOrCreate()


def _defaults(local: bool) -> dict[str, str]:
    if local:
        return _DEFAULTS
    return {k: v for k, v in _DEFAULTS.items() if k not in _LOCAL_ONLY}


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_classic(session: Any) -> None:
    if not hasattr(session, "_jsparkSession"):
        raise NotImplementedError(
            "Penstock does not run over Spark Connect yet; use a SparkSession with a driver in this process"
        )
