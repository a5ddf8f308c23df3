"""Programs without windows give on Spark what they give in one process."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from penstock import Row, StreamExecutionEnvironment, Types, col
from penstock.connectors.datagen import DataGen
from penstock.datastream import DataStream, MapFunction, RuntimeContext

pytestmark = pytest.mark.spark

TABLE = pa.table(
    {
        "name": ["a", None, "c", "d"] * 6000,
        "price": pa.array([1.5, 2.5, None, 4.5] * 6000),
        "n": range(24000),
    }
)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_functions_over_objects(run_on_spark: Any, parallelism: int) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        numbers = env.from_collection(range(20000))
        doubled = numbers.map(lambda x: (x % 7, x * 2)).filter(lambda pair: pair[0] != 3)
        return doubled.flat_map(lambda pair: [pair, pair] if pair[1] > 39990 else [])

    expected = [(x % 7, x * 2) for x in range(20000) if x % 7 != 3 and x * 2 > 39990] * 2
    assert run_on_spark(program, parallelism) == sorted(expected, key=repr)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_expressions_over_strings_and_nulls(run_on_spark: Any, parallelism: int) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        rows = env.from_arrow(TABLE).filter((col("n") < 2000) | (col("n") >= 22000))
        return rows.with_columns(double=col("price") * 2).select("name", "double", "n")

    rows = [r for r in TABLE.to_pylist() if r["n"] < 2000 or r["n"] >= 22000]
    expected = [
        Row(name=r["name"], double=None if r["price"] is None else r["price"] * 2, n=r["n"])
        for r in rows
    ]
    assert run_on_spark(program, parallelism) == sorted(expected, key=repr)


@pytest.mark.parametrize("exchange", ["rebalance", "global_", "broadcast", "forward"])
def test_exchanges(run_on_spark: Any, exchange: str) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        rows = getattr(env.from_arrow(TABLE.slice(0, 9000)), exchange)()
        return rows.map(lambda row: row.n).start_new_chain()

    copies = 2 if exchange == "broadcast" else 1
    assert run_on_spark(program) == sorted(list(range(9000)) * copies, key=repr)


def test_operators_without_chaining(run_on_spark: Any) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        env.disable_operator_chaining()
        return env.from_collection(range(100)).map(lambda x: x + 1).filter(lambda x: x % 2)

    assert run_on_spark(program) == sorted(range(1, 101, 2), key=repr)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_union_of_different_sources(run_on_spark: Any, parallelism: int) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        one = env.from_collection(range(10), Types.LONG())
        other = env.from_generator(DataGen(count=20).sequence("n", start=100)).map(lambda r: r.n)
        third = env.from_collection(range(200, 210)).map(lambda x: x).set_parallelism(3)
        return one.union(other, third).map(lambda x: x + 1)

    expected = [*range(1, 11), *range(101, 121), *range(201, 211)]
    assert run_on_spark(program, parallelism) == sorted(expected, key=repr)


def test_one_stream_read_by_several(run_on_spark: Any) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        numbers = env.from_collection(range(50)).map(lambda x: x)
        evens = numbers.rebalance().filter(lambda x: x % 2 == 0)
        odds = numbers.rebalance().filter(lambda x: x % 2 == 1).map(lambda x: -x)
        return evens.union(odds, numbers).map(lambda x: x)

    expected = [*range(0, 50, 2), *(-x for x in range(1, 50, 2)), *range(50)]
    assert run_on_spark(program) == sorted(expected, key=repr)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_no_rows_at_all(run_on_spark: Any, parallelism: int) -> None:
    assert run_on_spark(lambda env: env.from_collection([]).map(lambda x: x), parallelism) == []
    nothing = TABLE.slice(0, 0)
    program = lambda env: env.from_arrow(nothing).rebalance().filter(col("n") > 1)
    assert run_on_spark(program, parallelism) == []


def test_generated_rows(run_on_spark: Any) -> None:
    rows = DataGen(count=20000, seed=3).sequence("id").string("s", "k", 50).int("v", 0, 9)

    def program(env: StreamExecutionEnvironment) -> DataStream:
        return env.from_generator(rows).filter(col("v") == 7)

    expected = [Row(**r) for r in rows.rows(0, 20000).to_pylist() if r["v"] == 7]
    assert run_on_spark(program) == sorted(expected, key=repr)


def test_objects_of_own_classes_cross_exchanges(run_on_spark: Any) -> None:
    class Click:
        def __init__(self, user: int) -> None:
            self.user = user

    def program(env: StreamExecutionEnvironment) -> DataStream:
        clicks = env.from_collection([Click(n) for n in range(20)]).map(lambda c: Click(c.user + 1))
        return clicks.rebalance().map(lambda click: click.user)

    assert run_on_spark(program) == sorted(range(1, 21), key=repr)


def test_functions_are_opened_and_closed_in_each_subtask(run_on_spark: Any) -> None:
    class WithContext(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.context = runtime_context

        def map(self, value: Any) -> Any:
            context = self.context
            return (
                value,
                context.get_index_of_this_subtask(),
                context.get_number_of_parallel_subtasks(),
            )

    program = lambda env: env.from_collection(range(20000)).map(WithContext())
    expected = [(n, n // 8192 % 3, 3) for n in range(20000)]
    assert run_on_spark(program, 3) == sorted(expected, key=repr)
