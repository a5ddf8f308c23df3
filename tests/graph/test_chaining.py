"""Which operators share a task, and what the exchanges between tasks look like."""

import pyarrow as pa
import pytest

from penstock import StreamExecutionEnvironment, col
from penstock.graph.job_graph import JobGraph, JobVertex


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def names(graph: JobGraph) -> list[str]:
    return [vertex.name for vertex in graph.vertices]


def exchanges(graph: JobGraph) -> list[tuple[int, int, str]]:
    return [(edge.source, edge.target, edge.partitioning.kind) for edge in graph.edges]


def one(value: int) -> int:
    return value


def test_one_to_one_operators_of_the_same_parallelism_are_one_task(
    env: StreamExecutionEnvironment,
) -> None:
    env.from_collection([1]).map(one).filter(one).flat_map(lambda v: [v]).print()
    graph = env.get_job_graph()
    assert names(graph) == [
        "Source: Collection -> Map -> Filter -> Flat Map -> Sink: Print to Std. Out"
    ]
    assert exchanges(graph) == []
    assert [operator.upstream for operator in graph.vertices[0].operators] == [None, 0, 1, 2, 3]


def test_a_change_of_parallelism_breaks_the_chain_and_rebalances(
    env: StreamExecutionEnvironment,
) -> None:
    env.from_collection([1]).map(one).set_parallelism(3).filter(one).discard()
    graph = env.get_job_graph()
    assert names(graph) == ["Source: Collection", "Map", "Filter -> Sink: Discard"]
    assert exchanges(graph) == [(1, 2, "rebalance"), (2, 3, "rebalance")]
    assert [vertex.parallelism for vertex in graph.vertices] == [2, 3, 2]


@pytest.mark.parametrize("kind", ["rebalance", "broadcast", "global"])
def test_an_exchange_breaks_the_chain(env: StreamExecutionEnvironment, kind: str) -> None:
    stream = env.from_collection([1])
    getattr(stream, "global_" if kind == "global" else kind)().map(one).discard()
    graph = env.get_job_graph()
    assert names(graph) == ["Source: Collection", "Map -> Sink: Discard"]
    assert exchanges(graph) == [(1, 2, kind)]


def test_forward_keeps_the_chain(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).forward().map(one).forward().discard()
    assert names(env.get_job_graph()) == ["Source: Collection -> Map -> Sink: Discard"]


def test_forward_with_another_parallelism_is_an_error(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).forward().map(one).set_parallelism(1).discard()
    message = (
        r"forward\(\) does not allow a change of parallelism: 'Source: Collection' has 2, "
        r"'Map' has 1; use rebalance\(\)"
    )
    with pytest.raises(ValueError, match=message):
        env.get_job_graph()


def test_the_last_of_several_exchanges_counts(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).rebalance().broadcast().map(one).discard()
    assert exchanges(env.get_job_graph()) == [(1, 2, "broadcast")]


def test_start_new_chain_starts_one(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(one).filter(one).start_new_chain().map(one).discard()
    graph = env.get_job_graph()
    assert names(graph) == ["Source: Collection -> Map", "Filter -> Map -> Sink: Discard"]
    assert exchanges(graph) == [(1, 2, "forward")]


def test_disable_chaining_leaves_an_operator_alone(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(one).disable_chaining().filter(one).discard()
    assert names(env.get_job_graph()) == [
        "Source: Collection",
        "Map",
        "Filter -> Sink: Discard",
    ]


def test_chaining_can_be_switched_off_for_the_job(env: StreamExecutionEnvironment) -> None:
    env.disable_operator_chaining()
    assert not env.is_chaining_enabled()
    env.from_collection([1]).map(one).filter(one).discard()
    graph = env.get_job_graph()
    assert [len(vertex.operators) for vertex in graph.vertices] == [1, 1, 1, 1]
    assert {kind for _, _, kind in exchanges(graph)} == {"forward"}


def test_another_max_parallelism_breaks_the_chain(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(one).set_max_parallelism(16).discard()
    graph = env.get_job_graph()
    assert [vertex.max_parallelism for vertex in graph.vertices] == [128, 16, 128]


def test_two_consumers_of_one_operator_are_both_chained_to_it(
    env: StreamExecutionEnvironment,
) -> None:
    source = env.from_collection([1]).map(one)
    source.filter(one).discard()
    source.flat_map(lambda v: [v]).print()
    (vertex,) = env.get_job_graph().vertices
    assert [(o.name, o.upstream) for o in vertex.operators] == [
        ("Source: Collection", None),
        ("Map", 0),
        ("Filter", 1),
        ("Sink: Discard", 2),
        ("Flat Map", 1),
        ("Sink: Print to Std. Out", 4),
    ]


def test_a_union_feeds_a_new_task_from_each_of_its_inputs(env: StreamExecutionEnvironment) -> None:
    left, right = env.from_collection([1]).map(one), env.from_collection([2])
    left.union(right, right).filter(one).discard()
    graph = env.get_job_graph()
    assert names(graph) == [
        "Source: Collection -> Map",
        "Source: Collection",
        "Filter -> Sink: Discard",
    ]
    assert exchanges(graph) == [(1, 3, "forward"), (2, 3, "forward"), (2, 3, "forward")]


def test_rows_become_columns_only_where_columns_are_needed(env: StreamExecutionEnvironment) -> None:
    table = pa.table({"x": [1], "y": ["a"]})
    env.from_arrow(table).filter(col("x") > 0).map(one).discard()
    operators = [o.name for v in env.get_job_graph().vertices for o in v.operators]
    assert "Rows To Columns" not in operators


def test_typed_rows_are_converted_once_in_the_same_task(env: StreamExecutionEnvironment) -> None:
    from penstock import Types

    declared = Types.ROW_NAMED(["n"], [Types.LONG()])
    rows = env.from_collection([(1,)], declared)
    rows.filter(col("n") > 0).select((col("n") + 1).alias("m")).discard()
    (vertex,) = env.get_job_graph().vertices
    assert [operator.name for operator in vertex.operators] == [
        "Source: Collection",
        "Rows To Columns",
        "Filter",
        "Select",
        "Sink: Discard",
    ]


def test_key_by_partitions_by_hash_and_key_functions_get_a_selector(
    env: StreamExecutionEnvironment,
) -> None:
    source = env.from_arrow(pa.table({"k": [1], "v": [2]}))
    source.key_by("k").map(one).name("by column").discard()
    source.key_by(lambda row: row.k).map(one).name("by function").discard()
    graph = env.get_job_graph()
    by_name: dict[str, JobVertex] = {vertex.operators[0].name: vertex for vertex in graph.vertices}
    into = {edge.target: edge.partitioning for edge in graph.edges}
    by_column = into[by_name["by column"].id]
    by_function = into[by_name["by function"].id]
    assert (by_column.kind, by_column.key_columns) == ("hash", ("k",))
    assert (by_function.kind, by_function.key_columns) == ("hash", None)
    assert [o.name for o in by_name["Source: Arrow"].operators] == ["Source: Arrow", "Key Selector"]


def test_vertices_come_in_topological_order(env: StreamExecutionEnvironment) -> None:
    first = env.from_collection([1])
    second = first.rebalance().map(one)
    third = second.union(first).rebalance().filter(one)
    third.union(second, first).rebalance().discard()
    graph = env.get_job_graph()
    assert all(edge.source < edge.target for edge in graph.edges)
    assert [vertex.id for vertex in graph.vertices] == [1, 2, 3, 4]


def test_a_job_has_the_name_it_was_given(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).discard()
    assert env.get_job_graph().name == "Penstock Streaming Job"
    assert env.get_job_graph("mine").name == "mine"
    env.get_configuration().set_string("pipeline.name", "configured")
    assert env.get_job_graph().name == "configured"


def test_planning_changes_nothing_so_it_can_be_repeated(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(one).rebalance().filter(one).discard()
    assert names(env.get_job_graph()) == names(env.get_job_graph())
    first, second = env.get_job_graph(), env.get_job_graph()
    assert [o.uid for v in first.vertices for o in v.operators] == [
        o.uid for v in second.vertices for o in v.operators
    ]
