"""A job graph as stages for Spark: per vertex what travels to the executors.

Edges are numbered in the order of the job graph. Each collect sink becomes a *tap*: an edge to the driver, numbered behind
them, from the operator that feeds the sink. The driver reads a tap as a subtask reads its inputs, by the same gate.
The sink itself stays in the chain and counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.graph.job_graph import ChainedOperator, JobGraph, JobVertex
from penstock.graph.specs import CollectSinkSpec, DiscardSinkSpec, OperatorSpec, SourceSpec
from penstock.runtime.spark.channels import ChannelId
from penstock.runtime.spark.dataframe_source import DataFrameSourceSpec

__all__ = ["DRIVER", "InputEdge", "OutputEdge", "SparkPlan", "VertexPlan", "plan_stages"]

# Stands for the driver where a vertex is expected.
DRIVER = 0


@dataclass(frozen=True)
class InputEdge:
    """An edge as its target sees it. ``lenient``: a subtask of the source may not exist, see ``plan_stages``."""

    edge: int
    source: int
    parallelism: int
    forward: bool
    lenient: bool = False

    def channels(self, subtask: int) -> list[ChannelId]:
        """The channels into ``subtask``, by producing subtask."""
        producers = [subtask] if self.forward else range(self.parallelism)
        return [ChannelId(self.edge, producer) for producer in producers]


@dataclass(frozen=True)
class OutputEdge:
    """An edge as its source sees it. ``source_operator`` None: what the input gate hands to the chain.

    ``first_channel`` is the number of its first channel in the gate of each target.
    """

    edge: int
    source_operator: int | None
    side: int | None
    target: int
    kind: str
    key_columns: tuple[str, ...] | None
    targets: int
    target_max_parallelism: int
    first_channel: int

    @property
    def forward(self) -> bool:
        return self.kind == "forward"

    def channel(self, subtask: int) -> int:
        """The number of the channel from ``subtask``, at its target."""
        return self.first_channel if self.forward else self.first_channel + subtask

    def target_subtask(self, number: int, subtask: int) -> int:
        """Which subtask of the target the partitioner's ``number`` means to ``subtask``."""
        return subtask if self.forward else number


@dataclass(frozen=True)
class VertexPlan:
    """What an executor needs to run the subtasks of a vertex. ``number`` is the vertex's place in the graph.

    ``acknowledges_to`` is the vertex that its acknowledgements, and those that pass through it, go to.
    """

    number: int
    vertex: JobVertex
    inputs: tuple[InputEdge, ...]
    outputs: tuple[OutputEdge, ...]
    acknowledges_to: int
    acknowledgement_partitions: int
    configuration: Mapping[str, Any]

    @property
    def is_source(self) -> bool:
        return isinstance(self.vertex.operators[0].spec, SourceSpec)

    @property
    def consumers(self) -> tuple[int, ...]:
        """The vertices, or the driver, that read what this one sends."""
        return tuple(dict.fromkeys([self.acknowledges_to, *(out.target for out in self.outputs)]))

    @property
    def lenient_edges(self) -> frozenset[int]:
        return frozenset(edge.edge for edge in self.inputs if edge.lenient)

    def channels(self, subtask: int) -> list[ChannelId]:
        """The channels of the gate of ``subtask``."""
        return [channel for edge in self.inputs for channel in edge.channels(subtask)]


@dataclass(frozen=True)
class SparkPlan:
    """All stages, in topological order, and the taps by the name of their collector."""

    name: str
    vertices: tuple[VertexPlan, ...]
    taps: Mapping[str, InputEdge]


def plan_stages(
    job_graph: JobGraph, configuration: Mapping[str, Any], *, adaptive: bool = False
) -> SparkPlan:
    """The stages of a job graph.

    ``adaptive``: how many partitions a DataFrame has is known only when it runs. Then a subtask of its source that has
    nothing to say counts as one that does not exist.
    """
    vertices = {vertex.id: vertex for vertex in job_graph.vertices}
    outputs = {vertex.id: _outputs(job_graph, vertices, vertex.id) for vertex in job_graph.vertices}
    taps: dict[str, InputEdge] = {}
    for vertex in job_graph.vertices:
        for name, tap in _taps(vertex, len(job_graph.edges) + len(taps)):
            outputs[vertex.id].append(tap)
            taps[name] = InputEdge(tap.edge, vertex.id, vertex.parallelism, forward=False)
    plans = tuple(
        VertexPlan(
            number=number,
            vertex=replace(vertex, operators=tuple(map(_without_collector, vertex.operators))),
            inputs=tuple(_inputs(job_graph, vertices, vertex.id, adaptive)),
            outputs=tuple(outputs[vertex.id]),
            configuration=dict(configuration),
            **_acknowledgements(vertices, outputs[vertex.id]),
        )
        for number, vertex in enumerate(job_graph.vertices)
    )
    return SparkPlan(job_graph.name, plans, taps)


def _outputs(
    job_graph: JobGraph, vertices: Mapping[int, JobVertex], vertex_id: int
) -> list[OutputEdge]:
    return [
        OutputEdge(
            edge=number,
            source_operator=edge.source_operator,
            side=edge.side,
            target=edge.target,
            kind=edge.partitioning.kind,
            key_columns=edge.partitioning.key_columns,
            targets=vertices[edge.target].parallelism,
            target_max_parallelism=vertices[edge.target].max_parallelism,
            first_channel=_first_channel(job_graph, vertices, number),
        )
        for number, edge in enumerate(job_graph.edges)
        if edge.source == vertex_id
    ]


def _inputs(
    job_graph: JobGraph, vertices: Mapping[int, JobVertex], vertex_id: int, adaptive: bool
) -> list[InputEdge]:
    return [
        InputEdge(
            number,
            edge.source,
            vertices[edge.source].parallelism,
            edge.partitioning.kind == "forward",
            adaptive and isinstance(_head(vertices[edge.source]), DataFrameSourceSpec),
        )
        for number, edge in enumerate(job_graph.edges)
        if edge.target == vertex_id
    ]


def _head(vertex: JobVertex) -> OperatorSpec:
    return vertex.operators[0].spec


def _first_channel(job_graph: JobGraph, vertices: Mapping[int, JobVertex], number: int) -> int:
    """The channels of the edges before it, into the same vertex."""
    target = job_graph.edges[number].target
    earlier = [edge for edge in job_graph.edges[:number] if edge.target == target]
    return sum(
        1 if edge.partitioning.kind == "forward" else vertices[edge.source].parallelism
        for edge in earlier
    )


def _taps(vertex: JobVertex, first: int) -> list[tuple[str, OutputEdge]]:
    sinks = [op for op in vertex.operators if isinstance(op.spec, CollectSinkSpec)]
    return [
        (
            sink.spec.collector,  # type: ignore[attr-defined]
            OutputEdge(
                edge=first + position,
                source_operator=sink.upstream,
                side=sink.side,
                target=DRIVER,
                kind="global",
                key_columns=None,
                targets=1,
                target_max_parallelism=vertex.max_parallelism,
                first_channel=0,
            ),
        )
        for position, sink in enumerate(sinks)
    ]


def _without_collector(operator: ChainedOperator) -> ChainedOperator:
    is_collector = isinstance(operator.spec, CollectSinkSpec)
    return replace(operator, spec=DiscardSinkSpec()) if is_collector else operator


def _acknowledgements(
    vertices: Mapping[int, JobVertex], outputs: Sequence[OutputEdge]
) -> dict[str, int]:
    """To the driver where the vertex speaks to it anyway, else along the first edge."""
    to_driver = not outputs or any(out.target == DRIVER for out in outputs)
    target = DRIVER if to_driver else outputs[0].target
    partitions = 1 if target == DRIVER else vertices[target].parallelism
    return {"acknowledges_to": target, "acknowledgement_partitions": partitions}
