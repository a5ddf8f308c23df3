"""Which window operator is chosen, and why."""

from typing import Any

import pyarrow as pa
import pytest

from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.datastream import AggregateFunction, OutputTag, TumblingEventTimeWindows
from penstock.graph.job_graph import JobGraph, Partitioning
from penstock.graph.specs import (
    GeneralWindowSpec,
    KeySelectorSpec,
    LocalWindowSpec,
    OperatorSpec,
    SlicedWindowSpec,
)

TABLE = pa.table({"k": ["a"], "j": [1], "v": [2], "ts": [0]})
LATE = OutputTag("late")
TEN_SECONDS = TumblingEventTimeWindows.of(Time.seconds(10), Time.seconds(3))


class Count(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


@pytest.fixture
def stream(env: StreamExecutionEnvironment) -> Any:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    return env.from_arrow(TABLE).assign_timestamps_and_watermarks(
        strategy.with_timestamp_column("ts")
    )


def specs(graph: JobGraph, kind: type[OperatorSpec]) -> list[Any]:
    found = [operator.spec for vertex in graph.vertices for operator in vertex.operators]
    return [spec for spec in found if isinstance(spec, kind)]


def exchange(graph: JobGraph) -> Partitioning:
    (edge,) = [edge for edge in graph.edges if edge.partitioning.kind in {"hash", "global"}]
    return edge.partitioning


def test_built_in_aggregates_are_sliced_and_pre_aggregated(
    env: StreamExecutionEnvironment, stream: Any
) -> None:
    windows = stream.key_by("k", "j").window(TEN_SECONDS)
    windows.aggregate(F.count(), F.sum("v").alias("total")).discard()
    graph = env.get_job_graph()
    (local,) = specs(graph, LocalWindowSpec)
    (final,) = specs(graph, SlicedWindowSpec)
    assert final.partial
    assert final.late_side is None
    for spec in (local, final):
        assert (spec.keys, spec.size_ms, spec.offset_ms) == (("k", "j"), 10_000, 3_000)
        assert [(a.kind, a.column, a.alias) for a in spec.aggregates] == [
            ("count", None, "count"),
            ("sum", "v", "total"),
        ]
        assert spec.schema == TABLE.schema
        assert spec.overflow == "error"
    assert exchange(graph) == Partitioning("hash", ("k", "j"))


def test_the_local_window_runs_in_the_task_of_the_source(
    env: StreamExecutionEnvironment, stream: Any
) -> None:
    stream.key_by("k").window(TEN_SECONDS).aggregate(F.count()).discard()
    first, _ = env.get_job_graph().vertices
    assert isinstance(first.operators[-1].spec, LocalWindowSpec)


def test_late_rows_to_a_side_output_forbid_pre_aggregation(
    env: StreamExecutionEnvironment, stream: Any
) -> None:
    windows = stream.key_by("k").window(TEN_SECONDS).side_output_late_data(LATE)
    counted = windows.aggregate(F.count())
    counted.get_side_output(LATE).print()
    graph = env.get_job_graph()
    assert specs(graph, LocalWindowSpec) == []
    (final,) = specs(graph, SlicedWindowSpec)
    assert (final.partial, final.late_side) == (False, 0)
    assert "not pre-aggregated: late rows" in env.get_execution_plan()


def test_late_rows_have_the_columns_of_the_input(stream: Any) -> None:
    windows = stream.key_by("k").window(TEN_SECONDS).side_output_late_data(LATE)
    counted = windows.aggregate(F.count())
    assert counted.get_side_output(LATE).get_schema() == TABLE.schema
    assert counted.get_schema().names == ["k", "window_start", "window_end", "count"]


def test_windows_over_all_rows_go_to_one_subtask(
    env: StreamExecutionEnvironment, stream: Any
) -> None:
    stream.window_all(TEN_SECONDS).aggregate(F.count()).discard()
    graph = env.get_job_graph()
    (final,) = specs(graph, SlicedWindowSpec)
    assert final.keys == ()
    assert exchange(graph) == Partitioning("global")
    assert next(v for v in graph.vertices if v.name.startswith("Window All")).parallelism == 1


@pytest.mark.parametrize("by_column", [True, False])
def test_python_functions_need_the_general_operator_and_attached_keys(
    env: StreamExecutionEnvironment, stream: Any, by_column: bool
) -> None:
    keyed = stream.key_by("k") if by_column else stream.key_by(lambda row: row.k)
    keyed.window(TEN_SECONDS).allowed_lateness(500).reduce(lambda a, b: a).discard()
    graph = env.get_job_graph()
    (window,) = specs(graph, GeneralWindowSpec)
    assert (window.size_ms, window.offset_ms, window.allowed_lateness_ms) == (10_000, 3_000, 500)
    assert window.aggregator[0] == "reduce"
    assert not window.window_all
    (selector,) = specs(graph, KeySelectorSpec)
    assert selector.columns == (("k",) if by_column else None)
    assert exchange(graph) == Partitioning("hash", None)
    assert '"window_operator": "general"' in env.get_execution_plan()
    assert "reduce with a Python function" in env.get_execution_plan()


def test_general_windows_over_all_rows_have_no_key(
    env: StreamExecutionEnvironment, stream: Any
) -> None:
    stream.window_all(TEN_SECONDS).aggregate(Count()).discard()
    graph = env.get_job_graph()
    (window,) = specs(graph, GeneralWindowSpec)
    assert window.window_all
    assert window.aggregator[0] == "aggregate"
    assert len(window.lifecycles) == 1
    assert specs(graph, KeySelectorSpec) == []
    assert exchange(graph) == Partitioning("global")


def test_overflow_of_sums_is_a_setting(env: StreamExecutionEnvironment, stream: Any) -> None:
    stream.key_by("k").window(TEN_SECONDS).aggregate(F.sum("v")).discard()
    env.get_configuration().set_string("penstock.sum-overflow", "wrap")
    (final,) = specs(env.get_job_graph(), SlicedWindowSpec)
    assert final.overflow == "wrap"
    env.get_configuration().set_string("penstock.sum-overflow", "ignore")
    with pytest.raises(ValueError, match="sum-overflow must be error or wrap, but is 'ignore'"):
        env.get_job_graph()


@pytest.mark.parametrize(
    ("aggregate", "column_type", "expected"),
    [
        (F.count(), pa.string(), pa.int64()),
        (F.count("v"), pa.list_(pa.int8()), pa.int64()),
        (F.sum("v"), pa.int8(), pa.int64()),
        (F.sum("v"), pa.uint32(), pa.uint64()),
        (F.sum("v"), pa.float32(), pa.float64()),
        (F.sum("v"), pa.decimal128(10, 2), pa.decimal128(38, 2)),
        (F.avg("v"), pa.int64(), pa.float64()),
        (F.avg("v"), pa.decimal128(10, 2), pa.float64()),
        (F.min("v"), pa.int8(), pa.int8()),
        (F.max("v"), pa.string(), pa.string()),
        (F.max("v"), pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
        (F.min("v"), pa.bool_(), pa.bool_()),
        (F.min("v"), pa.large_binary(), pa.large_binary()),
    ],
    ids=lambda value: getattr(value, "kind", str(value)),
)
def test_types_of_aggregates(
    env: StreamExecutionEnvironment, aggregate: Any, column_type: Any, expected: Any
) -> None:
    schema = pa.schema([("k", pa.int64()), ("v", column_type)])
    stream = env.from_arrow(schema.empty_table())
    result = stream.key_by("k").window(TEN_SECONDS).aggregate(aggregate.alias("x")).get_schema()
    assert result.field("x").type == expected
    assert result.field("window_start").type == pa.timestamp("ms")
    assert result.field("k").type == pa.int64()
