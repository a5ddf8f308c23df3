"""Starts a job graph on Spark, or makes a DataFrame of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.common.configuration import Configuration
from penstock.graph.job_graph import JobGraph
from penstock.graph.specs import GeneratorSourceSpec
from penstock.runtime.checkpoint_settings import CheckpointSettings
from penstock.runtime.spark.dataframe_source import DataFrameSourceSpec
from penstock.runtime.spark.dataframe_types import spark_columns
from penstock.runtime.spark.plan import plan_stages
from penstock.runtime.spark.session import for_jobs, ignore_version_warnings, resolve_session
from penstock.runtime.spark.spark_job import run_plan
from penstock.runtime.spark.spark_job_client import SparkJobClient
from penstock.runtime.spark.stage_builder import StageBuilder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["launch_job", "lazy_dataframe"]


def launch_job(job_graph: JobGraph, configuration: Configuration) -> SparkJobClient:
    """Starts the job; what can be wrong with it before it runs is raised here."""
    _check_spark()
    settings = CheckpointSettings.of(configuration, job_graph.name)
    _check_supported(job_graph, settings)
    session = resolve_session(configuration, _dataframes(job_graph))
    plan = plan_stages(job_graph, _shipped(configuration))
    own = for_jobs(session)
    return SparkJobClient(
        settings.job_id,
        job_graph.name,
        plan.taps.keys(),
        session.sparkContext,
        lambda: run_plan(plan, own),
    )


def lazy_dataframe(
    job_graph: JobGraph, configuration: Configuration, schema: Any, session: SparkSession | None
) -> DataFrame:
    """The rows that reach the only collect sink, as a DataFrame; nothing runs before it is used."""
    _check_spark()
    _check_supported(job_graph, CheckpointSettings.of(configuration, job_graph.name))
    columns = spark_columns(schema)
    if session is None:
        session = resolve_session(configuration, _dataframes(job_graph))
    plan = plan_stages(job_graph, _shipped(configuration), adaptive=True)
    return StageBuilder(plan, session, columns).build()


def _dataframes(job_graph: JobGraph) -> list[DataFrame]:
    heads = (vertex.operators[0].spec for vertex in job_graph.vertices)
    return [spec.dataframe for spec in heads if isinstance(spec, DataFrameSourceSpec)]


def _shipped(configuration: Configuration) -> dict[str, Any]:
    """The settings that the executors need."""
    kept = ("penstock.", "state.", "taskmanager.")
    return {key: v for key, v in configuration.to_dict().items() if key.startswith(kept)}


def _check_supported(job_graph: JobGraph, settings: CheckpointSettings) -> None:
    wanted = (settings.directory, settings.interval_ms, settings.restore_path)
    if any(value is not None for value in wanted):
        raise NotImplementedError(
            "checkpoints are not taken with execution.target spark yet; leave out enable_checkpointing() and "
            "execution.checkpointing.*"
        )
    for vertex in job_graph.vertices:
        spec = vertex.operators[0].spec
        if isinstance(spec, GeneratorSourceSpec) and spec.count is None:
            raise NotImplementedError(
                f"{vertex.operators[0].name!r} has no end, and with execution.target spark only bounded jobs can run "
                "yet; give it a count"
            )


def _check_spark() -> None:
    ignore_version_warnings()
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "execution.target spark needs PySpark: pip install 'penstock[spark]'"
        ) from error
