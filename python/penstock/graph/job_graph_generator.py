"""Stream graph to job graph: operators that can run in one task are chained into one vertex.

An operator joins the chain of the one before it when the edge is a forward one, both have the same parallelism, it
has no other input, and neither refuses: ``head`` starts a new chain, ``never`` stands alone.
"""

from __future__ import annotations

from penstock.graph.job_graph import ChainedOperator, JobEdge, JobGraph, JobVertex
from penstock.graph.stream_graph import StreamEdge, StreamGraph, StreamNode

__all__ = ["generate_job_graph", "is_chainable"]


def is_chainable(graph: StreamGraph, edge: StreamEdge) -> bool:
    """Whether the target of ``edge`` runs in the task of its source."""
    source, target = graph.nodes[edge.source], graph.nodes[edge.target]
    return (
        edge.partitioning.kind == "forward"
        and source.parallelism == target.parallelism
        and source.max_parallelism == target.max_parallelism
        and source.chaining != "never"
        and target.chaining == "always"
        and len(graph.in_edges(target.id)) == 1
    )


def generate_job_graph(graph: StreamGraph) -> JobGraph:
    """The job graph of ``graph``, its vertices in topological order."""
    chains = _chains(graph)
    ids = {head: number for number, head in enumerate(chains, start=1)}
    # Where each node went: (vertex, index of the operator in it).
    places = {
        node_id: (ids[head], index)
        for head, members in chains.items()
        for index, node_id in enumerate(members)
    }
    return JobGraph(
        name=graph.name,
        vertices=tuple(_vertex(graph, ids[head], members) for head, members in chains.items()),
        edges=tuple(
            JobEdge(
                source=places[edge.source][0],
                source_operator=places[edge.source][1],
                side=edge.side,
                target=places[edge.target][0],
                partitioning=edge.partitioning,
            )
            for edge in graph.edges
            if edge.target in ids
        ),
        configuration=dict(graph.configuration),
    )


def _chains(graph: StreamGraph) -> dict[int, list[int]]:
    """The members of each chain by its head, both in topological order."""
    heads: dict[int, int] = {}
    chains: dict[int, list[int]] = {}
    for node_id in graph.nodes:
        edges = graph.in_edges(node_id)
        chained = len(edges) == 1 and is_chainable(graph, edges[0])
        heads[node_id] = heads[edges[0].source] if chained else node_id
        chains.setdefault(heads[node_id], []).append(node_id)
    return chains


def _vertex(graph: StreamGraph, vertex_id: int, members: list[int]) -> JobVertex:
    head = graph.nodes[members[0]]
    return JobVertex(
        id=vertex_id,
        name=" -> ".join(graph.nodes[node_id].name for node_id in members),
        parallelism=head.parallelism,
        max_parallelism=head.max_parallelism,
        operators=tuple(_chained(graph, graph.nodes[node_id], members) for node_id in members),
    )


def _chained(graph: StreamGraph, node: StreamNode, members: list[int]) -> ChainedOperator:
    if node.id == members[0]:
        return ChainedOperator(node.uid, node.name, node.spec)
    (edge,) = graph.in_edges(node.id)
    return ChainedOperator(node.uid, node.name, node.spec, members.index(edge.source), edge.side)
