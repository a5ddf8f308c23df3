"""The functions that Spark runs on its partitions, by ``mapInArrow``: one class per way that rows come in.

An instance travels to the executors by pickle; the plan and the data of in-memory sources are broadcast variables. Each
call runs one attempt of one subtask, from its first element to its end, and yields frames, or, where ``columns`` is
set, the tapped rows themselves. Nothing of it stays behind in the Python worker.
"""

from __future__ import annotations

import itertools
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock._core.columnar import Batch
from penstock.graph.specs import GeneratorSourceSpec
from penstock.runtime.spark.acknowledgements import Acknowledgement
from penstock.runtime.spark.channels import FrameGate
from penstock.runtime.spark.dataframe_types import cast_batch
from penstock.runtime.spark.frames import (
    ACKNOWLEDGEMENT,
    SEED,
    UNNAMED,
    Frame,
    FrameError,
    FrameHeader,
    encode_frame,
    frame_rows,
    read_frames,
)
from penstock.runtime.spark.plan import DRIVER, VertexPlan
from penstock.runtime.spark.remote_errors import carried_errors
from penstock.runtime.spark.routes import routes
from penstock.runtime.spark.shards import EMPTY_SHARD, read_shard
from penstock.runtime.spark.subtask import SparkSubtask

if TYPE_CHECKING:
    from penstock._core.task import Element

__all__ = ["DataFrameStage", "SourceStage", "Stage", "TaskStage"]

# Frames go to the JVM in groups of about so many bytes.
_GROUP_BYTES = 1 << 20
_WAIT_SECONDS = 0.005


class Stage(ABC):
    """``plan`` is a broadcast variable with the pickled VertexPlan."""

    def __init__(self, plan: Any, columns: pa.Schema | None = None) -> None:
        self._plan = plan
        self.columns = columns

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with carried_errors(readable_only=self.columns is not None):
            plan: VertexPlan = pickle.loads(self._plan.value)
            frames = self._run(plan, _attempt(), batches)
            if self.columns is None:
                yield from _grouped(frames)
            else:
                yield from _tapped_columns(frames, self.columns)

    def _subtask(
        self, plan: VertexPlan, subtask: int, attempt: int, *, pushed: bool = False
    ) -> SparkSubtask:
        direct = self.columns is not None
        return SparkSubtask(plan, subtask, attempt, pushed=pushed, direct=direct)

    @abstractmethod
    def _run(
        self, plan: VertexPlan, attempt: int, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[Frame]:
        """The frames of one subtask, its acknowledgement at the end."""


class SourceStage(Stage):
    """A source of ours. The partition has one row: the number of the subtask.

    ``shards`` are the rows of in-memory sources, one broadcast variable per subtask; empty: there are no rows at all;
    None: the source makes its rows.
    """

    def __init__(
        self, plan: Any, shards: Sequence[Any] | None, columns: pa.Schema | None = None
    ) -> None:
        super().__init__(plan, columns)
        self._shards = shards

    def _run(
        self, plan: VertexPlan, attempt: int, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[Frame]:
        (subtask,) = (number for batch in batches for number in batch.column(0).to_pylist())
        if self._shards is not None:
            shard = self._shards[subtask].value if self._shards else EMPTY_SHARD
            elements = read_shard(shard, _batch_rows(plan))
            yield from _push(self._subtask(plan, subtask, attempt, pushed=True), elements)
        else:
            yield from _poll(self._subtask(plan, subtask, attempt), _waits(plan))


class DataFrameStage(Stage):
    """A partition of the user's DataFrame is the source. The last column has the number of the partition.

    A partition without rows therefore does not know its number. It sends an end to everybody that it might have to
    send one to, unnamed; and the gates find out whose it is, as the one that has not said anything.
    """

    def __init__(self, plan: Any, schema: pa.Schema, columns: pa.Schema | None = None) -> None:
        super().__init__(plan, columns)
        self._schema = schema

    def _run(
        self, plan: VertexPlan, attempt: int, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[Frame]:
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            yield from _unnamed(plan, attempt)
            return
        subtask = first.column(first.num_columns - 1)[0].as_py()
        task = self._subtask(plan, subtask, attempt, pushed=True)
        yield from _push(task, self._elements(first, batches))

    def _elements(self, first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[Element]:
        for batch in itertools.chain([first], rest):
            columns = batch.select(range(batch.num_columns - 1))
            yield "batch", Batch.from_arrow(cast_batch(columns, self._schema))


class TaskStage(Stage):
    """A vertex with inputs. The partition has its seed, and all frames for it, sorted by (sequence, channel)."""

    def _run(
        self, plan: VertexPlan, attempt: int, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[Frame]:
        rows = read_frames(batches)
        seed = next(rows, None)
        if seed is None or seed.edge != SEED:
            raise FrameError(f"a partition of {plan.vertex.name!r} has no seed: {seed}")
        subtask = seed.channel
        gate = FrameGate(subtask, plan.channels(subtask), plan.lenient_edges)
        passed_on: list[Frame] = []
        with self._subtask(plan, subtask, attempt) as task:
            for channel, element in gate.elements(_without_others(rows, passed_on)):
                yield from task.feed(channel, element)
            yield task.acknowledgement(gate.receipts())
        for frame in passed_on:
            yield Acknowledgement.of(frame).frame(plan.acknowledgement_partitions)


def _attempt() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.taskAttemptId())


def _batch_rows(plan: VertexPlan) -> int:
    return int(plan.configuration.get("penstock.batch-size", 8192))


def _waits(plan: VertexPlan) -> bool:
    spec = plan.vertex.operators[0].spec
    return isinstance(spec, GeneratorSourceSpec) and spec.rate is not None


def _push(subtask: SparkSubtask, elements: Iterable[Element]) -> Iterator[Frame]:
    with subtask as task:
        for element in elements:
            yield from task.feed(0, element)
        yield from task.feed(0, ("end",))
        yield task.acknowledgement({})


def _poll(subtask: SparkSubtask, waits: bool) -> Iterator[Frame]:
    with subtask as task:
        while task.poll():
            yield from task.output()
            if waits:
                time.sleep(_WAIT_SECONDS)
        yield from task.output()
        yield task.acknowledgement({})


def _unnamed(plan: VertexPlan, attempt: int) -> Iterator[Frame]:
    for out in plan.outputs:
        for target in range(out.targets):
            header = FrameHeader(plan.vertex.id, UNNAMED, attempt, out.edge, target, 0)
            payload, _ = encode_frame(header, [("end",)])
            route = 0 if out.target == DRIVER else routes(out.targets)[target]
            yield Frame(route, out.edge, UNNAMED, 0, payload)
    yield Acknowledgement(plan.vertex.id, UNNAMED, attempt).frame(plan.acknowledgement_partitions)


def _without_others(rows: Iterator[Frame], passed_on: list[Frame]) -> Iterator[Frame]:
    """The frames among the rows; acknowledgements go to ``passed_on``."""
    for row in rows:
        if row.edge == SEED:
            raise FrameError(f"two subtasks share a partition: {row}")
        if row.edge == ACKNOWLEDGEMENT:
            passed_on.append(row)
        else:
            yield row


def _grouped(frames: Iterable[Frame]) -> Iterator[pa.RecordBatch]:
    group: list[Frame] = []
    size = 0
    for frame in frames:
        group.append(frame)
        size += len(frame.payload)
        if size >= _GROUP_BYTES:
            yield frame_rows(group)
            group, size = [], 0
    if group:
        yield frame_rows(group)


def _tapped_columns(frames: Iterable[Frame], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of the only tap, in Spark's types. There are no other edges: the vertex is the last one."""
    for frame in frames:
        if isinstance(frame.payload, Batch):
            yield cast_batch(pa.record_batch(frame.payload), schema)
