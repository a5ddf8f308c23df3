"""The operators that process functions and rolling aggregates become, and their exchange."""

import json
import logging
from typing import Any

import pyarrow as pa
import pytest

from penstock import StreamExecutionEnvironment, Types, col
from penstock.datastream import KeyedProcessFunction, MapFunction, OutputTag, ProcessFunction
from penstock.datastream.keyed_functions import KeyedMap
from penstock.datastream.state import CheckpointedFunction
from penstock.graph.job_graph import JobGraph, Partitioning
from penstock.graph.specs import (
    KeyedProcessSpec,
    KeyedReduceSpec,
    KeySelectorSpec,
    MapSpec,
    OperatorSpec,
    ProcessSpec,
)

TABLE = pa.table({"k": ["a"], "v": [2]})


class Process(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        yield value


class Keyed(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        yield value


class Same(MapFunction):
    def map(self, value: Any) -> Any:
        return value


class Counting(Same, CheckpointedFunction):
    def initialize_state(self, context: Any) -> None: ...

    def snapshot_state(self, context: Any) -> None: ...


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def specs(graph: JobGraph, kind: type[OperatorSpec]) -> list[Any]:
    found = [operator.spec for vertex in graph.vertices for operator in vertex.operators]
    return [spec for spec in found if isinstance(spec, kind)]


def exchanges(graph: JobGraph) -> list[Partitioning]:
    return [edge.partitioning for edge in graph.edges]


def test_keyed_process_gets_rows_with_their_keys(env: StreamExecutionEnvironment) -> None:
    env.from_arrow(TABLE).key_by("k").process(Keyed()).discard()
    graph = env.get_job_graph()
    (selector,) = specs(graph, KeySelectorSpec)
    assert selector.columns == ("k",)
    (process,) = specs(graph, KeyedProcessSpec)
    assert process.side_tags == ()
    assert exchanges(graph) == [Partitioning("hash")]


def test_process_without_a_key_needs_no_exchange(env: StreamExecutionEnvironment) -> None:
    env.from_arrow(TABLE).process(Process()).discard()
    graph = env.get_job_graph()
    assert len(specs(graph, ProcessSpec)) == 1
    assert exchanges(graph) == []


def test_side_outputs_have_the_numbers_in_which_they_were_asked_for(
    env: StreamExecutionEnvironment,
) -> None:
    processed = env.from_arrow(TABLE).key_by("k").process(Keyed(), Types.LONG())
    late, rare = OutputTag("late", Types.STRING()), OutputTag("rare")
    processed.get_side_output(rare).discard()
    texts = processed.get_side_output(late)
    texts.discard()
    processed.get_side_output(rare).discard()
    assert texts.get_type() == Types.STRING()
    assert processed.get_type() == Types.LONG()
    graph = env.get_job_graph()
    (process,) = specs(graph, KeyedProcessSpec)
    assert process.side_tags == ("rare", "late")
    (vertex,) = [v for v in graph.vertices if any(o.side is not None for o in v.operators)]
    assert [o.side for o in vertex.operators if o.upstream == 0] == [0, 1, 0]


def test_one_tag_cannot_stand_for_two_types(env: StreamExecutionEnvironment) -> None:
    processed = env.from_arrow(TABLE).process(Process())
    processed.get_side_output(OutputTag("side", Types.STRING()))
    for other in (Types.LONG(), None, Types.ROW_NAMED(["value"], [Types.STRING()])):
        with pytest.raises(ValueError, match="'Process' has a side output 'side' of another type"):
            processed.get_side_output(OutputTag("side", other))


def test_output_without_a_type_are_objects(env: StreamExecutionEnvironment) -> None:
    assert env.from_arrow(TABLE).process(Process()).get_type() == Types.PICKLED_BYTE_ARRAY()


def test_output_with_a_type_has_columns(env: StreamExecutionEnvironment) -> None:
    row = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.LONG()])
    processed = env.from_arrow(TABLE).process(Process(), row)
    assert processed.select(col("v") * 2).get_schema().types == [pa.int64()]


@pytest.mark.parametrize("method", ["sum", "min", "max", "min_by", "max_by"])
def test_rolling_aggregates_keep_the_columns(env: StreamExecutionEnvironment, method: str) -> None:
    rolled = getattr(env.from_arrow(TABLE).key_by("k"), method)("v")
    rolled.discard()
    assert rolled.get_schema() == TABLE.schema
    (reduce,) = specs(env.get_job_graph(), KeyedReduceSpec)
    assert repr(reduce.function) == f"{method}('v')"


def test_function_objects_over_a_keyed_stream_may_have_state(
    env: StreamExecutionEnvironment,
) -> None:
    keyed = env.from_arrow(TABLE).key_by("k")
    mapped = keyed.map(Same(), Types.LONG())
    mapped.discard()
    (process,) = specs(env.get_job_graph(), KeyedProcessSpec)
    assert isinstance(process.function, KeyedMap)
    assert mapped.get_type() == Types.LONG()


def test_plain_callables_over_a_keyed_stream_are_not_hosted_with_state(
    env: StreamExecutionEnvironment,
) -> None:
    env.from_arrow(TABLE).key_by("k").map(str).discard()
    graph = env.get_job_graph()
    assert len(specs(graph, MapSpec)) == 1
    assert specs(graph, KeyedProcessSpec) == []


def test_uids_and_names_are_in_the_plan(env: StreamExecutionEnvironment) -> None:
    env.from_arrow(TABLE).key_by("k").process(Keyed()).uid("p").name("Count").discard()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [node["type"] for node in nodes if node["uid"] == "p"] == ["Count"]


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda stream: stream.key_by("k").process(Keyed()), "Keyed Process"),
        (lambda stream: stream.key_by("k").reduce(max), "Keyed Reduce"),
        (lambda stream: stream.key_by("k").sum("v"), "Keyed sum"),
        (lambda stream: stream.map(Counting()), "Map"),
        (lambda stream: stream.key_by("k").map(Counting()), "Map"),
    ],
    ids=["process", "reduce", "sum", "checkpointed function", "keyed checkpointed function"],
)
def test_checkpointed_state_without_a_uid_is_warned_of_by_name(
    env: StreamExecutionEnvironment, caplog: pytest.LogCaptureFixture, build: Any, name: str
) -> None:
    env.enable_checkpointing(1000)
    build(env.from_arrow(TABLE)).discard()
    with caplog.at_level(logging.WARNING, "penstock"):
        env.get_job_graph()
    assert f"{name} is checkpointed but has no uid()" in caplog.text


@pytest.mark.parametrize(
    "build",
    [
        lambda stream: stream.key_by("k").process(Keyed()).uid("p"),
        lambda stream: stream.process(Process()),
        lambda stream: stream.map(Same()),
    ],
    ids=["uid", "no state", "no state in map"],
)
def test_there_is_no_warning_without_reason(
    env: StreamExecutionEnvironment, caplog: pytest.LogCaptureFixture, build: Any
) -> None:
    env.enable_checkpointing(1000)
    build(env.from_arrow(TABLE)).discard()
    with caplog.at_level(logging.WARNING, "penstock"):
        env.get_job_graph()
    assert "uid" not in caplog.text
