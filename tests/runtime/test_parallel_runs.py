"""Results do not depend on how many subtasks compute them, nor on batch sizes."""

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from penstock import (
    Configuration,
    Duration,
    Row,
    StreamExecutionEnvironment,
    Time,
    Types,
    WatermarkStrategy,
    col,
)
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import (
    DataStream,
    MapFunction,
    RuntimeContext,
    TumblingEventTimeWindows,
)

pytestmark = pytest.mark.native

ROWS = 50_000
MINUTE = TumblingEventTimeWindows.of(Time.minutes(1))
parallelisms = pytest.mark.parametrize("parallelism", [1, 2, 4])
batch_sizes = pytest.mark.parametrize("batch_size", [997, 8192])


class _Place(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value: int) -> tuple[int, int]:
        return value % 37, self.subtask


@pytest.fixture(scope="module")
def clicks() -> pa.Table:
    """Out of order by less than ten seconds; keys and values with nulls."""
    random = np.random.default_rng(7)
    users = random.integers(0, 500, ROWS).tolist()
    values = random.integers(-1000, 1000, ROWS).tolist()
    return pa.table(
        {
            "ts": np.arange(ROWS) * 20 - random.integers(0, 10_000, ROWS),
            "user": pa.array([None if u == 13 else f"user-{u}" for u in users]),
            "value": pa.array([None if v % 50 == 0 else v for v in values]),
        }
    )


def environment(parallelism: int, batch_size: int) -> StreamExecutionEnvironment:
    configuration = Configuration({"penstock.batch-size": batch_size})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    return env.set_parallelism(parallelism)


def with_time(stream: DataStream) -> DataStream:
    # Subtasks read blocks of 8192 rows in turn, and may be ahead of each other by some of them.
    delay = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_minutes(60))
    return stream.assign_timestamps_and_watermarks(delay.with_timestamp_column("ts"))


def duckdbs_windows(clicks: pa.Table) -> Counter[Any]:
    query = """
        SELECT "user", CAST(floor(ts / 60000) AS BIGINT) * 60000 AS start,
               count(*), count(value), sum(value)::BIGINT, min(value), max(value), avg(value)
        FROM clicks GROUP BY ALL
    """
    return Counter(duckdb.sql(query).fetchall())


@parallelisms
@batch_sizes
def test_sliced_windows_equal_duckdb(clicks: pa.Table, parallelism: int, batch_size: int) -> None:
    env = environment(parallelism, batch_size)
    rows = (
        with_time(env.from_arrow(clicks))
        .key_by("user")
        .window(MINUTE)
        .aggregate(
            F.count(), F.count("value"), F.sum("value"), F.min("value"), F.max("value"),
            F.avg("value"),
        )
        .select("user", col("window_start").cast("int64").alias("start"), "count", "count_value",
                "sum_value", "min_value", "max_value", "avg_value")
    )  # fmt: skip
    assert Counter(tuple(row) for row in rows.execute_and_collect()) == duckdbs_windows(clicks)


@parallelisms
@batch_sizes
def test_general_windows_equal_duckdb(clicks: pa.Table, parallelism: int, batch_size: int) -> None:
    env = environment(parallelism, batch_size)

    def merge(a: Any, b: Any) -> Any:
        return a[0], a[1] + b[1], a[2] + b[2]

    rows = (
        with_time(env.from_arrow(clicks))
        .map(lambda row: (row["user"], 1, row["value"] or 0))
        .key_by(lambda element: element[0])
        .window(MINUTE)
        .reduce(merge, lambda key, window, elements: [(key, window.start, *elements[0][1:])])
    )
    expected: Counter[Any] = Counter()
    for (user, start, count, _, total, *_), times in duckdbs_windows(clicks).items():
        expected[user, start, count, total or 0] += times
    assert Counter(rows.execute_and_collect()) == expected


@parallelisms
def test_generated_rows_are_the_same_whoever_makes_them(parallelism: int) -> None:
    env = environment(parallelism, 1000)
    generator = DataGen(count=30_000, seed=3).sequence("id").float("x").string("s", "k", 50)
    rows = env.from_generator(generator).execute_and_collect()
    expected = generator.rows(0, 30_000).to_pylist()
    assert sorted(rows) == sorted(tuple(row.values()) for row in expected)


@parallelisms
@pytest.mark.parametrize("exchange", ["rebalance", "broadcast", "global_", "forward", "key_by"])
def test_exchange_brings_every_element_as_often_as_it_says(parallelism: int, exchange: str) -> None:
    env = environment(parallelism, 100)
    numbers = env.from_collection(range(20_000))
    if exchange == "key_by":
        moved: DataStream = numbers.key_by(lambda x: x % 100)
    else:
        moved = getattr(numbers, exchange)()
    times = parallelism if exchange == "broadcast" else 1
    counted = Counter(moved.map(lambda x: x).execute_and_collect())
    assert counted == Counter(dict.fromkeys(range(20_000), times))


@parallelisms
def test_elements_of_a_key_meet_in_one_subtask(parallelism: int) -> None:
    env = environment(parallelism, 100)
    keyed = env.from_collection(range(10_000)).key_by(lambda x: x % 37)
    places = keyed.map(_Place()).execute_and_collect()
    subtask_of: dict[int, set[int]] = {}
    for key, subtask in places:
        subtask_of.setdefault(key, set()).add(subtask)
    assert len(subtask_of) == 37
    assert all(len(subtasks) == 1 for subtasks in subtask_of.values())


@parallelisms
def test_order_of_one_subtask_is_kept_through_a_chain(parallelism: int) -> None:
    env = environment(parallelism, 10)
    stream = env.from_collection(range(1000)).set_parallelism(1)
    doubled = stream.map(lambda x: x * 2).set_parallelism(1).filter(lambda x: x % 3 == 0)
    results = list(doubled.set_parallelism(1).execute_and_collect())
    assert results == [x * 2 for x in range(1000) if x * 2 % 3 == 0]


@parallelisms
def test_union_has_the_elements_of_all(parallelism: int) -> None:
    env = environment(parallelism, 10)
    parts = [env.from_collection(range(start, start + 500)) for start in (0, 500, 1000)]
    united = parts[0].union(*parts[1:]).map(lambda x: x)
    assert sorted(united.execute_and_collect()) == list(range(1500))


@parallelisms
@pytest.mark.parametrize(
    ("items", "kind"), [([], None), ([], Types.ROW_NAMED(["a"], [Types.LONG()]))]
)
def test_empty_input_gives_an_empty_result(parallelism: int, items: list[Any], kind: Any) -> None:
    env = environment(parallelism, 10)
    stream = env.from_collection(items, kind)
    assert list(stream.map(lambda x: x).execute_and_collect()) == []


@parallelisms
def test_empty_table_fires_no_window(clicks: pa.Table, parallelism: int) -> None:
    env = environment(parallelism, 10)
    rows = with_time(env.from_arrow(clicks.slice(0, 0))).key_by("user").window(MINUTE)
    assert list(rows.aggregate(F.count()).execute_and_collect()) == []


def test_rows_of_arrow_data_are_rows_with_names() -> None:
    env = environment(1, 10)
    rows = list(env.from_arrow(pa.table({"a": [1], "b": ["x"]})).execute_and_collect())
    assert rows == [Row(a=1, b="x")]
    assert rows[0].b == "x"
