"""From a plan to DataFrames: one ``mapInArrow`` per vertex, one shuffle per exchange. Lazy; runs nothing.

    source rows -> mapInArrow(source chain) -> frames --+
    seeds (one row per subtask) ------------------------+-> repartition(P, route) -> sort -> mapInArrow(task) -> frames

The seed makes sure that every subtask runs, data or not, and tells it which one it is: a Spark partition does not know
its number once stages are united.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import cloudpickle
import pyarrow as pa

from penstock.graph.specs import ArrowSourceSpec, CollectionSourceSpec, OperatorSpec
from penstock.runtime.spark.dataframe_source import DataFrameSourceSpec
from penstock.runtime.spark.dataframe_types import spark_schema
from penstock.runtime.spark.frames import ACKNOWLEDGEMENT, FRAME_DDL, SEED
from penstock.runtime.spark.plan import DRIVER, SparkPlan, VertexPlan
from penstock.runtime.spark.routes import routes
from penstock.runtime.spark.shards import make_shards
from penstock.runtime.spark.stages import DataFrameStage, SourceStage, Stage, TaskStage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["StageBuilder", "in_session", "number_of_partitions"]

_SEED_SEQUENCE = -2


@dataclass
class StageBuilder:
    """Builds the stages of one plan, once.

    ``columns``: the last stage gives these columns instead of frames, in a DataFrame for the user; nobody is there then to
    free what was kept, so nothing is. ``persisted`` is kept because several stages read it: the caller frees it.
    """

    plan: SparkPlan
    session: SparkSession
    columns: pa.Schema | None = None
    persisted: list[DataFrame] = field(default_factory=list)
    _frames: dict[int, DataFrame] = field(default_factory=dict)

    def build(self) -> DataFrame:
        """What the driver reads: the frames of all vertices that send to it, or the columns of the only one."""
        to_driver = []
        for plan in self.plan.vertices:
            frames = self._vertex(plan)
            if self.columns is None and len(plan.consumers) > 1:
                frames = frames.persist()
                self.persisted.append(frames)
            self._frames[plan.vertex.id] = frames
            if DRIVER in plan.consumers:
                to_driver.append(self._sent_to(plan, DRIVER))
        return reduce(_union, to_driver)

    def _vertex(self, plan: VertexPlan) -> DataFrame:
        spec = plan.vertex.operators[0].spec
        if isinstance(spec, DataFrameSourceSpec):
            return self._dataframe_source(plan, spec)
        if plan.is_source:
            shards = make_shards(spec, plan.vertex.parallelism)
            return self._source(plan, shards, range(plan.vertex.parallelism))
        return self._task(plan)

    def _source(self, plan: VertexPlan, shards: list[bytes] | None, subtasks: range) -> DataFrame:
        """One partition per subtask, with its number."""
        rows = None if shards is None else [self._broadcast(shard) for shard in shards]
        stage = SourceStage(self._broadcast_plan(plan), rows, self._columns_of(plan))
        numbers = self.session.range(subtasks.start, subtasks.stop, 1, len(subtasks))
        return self._mapped(numbers, stage)

    def _dataframe_source(self, plan: VertexPlan, spec: DataFrameSourceSpec) -> DataFrame:
        from pyspark.sql import functions

        parallelism = plan.vertex.parallelism
        rows = in_session(spec.dataframe, self.session)
        numbered = rows.coalesce(parallelism).select("*", functions.spark_partition_id())
        stage = DataFrameStage(self._broadcast_plan(plan), spec.schema, self._columns_of(plan))
        frames = self._mapped(numbered, stage)
        found = number_of_partitions(rows) if self.columns is None else parallelism
        if found < parallelism:
            # Subtasks without a partition: as if they had an empty one, but they know their number.
            frames = _union(frames, self._source(plan, [], range(found, parallelism)))
        return frames

    def _task(self, plan: VertexPlan) -> DataFrame:
        senders = dict.fromkeys(edge.source for edge in plan.inputs)
        by_id = {other.vertex.id: other for other in self.plan.vertices}
        frames = [self._sent_to(by_id[sender], plan.vertex.id) for sender in senders]
        rows = reduce(_union, [self._seeds(plan.vertex.parallelism), *frames])
        partitions = rows.repartition(plan.vertex.parallelism, "route")
        # Spark sorts outside of the heap when it must: a partition need not fit into memory.
        ordered = partitions.sortWithinPartitions("sequence", "channel")
        return self._mapped(ordered, TaskStage(self._broadcast_plan(plan), self._columns_of(plan)))

    def _sent_to(self, sender: VertexPlan, receiver: int) -> DataFrame:
        """The frames of ``sender`` that are for ``receiver``, and the acknowledgements that take this way."""
        frames = self._frames[sender.vertex.id]
        if len(sender.consumers) == 1:
            return frames
        edges = [out.edge for out in sender.outputs if out.target == receiver]
        if sender.acknowledges_to == receiver:
            edges.append(ACKNOWLEDGEMENT)
        return frames.filter(frames["edge"].isin(edges))

    def _seeds(self, parallelism: int) -> DataFrame:
        from pyspark.sql import functions

        numbers = self.session.range(0, parallelism, 1, 1).withColumnRenamed("id", "subtask")
        keys = functions.array(*(functions.lit(route) for route in routes(parallelism)))
        columns = {
            "route": functions.element_at(keys, functions.expr("int(subtask) + 1")),
            "edge": functions.lit(SEED),
            "channel": functions.expr("int(subtask)"),
            "sequence": functions.lit(_SEED_SEQUENCE),
            "payload": functions.lit(None).cast("binary"),
        }
        return numbers.select(*(column.alias(name) for name, column in columns.items()))

    def _columns_of(self, plan: VertexPlan) -> pa.Schema | None:
        return self.columns if DRIVER in plan.consumers else None

    def _mapped(self, rows: DataFrame, stage: Stage) -> DataFrame:
        ddl: Any = FRAME_DDL if stage.columns is None else spark_schema(stage.columns)
        return rows.mapInArrow(stage, ddl)

    def _broadcast_plan(self, plan: VertexPlan) -> Any:
        first, *rest = plan.vertex.operators
        bare = replace(first, spec=_without_data(first.spec))
        vertex = replace(plan.vertex, operators=(bare, *rest))
        return self._broadcast(_pickled(replace(plan, vertex=vertex)))

    def _broadcast(self, value: bytes) -> Any:
        return self.session.sparkContext.broadcast(value)


def in_session(dataframe: DataFrame, session: SparkSession) -> DataFrame:
    """The same rows, computed with the settings of ``session``."""
    from pyspark.sql import DataFrame

    if dataframe.sparkSession is session:
        return dataframe
    jvm: Any = session.sparkContext._jvm
    datasets = jvm.org.apache.spark.sql.classic.Dataset
    plan = dataframe._jdf.logicalPlan()
    return DataFrame(datasets.ofRows(session._jsparkSession, plan), session)


def number_of_partitions(dataframe: DataFrame) -> int:
    """Known without running it, as long as the session does not plan adaptively."""
    return int(dataframe._jdf.queryExecution().toRdd().getNumPartitions())


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.union(other)


def _without_data(spec: OperatorSpec) -> OperatorSpec:
    """Rows of in-memory sources travel by themselves."""
    if isinstance(spec, ArrowSourceSpec):
        return ArrowSourceSpec(None)
    return CollectionSourceSpec(()) if isinstance(spec, CollectionSourceSpec) else spec


def _pickled(plan: VertexPlan) -> bytes:
    try:
        pickled: bytes = cloudpickle.dumps(plan)
    except Exception as error:
        names = ", ".join(repr(operator.name) for operator in plan.vertex.operators)
        raise TypeError(
            f"the functions of {names} cannot be sent to the executors, because they do not pickle: {error}; "
            "make connections, locks and open files in open(), not in __init__() or outside"
        ) from error
    return pickled
