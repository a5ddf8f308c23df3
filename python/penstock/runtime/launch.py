"""Starts a job graph where its target says."""

from __future__ import annotations

from penstock.common.configuration import Configuration
from penstock.graph.job_graph import JobGraph
from penstock.runtime.job_client import JobClient

__all__ = ["launch"]


def launch(job_graph: JobGraph, configuration: Configuration, target: str = "local") -> JobClient:
    """Starts the job and returns at once; ``target`` is local or spark."""
    if target == "local":
        from penstock.runtime.local import launch_job as launch_local

        return launch_local(job_graph, configuration)
    if target == "spark":
        from penstock.runtime.spark import launch_job as launch_spark

        return launch_spark(job_graph, configuration)
    raise ValueError(f"execution.target must be local or spark, but is {target!r}")
