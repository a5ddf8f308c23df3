"""Streams from DataFrames, and DataFrames from streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.datastream.column_operations import require_schema
from penstock.datastream.data_stream import DataStream
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.graph.planner import plan_job
from penstock.graph.specs import CollectSinkSpec
from penstock.graph.transformation import OperatorTransformation, SourceTransformation
from penstock.runtime.spark.dataframe_source import DataFrameSourceSpec
from penstock.runtime.spark.dataframe_types import schema_of_dataframe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["from_dataframe", "to_dataframe"]


def from_dataframe(env: StreamExecutionEnvironment, dataframe: DataFrame) -> DataStream:
    """A stream of the DataFrame's rows, for a job with ``execution.target`` spark.

    Its partitions are the splits of the source: each subtask reads some of them, one after the other, in their order.
    ``set_parallelism(dataframe.rdd.getNumPartitions())`` on the stream gives every partition a subtask of its own.
    """
    if not hasattr(dataframe, "mapInArrow"):
        raise TypeError(f"from_dataframe() takes a Spark DataFrame, not {type(dataframe).__name__}")
    if not hasattr(dataframe, "_jdf"):
        raise NotImplementedError("from_dataframe() does not work over Spark Connect yet")
    if dataframe.isStreaming:
        raise NotImplementedError("from_dataframe() takes batch DataFrames only, so far")
    names = dataframe.columns
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"from_dataframe(): the column {repeated[0]!r} is there twice")
    schema = schema_of_dataframe(dataframe)
    spec = DataFrameSourceSpec(dataframe, schema)
    return DataStream(
        env, SourceTransformation("Source: DataFrame", (), schema, spec=spec, columnar=True)
    )


def to_dataframe(stream: DataStream, spark: SparkSession | None = None) -> DataFrame:
    """The stream's rows as a DataFrame, in the order of no subtask in particular; nothing runs before it is used.

    Each use runs the stream again, as of any DataFrame; ``cache()`` keeps the result. Unsigned integers come as the next
    wider type and times in microseconds, as Spark has them.
    """
    if not isinstance(stream, DataStream):
        raise TypeError(f"to_dataframe() takes a DataStream, not {stream!r}")
    from penstock.runtime.spark.launcher import lazy_dataframe

    schema = require_schema(stream._transformation, "to_dataframe()")
    env: Any = stream.get_execution_environment()
    sink = OperatorTransformation(
        "Sink: DataFrame",
        (stream._transformation,),
        None,
        spec=CollectSinkSpec("dataframe"),
        needs_columns=True,
    )
    job_graph = plan_job([sink], env._plan_settings(), "DataFrame")
    return lazy_dataframe(job_graph, env.get_configuration(), schema, spark)
