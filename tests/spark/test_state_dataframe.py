"""State from outside as a Spark DataFrame."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Types
from penstock.state import SavepointReader, SavepointWriter

pytestmark = pytest.mark.spark


def test_state_is_a_spark_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "written"
    totals = [{"user": f"u{i}", "total": i} for i in range(5)]
    operator = SavepointWriter.new().with_operator("op")
    operator.value_state("total", totals, "user", Types.LONG()).write(path)
    frame = SavepointReader(path).to_spark("op", "total", spark)
    rows = sorted((row["key"], row["value"]) for row in frame.collect())
    assert rows == [(f"u{i}", i) for i in range(5)]
