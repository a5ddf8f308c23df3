"""The job graph: operators chained into vertices, vertices joined by exchanges. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.graph.specs import OperatorSpec

__all__ = ["ChainedOperator", "JobEdge", "JobGraph", "JobVertex", "Partitioning"]


@dataclass(frozen=True)
class Partitioning:
    """How rows find their subtask: forward, rebalance, broadcast, global, or hash.

    For hash, ``key_columns`` None means the encoded keys that a KeySelectorSpec attached.
    """

    kind: str
    key_columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ChainedOperator:
    """One operator of a vertex. ``upstream`` is the index (in the vertex) of the operator that feeds it, None for the
    head, which reads the input gate or is a source. ``side`` is the number of the side output it reads, None: main."""

    uid: str
    name: str
    spec: OperatorSpec
    upstream: int | None = None
    side: int | None = None


@dataclass(frozen=True)
class JobVertex:
    id: int
    name: str
    parallelism: int
    max_parallelism: int
    operators: tuple[ChainedOperator, ...]


@dataclass(frozen=True)
class JobEdge:
    """Output ``side`` (None: main) of operator ``source_operator`` of vertex ``source`` feeds the head of ``target``."""

    source: int
    source_operator: int
    side: int | None
    target: int
    partitioning: Partitioning


@dataclass(frozen=True)
class JobGraph:
    """Vertices in topological order."""

    name: str
    vertices: tuple[JobVertex, ...]
    edges: tuple[JobEdge, ...]
    configuration: dict[str, Any] = field(default_factory=dict)
