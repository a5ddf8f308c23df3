"""A Spark DataFrame as a source: its partitions are the splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.graph.specs import SourceSpec

__all__ = ["DataFrameSourceSpec"]


@dataclass(frozen=True)
class DataFrameSourceSpec(SourceSpec):
    """The rows of ``dataframe`` in the columns of ``schema`` (pyarrow.Schema).

    Each subtask reads some of its partitions one after the other, as Flink's subtasks read splits. The DataFrame
    stays on the driver: executors get the spec without it.
    """

    local_advice: ClassVar[str] = (
        "a Spark DataFrame is read with execution.target spark, or embedded by env.from_arrow(df.toArrow())"
    )

    dataframe: Any  # pyspark.sql.DataFrame
    schema: Any

    def __reduce__(self) -> Any:
        return DataFrameSourceSpec, (None, self.schema)
