"""pyarrow, Polars, pandas and DuckDB data come in by the same door."""

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from penstock._core.columnar import Batch, batches_from_stream

pytestmark = pytest.mark.native

TABLE = pa.table(
    {
        "name": ["a", None, "longer than twelve bytes", ""],
        "count": pa.array([1, 2, None, 4], pa.int32()),
        "price": [0.5, None, -1.25, float("inf")],
        "good": [True, None, False, True],
        "at": pa.array([0, 1_500, None, -1], pa.timestamp("us", "Europe/Berlin")),
        "day": pa.array([0, None, -1, 20_000], pa.date32()),
        "tags": [["x", None], [], None, ["y"]],
    }
)


def polars_frame() -> Any:
    return pl.from_arrow(TABLE)


def pandas_frame() -> Any:
    return TABLE.to_pandas(types_mapper=pd.ArrowDtype)


def duckdb_relation() -> Any:
    return duckdb.arrow(TABLE)


def reader() -> Any:
    return TABLE.to_reader(max_chunksize=3)


def chunked_table() -> Any:
    return pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)])


PRODUCERS = [polars_frame, pandas_frame, duckdb_relation, reader, chunked_table]


def rows(batches: list[Batch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in pa.record_batch(batch).to_pylist()]


@pytest.mark.parametrize("produce", PRODUCERS)
def test_streams_of_every_library_give_the_same_rows(produce: Any) -> None:
    empty, batches = batches_from_stream(produce())
    assert empty.column_names == TABLE.column_names
    assert rows(batches) == TABLE.to_pylist()


@pytest.mark.parametrize("produce", PRODUCERS)
def test_an_empty_stream_still_has_its_schema(produce: Any) -> None:
    schema = pa.record_batch(batches_from_stream(produce())[0]).schema
    data = produce()
    if produce is duckdb_relation:
        data = data.limit(0)
    elif produce is reader:
        data = TABLE.slice(0, 0).to_reader()
    else:
        data = data[:0]
    empty, batches = batches_from_stream(data)
    assert sum(len(batch) for batch in batches) == 0
    assert len(empty) == 0
    assert pa.record_batch(empty).schema.equals(schema)


def test_types_of_polars_and_duckdb_are_those_of_their_columns() -> None:
    polars_types = pa.record_batch(batches_from_stream(polars_frame())[0]).schema
    assert polars_types.field("name").type == pa.large_string()
    assert polars_types.field("at").type == pa.timestamp("us", "Europe/Berlin")
    assert polars_types.field("tags").type == pa.large_list(pa.large_string())
    duckdb_types = pa.record_batch(batches_from_stream(duckdb_relation())[0]).schema
    assert duckdb_types.field("name").type == pa.string()
    assert duckdb_types.field("count").type == pa.int32()


def test_plain_pandas_columns_come_with_their_numpy_memory() -> None:
    frame = pd.DataFrame({"x": range(5), "y": [0.5] * 5})
    _, batches = batches_from_stream(frame)
    assert rows(batches) == [{"x": i, "y": 0.5} for i in range(5)]


def test_pandas_categories_are_decoded() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["b", "a", None, "b"])})
    _, batches = batches_from_stream(frame)
    assert [row["c"] for row in rows(batches)] == ["b", "a", None, "b"]


def test_polars_enums_and_decimals_come_in() -> None:
    frame = pl.DataFrame(
        {"e": ["x", "y", "x"], "d": ["1.25", None, "-3.50"]},
    ).with_columns(pl.col("e").cast(pl.Enum(["x", "y"])), pl.col("d").cast(pl.Decimal(20, 2)))
    empty, batches = batches_from_stream(frame)
    assert [row["e"] for row in rows(batches)] == ["x", "y", "x"]
    assert pa.record_batch(empty).schema.field("d").type == pa.decimal128(20, 2)
    assert [str(row["d"]) for row in rows(batches)] == ["1.25", "None", "-3.50"]


def test_a_single_record_batch_is_a_stream_of_one() -> None:
    class OnlyArray:
        """Has no stream, only an array."""

        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return TABLE.to_batches()[0].__arrow_c_array__(requested_schema)

    _, batches = batches_from_stream(OnlyArray())
    assert rows(batches) == TABLE.to_pylist()


def test_batches_of_one_stream_share_their_schema_and_keep_their_order() -> None:
    table = pa.table({"x": range(1000)})
    _, batches = batches_from_stream(table.to_reader(max_chunksize=77))
    assert [len(batch) for batch in batches] == [77] * 12 + [76]
    assert [row["x"] for row in rows(batches)] == list(range(1000))
