"""docs/snapshot-format.md says what the engine writes: a second reader, made from the page, reads it."""

from __future__ import annotations

import pickle
import re
import struct
from collections import defaultdict
from decimal import Decimal
from typing import Any

import mmh3
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot import page
from snapshot.page_reader import (
    Cursor,
    DamagedError,
    State,
    TaskState,
    crc32c,
    read_fields,
    read_sections,
    read_task_state,
)

from penstock._core import operators, source
from penstock._core.columnar import Batch
from penstock._core.operators import Operator
from penstock._core.task import TaskDriver

pytestmark = pytest.mark.native

WINDOW_MS = 10
MAX_PARALLELISM = 128
LEAST = -(1 << 63)

Aggregate = tuple[str, str | None, str]


def item_spec(state: str) -> str:
    """What the page says of the items, or values, of a state."""
    rows = page.table("operator", "state", "kind", "key", "namespace", "value or item")
    (row,) = [row for row in rows if row["state"] == state]
    return row["value or item"].partition(";")[0]


def open_task(
    *chain: Operator, name: str = "task", max_parallelism: int = MAX_PARALLELISM
) -> TaskDriver:
    """A task of one subtask; its operators have the uids 0, 1, ..."""
    driver = TaskDriver(name, 0, 1, max_parallelism, [0], now_ms=0)
    for number, operator in enumerate(chain):
        driver.add_operator(operator, f"Operator {number}", str(number), number - 1)
    driver.add_edge(len(chain) - 1, None, "forward", 1)
    driver.open(None)
    return driver


def sliced_window(aggregates: list[Aggregate], schema: pa.Schema) -> Operator:
    return operators.sliced_window(["k"], WINDOW_MS, 0, aggregates, schema, False, "error", None)


def encoded(key: int | None) -> bytes:
    """The bytes of a key, as the page's table has them."""
    return b"\x01" if key is None else b"\x04" + struct.pack(">Q", (key + (1 << 63)) % (1 << 64))


def check_key_groups(state: State, max_parallelism: int) -> None:
    for group, key, _, _ in state.entries:
        assert group == mmh3.hash(key, signed=False) % max_parallelism


def test_crc32c_of_the_reader_is_that_of_rfc_3720() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA


def test_the_example_is_what_the_engine_writes() -> None:
    driver = TaskDriver("window", 0, 1, 2, [0], now_ms=0)
    window = sliced_window([("count", None, "n")], pa.schema([("k", pa.int64())]))
    driver.add_operator(window, "Window", "counts")
    driver.add_edge(0, None, "forward", 1)
    driver.open(None)
    rows = Batch.from_arrow(pa.record_batch({"k": pa.array([5, 5])}))
    driver.feed(0, ("batch", rows.with_timestamps([12, 17])))
    driver.feed(0, ("watermark", 9))
    assert driver.snapshot() == page.example()


def test_the_example_reads_as_the_page_describes_it() -> None:
    task = read_task_state(page.example())
    assert (task.vertex, task.subtask, task.parallelism, task.max_parallelism) == (
        "window",
        0,
        1,
        2,
    )
    contents = task.operator("counts").state("window-contents")
    assert (contents.kind, contents.key_groups) == (1, (0, 1))
    assert contents.entries == [(0, encoded(5), struct.pack("<q", 20), struct.pack("<q", 2))]
    watermark = task.operator("counts").state("watermark")
    assert watermark.kind == 3
    assert [read_fields(item, item_spec("watermark")) for item in watermark.items] == [[9]]


def test_the_places_of_the_example_are_right() -> None:
    sections = read_sections(page.example(), "task state")
    described = []
    for row in page.table("at", "bytes"):
        if found := re.match(r"section (\d+), (\d+) bytes", row["bytes"]):
            described.append((int(row["at"], 16), int(found[1]), int(found[2])))
    assert described == [(s.offset, s.type, len(s.payload)) for s in sections]


def test_no_damage_of_the_example_goes_unseen() -> None:
    good = page.example()
    for size in range(len(good)):
        with pytest.raises(DamagedError):
            read_task_state(good[:size])
    for bit in range(len(good) * 8):
        damaged = bytearray(good)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DamagedError):
            read_task_state(bytes(damaged))


AGGREGATES: list[Aggregate] = [
    ("count", None, "rows"),
    ("count", "i", "count_i"),
    *[(kind, column, f"{kind}_{column}") for kind in ("sum", "avg") for column in "ifd"],
    *[(kind, column, f"{kind}_{column}") for kind in ("min", "max") for column in "ifdsb"],
]
SCHEMA = pa.schema(
    [
        ("k", pa.int64()),
        ("i", pa.int32()),
        ("f", pa.float64()),
        ("d", pa.decimal128(10, 2)),
        ("s", pa.string()),
        ("b", pa.bool_()),
    ]
)
CENT = Decimal("0.01")


def rows() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows of SCHEMA with a timestamp "t"; few keys, many nulls. Floats are such that any order sums them alike."""
    cents = st.integers(-(10**6), 10**6).map(lambda n: n * CENT)
    row = st.fixed_dictionaries(
        {
            "t": st.integers(-25, 25),
            "k": st.sampled_from([None, 0, -7, 2**40]),
            "i": st.none() | st.integers(-(2**31), 2**31 - 1),
            "f": st.none() | st.integers(-(2**20), 2**20).map(float),
            "d": st.none() | cents,
            "s": st.none() | st.text(max_size=3),
            "b": st.none() | st.booleans(),
        }
    )
    return st.lists(row, min_size=1, max_size=30)


def model(given_rows: list[dict[str, Any]]) -> dict[tuple[bytes, int], list[Any]]:
    """(key, slice end) -> the result of each of AGGREGATES, by hand."""
    groups: dict[tuple[bytes, int], list[dict[str, Any]]] = defaultdict(list)
    for row in given_rows:
        groups[encoded(row["k"]), (row["t"] // WINDOW_MS + 1) * WINDOW_MS].append(row)
    return {where: [_result(group, *a[:2]) for a in AGGREGATES] for where, group in groups.items()}


def _result(group: list[dict[str, Any]], kind: str, column: str | None) -> Any:
    if column is None:
        return len(group)
    values = [row[column] for row in group if row[column] is not None]
    if kind == "count":
        return len(values)
    if kind == "avg":
        return (sum(values), len(values))
    if not values:
        return None
    return {"sum": sum, "min": min, "max": max}[kind](values)


def read_accumulator(cursor: Cursor, kind: str, column: str | None) -> Any:
    """One accumulator, as the page's table has them; (sum, count) for avg."""
    if kind == "count":
        return cursor.read("i64")
    if kind == "avg":
        return (_read_value(cursor, "f" if column == "f" else "d", column), cursor.read("i64"))
    seen = cursor.read("u8")
    value = _read_value(cursor, "sum_i" if (kind, column) == ("sum", "i") else str(column), column)
    return value if seen else None


def _read_value(cursor: Cursor, how: str, column: str | None) -> Any:
    if how == "d":
        number = int.from_bytes(cursor.take(16), "little", signed=True)
        return number * CENT if column == "d" else number
    if how == "b":
        return bool(cursor.read("u8"))
    return cursor.read({"i": "i32", "sum_i": "i64", "f": "f64", "s": "text"}[how])


@given(rows())
def test_accumulators_of_a_sliced_window(given_rows: list[dict[str, Any]]) -> None:
    driver = open_task(sliced_window(AGGREGATES, SCHEMA))
    batch = Batch.from_arrow(pa.RecordBatch.from_pylist(given_rows, schema=SCHEMA))
    driver.feed(0, ("batch", batch.with_timestamps([row["t"] for row in given_rows])))
    state = read_task_state(driver.snapshot()).operator("0").state("window-contents")
    check_key_groups(state, MAX_PARALLELISM)
    found = {}
    for _, key, namespace, value in state.entries:
        cursor = Cursor(value)
        where = (key, *read_fields(namespace, "slice end: i64"))
        found[where] = [read_accumulator(cursor, kind, column) for kind, column, _ in AGGREGATES]
        assert cursor.at_end
    assert found == model(given_rows)
    assert state.value_type.startswith("count(*):int64,count(i:int32):int64,sum(i:int32):int64,")


def test_contents_and_timers_of_a_general_window() -> None:
    window = operators.general_window(
        WINDOW_MS, 0, 5, ("reduce", lambda a, b: (a[0], a[1] + b[1])), None, False, None
    )
    driver = open_task(operators.key_selector(None, lambda row: row[0]), window)
    driver.feed(0, ("batch", Batch.from_rows([(7, 1), (7, 2), (-8, 4)], [3, 9, 10])))
    driver.feed(0, ("watermark", 2))
    task = read_task_state(driver.snapshot())
    contents, timers = (
        task.operator("1").state(n) for n in ("window-contents", "event-time-timers")
    )
    for state in (contents, timers):
        check_key_groups(state, MAX_PARALLELISM)
    windows = {
        (key, *read_fields(window, "start: i64, end: i64")): pickle.loads(value)
        for _, key, window, value in contents.entries
    }
    assert windows == {(encoded(7), 0, 10): (7, 3), (encoded(-8), 10, 20): (-8, 4)}
    registered = sorted(
        (key, *read_fields(window, "start: i64, end: i64"), *read_fields(time, "timestamp: i64"))
        for _, key, window, time in timers.entries
    )
    # One fires the window, one ends it when no late record can come any more.
    assert registered == [
        *[(encoded(-8), 10, 20, time) for time in (19, 24)],
        *[(encoded(7), 0, 10, time) for time in (9, 14)],
    ]


def source_task(polls: int) -> TaskState:
    driver = TaskDriver("rows", 1, 3, MAX_PARALLELISM, now_ms=0)
    columns = [("t", "sequence", {"start": 100, "step": 1})]
    driver.add_source(source.generator(columns, 10**6, 0, None, 5000), "Rows", "rows")
    driver.add_operator(operators.timestamps("t", None, 10, None, 4000, 200), "Times", "times", 0)
    driver.add_edge(1, None, "forward", 1)
    driver.open(None)
    for _ in range(polls):
        driver.poll()
    return read_task_state(driver.snapshot())


@pytest.mark.parametrize(
    ("polls", "split", "times"),
    [
        (0, [1, 3, 0], [1, 0, LEAST, LEAST]),
        # 5000 rows from row 8192 on: the watermark goes out at the 4000th.
        (1, [1, 3, 5000], [1, 1000, 100 + 13191, 100 + 12191 - 11]),
        # The rest of chunk 1, then 5000 rows of chunk 4: 13192 records, the last watermark at the 12000th.
        (3, [4, 3, 5000], [1, 1192, 100 + 37767, 100 + 36575 - 11]),
    ],
)
def test_positions_of_a_source_and_its_timestamps(
    polls: int, split: list[int], times: list[int]
) -> None:
    task = source_task(polls)
    splits = task.operator("rows").state("source-splits")
    assert splits.kind == 2
    assert [read_fields(item, item_spec(splits.name)) for item in splits.items] == [split]
    generator = task.operator("times").state("watermark-generator")
    assert generator.kind == 3
    assert [read_fields(item, item_spec(generator.name)) for item in generator.items] == [times]
