"""The way from a program's transformations to its graphs; what the environment calls."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.graph import process_planner as _process_planner  # noqa: F401  (registers its translators)
from penstock.graph import window_planner as _window_planner  # noqa: F401  (registers its translator)
from penstock.graph.job_graph import JobGraph
from penstock.graph.job_graph_generator import generate_job_graph
from penstock.graph.stream_graph import StreamGraph
from penstock.graph.stream_graph_generator import PlanSettings, StreamGraphGenerator
from penstock.graph.transformation import Transformation

__all__ = ["PlanSettings", "plan_job", "plan_stream"]


def plan_stream(
    transformations: Iterable[Transformation], settings: PlanSettings, name: str
) -> StreamGraph:
    """The operators of a program and how they are connected."""
    return StreamGraphGenerator(settings).generate(transformations, name)


def plan_job(
    transformations: Iterable[Transformation], settings: PlanSettings, name: str
) -> JobGraph:
    """The same, chained into the tasks that run."""
    return generate_job_graph(plan_stream(transformations, settings, name))
