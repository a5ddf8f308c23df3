"""The stream graph: one node per operator, one edge per connection. Data only; nothing is chained yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.graph.job_graph import Partitioning
from penstock.graph.specs import OperatorSpec, SourceSpec

__all__ = ["StreamEdge", "StreamGraph", "StreamNode"]


@dataclass(frozen=True)
class StreamNode:
    """One operator. ``facts`` go into the execution plan as they are (which window operator, and why)."""

    id: int
    uid: str
    name: str
    spec: OperatorSpec
    parallelism: int
    max_parallelism: int
    chaining: str = "always"
    description: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def is_source(self) -> bool:
        return isinstance(self.spec, SourceSpec)


@dataclass(frozen=True)
class StreamEdge:
    """Output ``side`` (None: main) of node ``source`` feeds node ``target``."""

    source: int
    target: int
    side: int | None
    partitioning: Partitioning


@dataclass
class StreamGraph:
    """Nodes in topological order: an edge always leads to a higher id."""

    name: str
    nodes: dict[int, StreamNode] = field(default_factory=dict)
    edges: list[StreamEdge] = field(default_factory=list)
    configuration: dict[str, Any] = field(default_factory=dict)

    def in_edges(self, node_id: int) -> list[StreamEdge]:
        return [edge for edge in self.edges if edge.target == node_id]

    def out_edges(self, node_id: int) -> list[StreamEdge]:
        return [edge for edge in self.edges if edge.source == node_id]
