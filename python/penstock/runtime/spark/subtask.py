"""One subtask of a vertex inside a Spark task: the native task, and its channels to the next stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from penstock._core import operators
from penstock._core.task import TaskDriver
from penstock.common.configuration import Configuration
from penstock.graph.job_graph import ChainedOperator
from penstock.graph.specs import SourceSpec
from penstock.runtime.spark.acknowledgements import Acknowledgement
from penstock.runtime.spark.channels import ChannelId, FrameWriter, Receipt
from penstock.runtime.spark.frames import Frame
from penstock.runtime.spark.plan import DRIVER, OutputEdge, VertexPlan
from penstock.runtime.spark.routes import routes
from penstock.runtime.state_backend_settings import StateBackendSettings
from penstock.runtime.translate import Translation

if TYPE_CHECKING:
    from penstock._core.task import Element

__all__ = ["SparkSubtask"]


def _writers(plan: VertexPlan, subtask: int, attempt: int) -> dict[tuple[int, int], FrameWriter]:
    """A writer for each (edge, target) that ``subtask`` sends to."""
    return {
        (out.edge, target): FrameWriter(
            plan.vertex.id,
            subtask,
            attempt,
            out.edge,
            target,
            out.channel(subtask),
            0 if out.target == DRIVER else routes(out.targets)[target],
        )
        for out in plan.outputs
        for target in ([subtask] if out.forward else range(out.targets))
    }


class SparkSubtask:
    """Feeds the native task and turns what it sends into frames. A context manager: the task is closed at its end.

    ``pushed``: the vertex begins with a source, but its rows are fed from outside, through one channel.
    ``direct``: batches are handed out as payloads, not encoded; for the last stage, which makes rows of them.
    """

    def __init__(
        self,
        plan: VertexPlan,
        subtask: int,
        attempt: int,
        *,
        pushed: bool = False,
        direct: bool = False,
    ) -> None:
        self._plan = plan
        self._subtask = subtask
        self._attempt = attempt
        self._pushed = pushed
        self._direct = direct
        self._writers = _writers(plan, subtask, attempt)
        self._edges: list[OutputEdge] = []  # by their number in the native task
        self._gate_taps = [out for out in plan.outputs if out.source_operator is None]
        self._driver = self._make_driver()

    def __enter__(self) -> Self:
        self._driver.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._driver.close()
        except Exception as closing:
            if error is None:
                raise
            # What failed first is what counts.
            error.add_note(f"closing the operators failed as well: {closing}")

    def poll(self) -> bool:
        """Lets the source emit once; False: it has ended."""
        return self._driver.poll()

    def feed(self, channel: int, element: Element) -> Iterator[Frame]:
        """Handles an element; the frames that it completed."""
        if element[0] == "batch":
            yield from self._tapped(element)
        self._driver.feed(channel, element)
        if self._driver.ended:
            yield from self._tapped(("end",))
        yield from self.output()

    def output(self) -> Iterator[Frame]:
        """The frames that are complete since the last call."""
        for edge, number, element in self._driver.take_output():
            out = self._edges[edge]
            yield from self._write(out, out.target_subtask(number, self._subtask), element)

    def acknowledgement(self, received: dict[ChannelId, Receipt]) -> Frame:
        """What the subtask did, as a row for the driver."""
        if not self._driver.ended:
            raise AssertionError(
                f"subtask {self._subtask} of {self._plan.vertex.name!r} has not ended"
            )
        metrics = self._driver.metrics()
        for entry in metrics:
            entry["vertex"] = self._plan.number
        if self._pushed:
            metrics[0]["records_in"] = 0  # as of any source
        return Acknowledgement(
            self._plan.vertex.id,
            self._subtask,
            self._attempt,
            {name: writer.receipt() for name, writer in self._writers.items()},
            received,
            tuple(metrics),
        ).frame(self._plan.acknowledgement_partitions)

    def _tapped(self, element: Element) -> Iterator[Frame]:
        for out in self._gate_taps:
            yield from self._write(out, 0, element)

    def _write(self, out: OutputEdge, target: int, element: Element) -> Iterable[Frame]:
        if self._direct:
            return (Frame(0, out.edge, 0, 0, element[1]),) if element[0] == "batch" else ()
        frame = self._writers[out.edge, target].add(element)
        return () if frame is None else (frame,)

    def _make_driver(self) -> TaskDriver:
        vertex = self._plan.vertex
        channels = 1 if self._pushed else len(self._plan.channels(self._subtask))
        driver = TaskDriver(
            vertex.name, self._subtask, vertex.parallelism, vertex.max_parallelism, [0] * channels
        )
        configuration = Configuration(self._plan.configuration)
        backend = StateBackendSettings.of(configuration)
        driver.set_state_backend(backend.kind, backend.options)
        translation = Translation(configuration)
        for operator in vertex.operators:
            self._add_operator(driver, translation, operator)
        for out in self._plan.outputs:
            if out.source_operator is None:
                continue
            targets = 1 if out.forward else out.targets
            driver.add_edge(
                out.source_operator,
                out.side,
                out.kind,
                targets,
                out.key_columns,
                out.target_max_parallelism,
            )
            self._edges.append(out)
        return driver

    def _add_operator(
        self, driver: TaskDriver, translation: Translation, operator: ChainedOperator
    ) -> None:
        parallelism = self._plan.vertex.parallelism
        name, uid = operator.name, operator.uid
        if not isinstance(operator.spec, SourceSpec):
            native = translation.operator(operator, self._subtask, parallelism)
            upstream = -1 if operator.upstream is None else operator.upstream
            driver.add_operator(native, name, uid, upstream, operator.side)
        elif self._pushed:
            # In place of the source: rows go through it as they are.
            driver.add_operator(operators.timestamps(None, None, None, None, 8192, 200), name, uid)
        else:
            driver.add_source(translation.source(operator, self._subtask, parallelism), name, uid)
