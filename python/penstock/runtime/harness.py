"""GraphDriver: a job graph with one subtask per vertex, driven by hand on the caller's thread.

A vertex that is a scripted source alone is an *input*: elements are fed there. Every other vertex is a TaskDriver, the
native task without thread and channels. A collect sink alone in its vertex is an *output*: what comes out of its gate is
kept. An element fed goes all the way through before the call returns, so a test sees what it caused.

Elements are those of ``penstock._core.task``, but for batches, which are ("rows", [values], [timestamps] | None).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock._core import operators
from penstock._core.columnar import Batch
from penstock._core.task import TaskDriver
from penstock.common.configuration import Configuration
from penstock.graph.job_graph import ChainedOperator, JobEdge, JobGraph, JobVertex
from penstock.graph.specs import CollectSinkSpec, ScriptedSourceSpec, SourceSpec
from penstock.runtime.state_backend_settings import StateBackendSettings
from penstock.runtime.translate import Translation

__all__ = ["Element", "GraphDriver"]

Element = tuple[Any, ...]


class GraphDriver:
    """Inputs and outputs are called by the uid of their operator.

    Parallelisms of the graph do not count: every vertex has one subtask.
    """

    def __init__(self, job_graph: JobGraph, now_ms: int) -> None:
        configuration = Configuration(job_graph.configuration)
        self._translation = Translation(configuration)
        self._backend = StateBackendSettings.of(configuration)
        self._edges = job_graph.edges
        self._heads = {vertex.operators[0].uid: vertex.id for vertex in job_graph.vertices}
        self._drivers: dict[int, TaskDriver] = {}
        self._inputs: dict[str, int] = {}  # those that have not ended
        self._outputs: dict[int, list[Element]] = {}
        self._checkpoint = 0
        self._states: dict[int, bytes] = {}  # of the newest checkpoint
        for vertex in job_graph.vertices:
            self._add(vertex, now_ms)

    def open(self, state: Mapping[str, bytes] | None = None) -> None:
        """Opens all operators; ``state`` is what ``snapshot`` gave."""
        states = {} if state is None else state
        unknown = sorted(states.keys() - self._heads.keys())
        if unknown:
            raise ValueError(f"the snapshot is of another pipeline: it has {unknown[0]!r}")
        for uid, vertex in self._heads.items():
            if vertex in self._drivers:
                self._drivers[vertex].open(states.get(uid))
        for vertex in self._drivers:
            self._pass_on(vertex)

    def feed_rows(self, name: str, rows: list[Any], timestamps: list[int] | None) -> None:
        """Rows of Python objects into an input."""
        self._send(self._heads[name], ("batch", Batch.from_rows(rows, timestamps)))

    def feed_arrow(self, name: str, data: Any, timestamps: list[int] | None) -> None:
        """A record batch into an input."""
        batch = Batch.from_arrow(data)
        if timestamps is not None:
            batch = batch.with_timestamps(timestamps)
        self._send(self._heads[name], ("batch", batch))

    def feed(self, name: str, element: Element) -> None:
        """A watermark, a status or the end into an input."""
        self._send(self._heads[name], element)
        if element[0] == "end":
            del self._inputs[name]

    def set_time(self, now_ms: int) -> None:
        """Moves the clock of all operators and fires what is due."""
        for vertex, driver in self._drivers.items():
            driver.set_time(now_ms)
            self._pass_on(vertex)

    def output(self, name: str) -> list[Element]:
        """All that has come out so far, oldest first."""
        return self._outputs[self._heads[name]]

    def snapshot(self) -> dict[str, bytes]:
        """The state of all operators, taken by a barrier that goes through them as in a job."""
        self._checkpoint += 1
        self._states.clear()
        for vertex in self._inputs.values():
            self._send(vertex, ("barrier", self._checkpoint))
        return {
            uid: self._states[vertex]
            if vertex in self._states
            else self._drivers[vertex].snapshot()
            for uid, vertex in self._heads.items()
            if vertex in self._drivers and vertex not in self._outputs
        }

    def close(self) -> None:
        for driver in self._drivers.values():
            driver.close()

    def metrics(self) -> list[dict[str, Any]]:
        return [entry for driver in self._drivers.values() for entry in driver.metrics()]

    def _add(self, vertex: JobVertex, now_ms: int) -> None:
        head = vertex.operators[0]
        if isinstance(head.spec, ScriptedSourceSpec) and len(vertex.operators) == 1:
            self._inputs[head.uid] = vertex.id
            return
        has_own_source = isinstance(head.spec, SourceSpec)
        if has_own_source:
            raise ValueError(f"{head.name!r}: the pipeline under test must not have own sources")
        channels = [0] * len(self._in_edges(vertex.id))
        driver = TaskDriver(vertex.name, 0, 1, vertex.max_parallelism, channels, now_ms)
        driver.set_state_backend(self._backend.kind, self._backend.options)
        self._drivers[vertex.id] = driver
        for operator in vertex.operators:
            driver.add_operator(
                self._operator(operator),
                operator.name,
                operator.uid,
                -1 if operator.upstream is None else operator.upstream,
                operator.side,
            )
        for edge in self._out_edges(vertex.id):
            how = edge.partitioning
            driver.add_edge(edge.source_operator, edge.side, how.kind, 1, how.key_columns)
        if isinstance(head.spec, CollectSinkSpec):
            self._outputs[vertex.id] = []
            driver.add_edge(0, None, "forward", 1)

    def _operator(self, operator: ChainedOperator) -> operators.Operator:
        if isinstance(operator.spec, CollectSinkSpec):
            return operators.map(_same)
        return self._translation.operator(operator, 0, 1)

    def _out_edges(self, vertex: int) -> list[JobEdge]:
        return [edge for edge in self._edges if edge.source == vertex]

    def _in_edges(self, vertex: int) -> list[JobEdge]:
        return [edge for edge in self._edges if edge.target == vertex]

    def _send(self, vertex: int, element: Element) -> None:
        for edge in self._out_edges(vertex):
            self._deliver(edge, element)

    def _deliver(self, edge: JobEdge, element: Element) -> None:
        # A vertex has one channel per edge that leads to it; two of them may be equal.
        channel = next(n for n, e in enumerate(self._in_edges(edge.target)) if e is edge)
        self._drivers[edge.target].feed(channel, element)
        self._pass_on(edge.target)

    def _pass_on(self, vertex: int) -> None:
        self._states.update((vertex, state) for _, state in self._drivers[vertex].take_barriers())
        sent = self._drivers[vertex].take_output()
        if vertex in self._outputs:
            self._outputs[vertex].extend(_readable(element) for _, _, element in sent)
            return
        edges = self._out_edges(vertex)
        for number, _, element in sent:
            self._deliver(edges[number], element)


def _same(value: Any) -> Any:
    return value


def _readable(element: Element) -> Element:
    if element[0] != "batch":
        return element
    batch: Batch = element[1]
    return "rows", batch.to_rows(), batch.timestamps
