"""Builds a LocalJob from a job graph and starts it."""

from __future__ import annotations

import logging

from penstock._core.task import LocalJob
from penstock.common.configuration import Configuration
from penstock.errors import CheckpointError
from penstock.graph.job_graph import JobGraph, JobVertex
from penstock.graph.specs import SourceSpec
from penstock.runtime.checkpoint_settings import CheckpointSettings
from penstock.runtime.file_systems import locate
from penstock.runtime.local.local_job_client import LocalJobClient
from penstock.runtime.local.running_jobs import forget_ended_jobs, keep_running
from penstock.runtime.state_backend_settings import StateBackendSettings
from penstock.runtime.translate import Translation

__all__ = ["build_job", "launch_job"]

_LOGGER = logging.getLogger("penstock")


def launch_job(job_graph: JobGraph, configuration: Configuration) -> LocalJobClient:
    """Starts the job; what can be wrong with it before it runs is raised here."""
    settings = CheckpointSettings.of(configuration, job_graph.name)
    settings.check_writable()
    forget_ended_jobs()
    translation = Translation(configuration)
    capacity = configuration.get_integer("penstock.channel-capacity", 8)
    job = build_job(job_graph, translation, capacity)
    backend = StateBackendSettings.of(configuration)
    job.set_state_backend(backend.kind, backend.options)
    restored = _set_checkpoints(job, settings, job_graph.name)
    job.start()
    keep_running(job)
    return LocalJobClient(
        job,
        settings.job_id,
        job_graph.name,
        translation.collectors,
        restored,
        settings.savepoint_directory,
    )


def build_job(job_graph: JobGraph, translation: Translation, channel_capacity: int) -> LocalJob:
    """The job, not yet started. The core numbers vertices from 0, in the graph's order."""
    job = LocalJob(channel_capacity)
    numbers = {vertex.id: _add_vertex(job, vertex, translation) for vertex in job_graph.vertices}
    for edge in job_graph.edges:
        job.add_edge(
            numbers[edge.source],
            edge.source_operator,
            edge.side,
            numbers[edge.target],
            edge.partitioning.kind,
            edge.partitioning.key_columns,
        )
    return job


def _add_vertex(job: LocalJob, vertex: JobVertex, translation: Translation) -> int:
    number = job.add_vertex(vertex.name, vertex.parallelism, vertex.max_parallelism)
    for subtask in range(vertex.parallelism):
        for operator in vertex.operators:
            if isinstance(operator.spec, SourceSpec):
                source = translation.source(operator, subtask, vertex.parallelism)
                job.add_source(number, subtask, source, operator.name, operator.uid)
                continue
            job.add_operator(
                number,
                subtask,
                translation.operator(operator, subtask, vertex.parallelism),
                operator.name,
                operator.uid,
                -1 if operator.upstream is None else operator.upstream,
                operator.side,
            )
    return number


def _set_checkpoints(job: LocalJob, settings: CheckpointSettings, job_name: str) -> int | None:
    """Where checkpoints go and which one the job starts from; its number."""
    directory, file_system = "", None
    if settings.directory is not None:
        directory, file_system = locate(settings.directory, "execution.checkpointing.dir")
    try:
        job.set_checkpointing(
            directory,
            settings.job_id,
            job_name,
            settings.interval_ms,
            settings.retained,
            settings.timeout_ms,
            settings.min_pause_ms,
            settings.tolerable_failures,
            file_system=file_system,
            local_directory=settings.local_directory or "",
        )
    except OSError as error:
        raise CheckpointError(str(error)) from error
    try:
        return _restore(job, settings, job_name)
    except (ValueError, NotImplementedError) as error:
        # Of another job, or of a newer format version.
        raise CheckpointError(str(error)) from error


def _restore(job: LocalJob, settings: CheckpointSettings, job_name: str) -> int | None:
    if settings.restore_path is not None:
        path, file_system = locate(settings.restore_path, "execution.state-recovery.path")
        return job.restore_from(path, file_system, settings.ignore_unclaimed)
    if settings.directory is None:
        return None
    restored, skipped = job.restore_newest(settings.ignore_unclaimed)
    for path, reason in skipped:
        _LOGGER.warning("checkpoint %s is skipped: %s", path, reason)
    if restored is not None:
        _LOGGER.info("job %r starts from checkpoint %d", job_name, restored)
    return restored
