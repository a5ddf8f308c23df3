"""Sources made from Python: what comes out is what went in."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._core import source
from penstock._core.columnar import Batch
from penstock._core.source import ArrowTable, ObjectTable, Source
from penstock._core.task import TaskDriver
from penstock.connectors.datagen import DataGen

pytestmark = pytest.mark.native


def play(made: Source, subtask: int = 0, parallelism: int = 1) -> list[tuple[Any, ...]]:
    """All elements of a source but the final watermark and the end."""
    driver = TaskDriver("task", subtask, parallelism, 128, now_ms=0)
    driver.add_source(made, "Source", "source")
    driver.add_edge(0, None, "forward", 1)
    driver.open()
    while driver.poll():
        pass
    elements = [element for _, _, element in driver.take_output()]
    driver.close()
    assert elements[-2:] == [("watermark", (1 << 63) - 1), ("end",)]
    return elements[:-2]


def rows_of(elements: list[tuple[Any, ...]]) -> list[Any]:
    return [row for kind, batch in elements if kind == "batch" for row in batch.to_rows()]


@given(st.lists(st.none() | st.integers() | st.text(), max_size=50), st.integers(1, 9))
def test_a_collection_comes_out_as_it_is(items: list[Any], batch_rows: int) -> None:
    elements = play(source.collection(ObjectTable(items), batch_rows))
    assert rows_of(elements) == items
    assert all(len(batch) <= batch_rows for _, batch in elements)


def test_subtasks_share_a_collection_without_overlap() -> None:
    items = list(range(40_000))
    table = ObjectTable(items)
    parts = [rows_of(play(source.collection(table, 1000), i, 3)) for i in range(3)]
    assert sorted(row for part in parts for row in part) == items
    assert all(parts)


@pytest.mark.parametrize("batch_rows", [1, 7, 8192])
def test_arrow_data_comes_out_as_it_is(batch_rows: int) -> None:
    table = pa.concat_tables(
        [pa.table({"a": [1, None], "b": ["x", None]}), pa.table({"a": [3], "b": ["z"]})]
    )
    elements = play(source.arrow(ArrowTable(table), batch_rows))
    batches = [pa.record_batch(batch) for _, batch in elements]
    assert pa.Table.from_batches(batches).to_pydict() == table.to_pydict()


def test_anything_with_an_arrow_stream_is_a_table() -> None:
    frame = pl.DataFrame({"a": [1, 2], "s": ["x", None]})
    table = ArrowTable(frame)
    assert table.num_rows == 2
    assert [tuple(row) for row in rows_of(play(source.arrow(table, 10)))] == frame.rows()


def test_empty_tables_end_at_once() -> None:
    assert play(source.arrow(ArrowTable(pa.table({"a": pa.array([], pa.int64())})), 10)) == []
    assert play(source.collection(ObjectTable([]), 10)) == []


def test_what_is_no_arrow_data_is_refused() -> None:
    with pytest.raises(TypeError, match="expected Arrow data"):
        ArrowTable([1, 2])


def test_batches_need_at_least_one_row() -> None:
    with pytest.raises(ValueError, match="batch_rows must be at least 1, not 0"):
        source.collection(ObjectTable([1]), 0)


GENERATED = (
    DataGen(count=20_000, seed=2**64 - 5)
    .sequence("seq", start=5, step=-2)
    .int("int", -10, 10)
    .int("wide", -(2**63), 2**63 - 1)
    .float("float", -1.5, 2.5)
    .bool("bool", 0.25)
    .choice("text", ["a", "bb", "ccc"])
    .choice("number", [1, 2, 3])
    .choice("real", [0.5, 1.5])
    .string("key", "k", 100)
    .timestamp("ts", start=1_000, step=0.5, disorder=20, late=500, late_fraction=0.1)
)


def test_generated_rows_are_those_of_the_contract() -> None:
    spec = GENERATED.spec()
    made = source.generator(spec.columns, spec.count, spec.seed, spec.rate, 1000)
    batches = [pa.record_batch(batch) for _, batch in play(made)]
    expected = GENERATED.rows(0, 20_000)
    found = pa.Table.from_batches(batches)
    assert found.schema.types == expected.schema.types
    for name in expected.schema.names:
        ours, theirs = found[name].to_pylist(), expected[name].to_pylist()
        if name == "float":
            np.testing.assert_allclose(ours, theirs, rtol=1e-15)
        else:
            assert ours == theirs, name


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (("a", "int", {"min": 1}), "column 'a': parameter 'max' is missing"),
        (("a", "int", {"min": 1, "max": "x"}), "column 'a': parameter 'max' cannot be 'x'"),
        (("a", "int", {"min": 2, "max": 1}), "column 'a'|'a'"),
        (("a", "maybe", {}), "column 'a': there is no kind 'maybe'"),
        (("a", "choice", {"values": []}), "'a'"),
        (("a", "choice", {"values": [1, "x"]}), "column 'a': parameter 'values' cannot be"),
    ],
)
def test_a_column_that_makes_no_sense_is_named(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        source.generator([column], 10, 0, None, 10)


def test_a_script_is_played_as_written() -> None:
    script = [
        ("rows", ["a", "b"], [1, 2]),
        ("watermark", 1),
        ("idle",),
        ("active",),
        ("batch", Batch.from_arrow(pa.record_batch({"x": [7]}))),
        ("rows", ["c"], None),
    ]
    elements = play(source.scripted(script))
    assert [kind for kind, *_ in elements] == [
        "batch",
        "watermark",
        "status",
        "status",
        "batch",
        "batch",
    ]
    first, mark, idle, active, columns, last = elements
    assert (first[1].to_rows(), first[1].timestamps) == (["a", "b"], [1, 2])
    assert (mark[1], idle[1], active[1]) == (1, True, False)
    assert columns[1].is_columnar
    assert (last[1].to_rows(), last[1].timestamps) == (["c"], None)


@pytest.mark.parametrize("item", [(), ("wat", 1), ("watermark",), ("rows",)])
def test_an_unknown_item_of_a_script_is_refused(item: Any) -> None:
    with pytest.raises(ValueError, match="no item of a script"):
        source.scripted([item])


def test_timestamps_of_a_script_must_be_as_many_as_rows() -> None:
    with pytest.raises(ValueError, match="1 timestamps for 2 rows"):
        source.scripted([("rows", [1, 2], [1])])
