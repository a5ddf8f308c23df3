"""A job on Spark: Spark moves frames between stages, and each of its partitions runs a native task."""

from __future__ import annotations

from penstock.runtime.spark.launcher import launch_job

__all__ = ["launch_job"]
