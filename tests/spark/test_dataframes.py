"""DataFrames as sources, and streams as DataFrames."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as S

from penstock import Duration, Time, WatermarkStrategy, col
from penstock import functions as F
from penstock.datastream import DataStream, TumblingEventTimeWindows
from penstock.errors import UserCodeError
from penstock.spark import from_dataframe, to_dataframe

from .conftest import environment

pytestmark = pytest.mark.spark

UTC = dt.UTC
NOON = dt.datetime(2026, 1, 2, 12, 30, 15, 123456)
EVERY_TYPE: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [True, None, False]),
    "i8": (pa.int8(), [-128, None, 127]),
    "i16": (pa.int16(), [-(2**15), None, 2**15 - 1]),
    "i32": (pa.int32(), [-(2**31), None, 2**31 - 1]),
    "i64": (pa.int64(), [-(2**63), None, 2**63 - 1]),
    "f32": (pa.float32(), [1.5, None, -2.25]),
    "f64": (pa.float64(), [0.1, None, 1e300]),
    "string": (pa.string(), ["ü", None, ""]),
    "binary": (pa.binary(), [b"\x00\xff", None, b""]),
    "date": (pa.date32(), [dt.date(1969, 12, 31), None, dt.date(2400, 2, 29)]),
    "decimal": (pa.decimal128(12, 3), [Decimal("1.250"), None, Decimal("-7.000")]),
    "ntz": (pa.timestamp("us"), [NOON, None, NOON]),
    "zoned": (pa.timestamp("us", "UTC"), [NOON.replace(tzinfo=UTC), None, None]),
    "list": (pa.list_(pa.int32()), [[1, None, 3], None, []]),
    "struct": (
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        [{"a": 1, "b": "x"}, None, None],
    ),
}


def every_type() -> pa.Table:
    return pa.table({name: pa.array(v, kind) for name, (kind, v) in EVERY_TYPE.items()})


def test_every_type_comes_through_a_job_and_back(spark: SparkSession) -> None:
    rows = spark.createDataFrame(every_type())
    stream = from_dataframe(environment("spark", 2), rows).rebalance().filter(col("bool") | True)
    found = to_dataframe(stream)
    assert [(f.name, f.dataType) for f in found.schema] == [
        (f.name, f.dataType) for f in rows.schema
    ]
    assert sorted(found.collect(), key=repr) == sorted(rows.collect(), key=repr)


def test_types_that_spark_does_not_have_become_wider(spark: SparkSession) -> None:
    table = pa.table(
        {
            "u8": pa.array([255, None], pa.uint8()),
            "u32": pa.array([2**32 - 1, None], pa.uint32()),
            "u64": pa.array([2**64 - 1, None], pa.uint64()),
            "seconds": pa.array([NOON.replace(microsecond=0), None], pa.timestamp("s")),
            "fixed": pa.array([b"ab", None], pa.binary(2)),
            "large": pa.array(["x", None], pa.large_string()),
        }
    )
    found = to_dataframe(environment("spark", 1).from_arrow(table))
    types = {f.name: f.dataType.simpleString() for f in found.schema}
    assert types == {
        "u8": "smallint",
        "u32": "bigint",
        "u64": "decimal(20,0)",
        "seconds": "timestamp_ntz",
        "fixed": "binary",
        "large": "string",
    }
    assert found.toArrow().to_pylist() == table.to_pylist()


def test_a_value_that_spark_cannot_hold_is_an_error(spark: SparkSession) -> None:
    table = pa.table({"t": pa.array([1], pa.timestamp("ns"))})
    found = to_dataframe(environment("spark", 1).from_arrow(table))
    with pytest.raises(Exception, match=r"column 't' of type timestamp\[ns\] does not fit Spark's"):
        found.collect()


@pytest.mark.parametrize(("partitions", "parallelism"), [(1, 1), (1, 3), (5, 2), (3, 3)])
def test_partitions_are_dealt_out_to_the_subtasks(
    spark: SparkSession, partitions: int, parallelism: int
) -> None:
    rows = spark.range(0, 1000, 1, partitions)
    stream = from_dataframe(environment("spark", parallelism), rows).rebalance()
    with stream.map(lambda row: row.id).execute_and_collect() as found:
        assert sorted(found) == list(range(1000))


def test_partitions_without_rows_do_no_harm(spark: SparkSession) -> None:
    rows = spark.range(0, 1000, 1, 6).filter("id between 300 and 350")
    env = environment("spark", 6)
    stream = from_dataframe(env, rows).map(lambda row: row.id)
    forward = from_dataframe(env, rows).filter(col("id") < 310).map(lambda row: -row.id)
    both = stream.union(forward).map(lambda n: n)
    with both.execute_and_collect() as found:
        assert sorted(found) == [*range(-309, -299), *range(300, 351)]


@pytest.mark.parametrize("condition", ["id between 300 and 350", "id < 0"])
def test_partitions_without_rows_send_an_end_to_the_driver(
    spark: SparkSession, condition: str
) -> None:
    rows = spark.range(0, 1000, 1, 4).filter(condition)
    stream = from_dataframe(environment("spark", 4), rows)
    expected = sorted(row.id for row in rows.collect())
    assert sorted(row.id for row in to_dataframe(stream).collect()) == expected
    with stream.map(lambda row: row.id).execute_and_collect() as found:
        assert sorted(found) == expected


def test_a_dataframe_that_is_planned_adaptively(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    rows = spark.range(1000).groupBy((S.col("id") % 10).alias("k")).agg(S.count("*").alias("n"))
    stream = from_dataframe(environment("spark", 2), rows).rebalance().filter(col("k") < 5)
    assert sorted(tuple(row) for row in to_dataframe(stream).collect()) == [
        (k, 100) for k in range(5)
    ]
    with stream.execute_and_collect() as found:
        assert sorted(found) == [(k, 100) for k in range(5)]


def windows(stream: DataStream) -> DataStream:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_days(30))
    timed = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_column("ts"))
    keyed = timed.key_by("k").window(TumblingEventTimeWindows.of(Time.minutes(10)))
    return keyed.aggregate(F.count(), F.sum("v"), F.min("s"))


def events(spark: SparkSession) -> DataFrame:
    return spark.range(0, 20000, 1, 3).select(
        (S.col("id") * 7919 % 20000).alias("v"),
        S.when(S.col("id") % 11 != 0, S.concat(S.lit("k"), S.col("id") % 5)).alias("k"),
        S.when(S.col("id") % 3 != 0, S.col("id").cast("string")).alias("s"),
        S.timestamp_millis(S.col("id") * 1000).alias("ts"),
    )


def test_windows_over_a_dataframe_are_sparks_own(spark: SparkSession) -> None:
    rows = events(spark)
    found = to_dataframe(windows(from_dataframe(environment("spark", 2), rows)))
    expected = (
        rows.groupBy("k", S.window("ts", "10 minutes").alias("w"))
        .agg(S.count("*"), S.sum("v"), S.min("s"))
        .selectExpr("k", "to_timestamp_ntz(w.start)", "to_timestamp_ntz(w.end)", "* except(k, w)")
    )
    assert found.columns == ["k", "window_start", "window_end", "count", "sum_v", "min_s"]
    assert sorted(map(tuple, found.collect()), key=repr) == sorted(
        map(tuple, expected.collect()), key=repr
    )


def test_a_dataframe_of_a_stream_is_lazy_and_can_be_used_like_any_other(
    spark: SparkSession,
) -> None:
    def fail_once_used(row: Any) -> Any:
        raise RuntimeError("used")

    env = environment("spark", 2)
    stream = from_dataframe(env, spark.range(10))
    to_dataframe(stream.filter(fail_once_used))
    found = to_dataframe(stream.with_columns(double=col("id") * 2))
    found.createOrReplaceTempView("doubled")
    assert spark.sql("select sum(double) from doubled where id > 5").collect()[0][0] == 60
    assert spark.range(3).join(found, "id").count() == 3
    assert found.filter("id = 3").count() + found.filter("id = 3").count() == 2
    assert found.limit(2).count() == 2


def test_an_error_in_a_dataframe_of_a_stream_is_readable(spark: SparkSession) -> None:
    stream = from_dataframe(environment("spark", 1), spark.range(10))
    found = to_dataframe(stream.filter(lambda row: 1 / (row.id - 5)).name("Divide"))
    with pytest.raises(Exception, match="division by zero") as failure:
        found.collect()
    text = str(failure.value)
    assert "Divide" in text
    assert "1 / (row.id - 5)" in text
    assert "penstock-error" not in text
    assert UserCodeError.__name__ in text


def test_what_cannot_be_a_stream_is_refused(spark: SparkSession) -> None:
    env = environment("spark", 1)
    with pytest.raises(TypeError, match="takes a Spark DataFrame, not list"):
        from_dataframe(env, [1])  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="batch DataFrames only"):
        from_dataframe(env, spark.readStream.format("rate").load())
    with pytest.raises(ValueError, match="'id' is there twice"):
        from_dataframe(env, spark.range(1).selectExpr("id", "id"))
    with pytest.raises(TypeError, match="'v' of type variant cannot be read"):
        from_dataframe(env, spark.sql("select parse_json('1') as v"))
    with pytest.raises(TypeError, match=r"to_dataframe\(\).*columns"):
        to_dataframe(env.from_collection([object()]))
    with pytest.raises(TypeError, match="takes a DataStream"):
        to_dataframe([])  # type: ignore[arg-type]
