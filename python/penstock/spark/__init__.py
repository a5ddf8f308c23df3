"""Penstock and Spark: DataFrames in and out, and the session that jobs run in.

The same program runs on Spark with ``execution.target`` set to ``spark``::

    configuration = Configuration({"execution.target": "spark"})
    env = StreamExecutionEnvironment(configuration)
    clicks = from_dataframe(env, spark.read.parquet("clicks"))

* The session is the one given to ``set_session``, that of the DataFrames, the active one, or a new one on
  ``penstock.spark.master`` (default ``local[*]``) with all settings that begin with ``spark.``.
* The parallelism of an operator is the number of its Spark partitions. Only bounded jobs can run, without checkpoints.
* Results and metrics come when the job has ended. Sinks run on the executors; when Spark runs a task again they
  see its rows again.
* Executors need the driver's Python environment: it is there on one machine, and on a cluster that has it at the same
  path. Elsewhere ship it as Spark ships any Python environment, as a packed archive (``spark.archives``) or an image;
  modules of your own go by ``--py-files``, functions and lambdas go by themselves.
"""

from __future__ import annotations

from penstock.runtime.spark.session import set_session
from penstock.spark.dataframes import from_dataframe, to_dataframe

__all__ = ["from_dataframe", "set_session", "to_dataframe"]


def __dir__() -> list[str]:
    return sorted(__all__)
