"""The stream graph as JSON, in the form of Flink's plan visualizer, with uids and the planner's reasons added."""

from __future__ import annotations

import json
from typing import Any

from penstock.graph.job_graph_generator import is_chainable
from penstock.graph.stream_graph import StreamEdge, StreamGraph, StreamNode

__all__ = ["execution_plan"]


def execution_plan(graph: StreamGraph) -> str:
    """The plan of ``graph`` as JSON text."""
    return json.dumps({"nodes": [_node(graph, node) for node in graph.nodes.values()]}, indent=2)


def _node(graph: StreamGraph, node: StreamNode) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": node.id,
        "type": node.name,
        "pact": "Data Source" if node.is_source else "Operator",
        "contents": node.description or node.name,
        "parallelism": node.parallelism,
        "uid": node.uid,
        **node.facts,
    }
    edges = graph.in_edges(node.id)
    if edges:
        entry["predecessors"] = [_predecessor(graph, edge) for edge in edges]
    return entry


def _predecessor(graph: StreamGraph, edge: StreamEdge) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": edge.source,
        "ship_strategy": edge.partitioning.kind.upper(),
        "chained": is_chainable(graph, edge),
    }
    if edge.partitioning.key_columns:
        entry["key_columns"] = list(edge.partitioning.key_columns)
    if edge.side is not None:
        entry["side_output"] = edge.side
    return entry
