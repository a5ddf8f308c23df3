"""Uids: unique in a job, the same in every run, unmoved by changes elsewhere."""

from collections.abc import Callable

import pyarrow as pa
import pytest

from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.datastream import TumblingEventTimeWindows

TABLE = pa.table({"k": [1], "v": [2], "ts": [0]})
STRATEGY = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def program(env: StreamExecutionEnvironment) -> None:
    windows = (
        env.from_arrow(TABLE)
        .assign_timestamps_and_watermarks(STRATEGY.with_timestamp_column("ts"))
        .key_by("k")
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(F.count())
    )
    windows.map(lambda row: row).discard()
    windows.map(lambda row: row).discard()


def uids(build: Callable[[StreamExecutionEnvironment], None]) -> dict[str, list[str]]:
    env = environment()
    build(env)
    found: dict[str, list[str]] = {}
    for vertex in env.get_job_graph().vertices:
        for operator in vertex.operators:
            found.setdefault(operator.name, []).append(operator.uid)
    return found


def flat(found: dict[str, list[str]]) -> list[str]:
    return [uid for group in found.values() for uid in group]


def test_generated_uids_are_unique_even_for_equal_operators() -> None:
    found = uids(program)
    assert len(found["Map"]) == 2
    assert len(set(flat(found))) == len(flat(found))


def test_the_same_program_gets_the_same_uids_again() -> None:
    assert uids(program) == uids(program)


def test_generated_uids_never_change_between_versions() -> None:
    def build(env: StreamExecutionEnvironment) -> None:
        env.from_collection([1]).map(lambda v: v).discard()

    # State in checkpoints is found by these: golden values.
    assert uids(build) == {
        "Source: Collection": ["CollectionSource-e3b9388318713130"],
        "Map": ["Map-fe9a4d155b02071f"],
        "Sink: Discard": ["DiscardSink-bcca3b6b31b12a3f"],
    }


def test_operators_elsewhere_do_not_change_a_uid() -> None:
    def extended(env: StreamExecutionEnvironment) -> None:
        program(env)
        env.from_collection([1]).filter(lambda v: v).print()

    before, after = uids(program), uids(extended)
    assert {name: after[name] for name in before} == before


def test_names_and_parallelism_do_not_change_a_uid() -> None:
    def plain(env: StreamExecutionEnvironment) -> None:
        env.from_collection([1]).map(lambda v: v).discard()

    def named(env: StreamExecutionEnvironment) -> None:
        env.from_collection([1]).map(lambda v: v).name("x").set_parallelism(1).discard()

    assert sorted(flat(uids(plain))) == sorted(flat(uids(named)))


def test_a_uid_of_one_s_own_shields_what_follows_from_changes_before_it() -> None:
    def short(env: StreamExecutionEnvironment) -> None:
        env.from_collection([1]).map(lambda v: v).uid("mine").filter(bool).discard()

    def longer(env: StreamExecutionEnvironment) -> None:
        source = env.from_collection([1]).flat_map(lambda v: [v])
        source.map(lambda v: v).uid("mine").filter(bool).discard()

    before, after = uids(short), uids(longer)
    assert before["Map"] == after["Map"] == ["mine"]
    assert before["Filter"] == after["Filter"]


def test_the_same_uid_twice_is_an_error() -> None:
    env = environment()
    env.from_collection([1]).map(lambda v: v).uid("twin").filter(bool).uid("twin").discard()
    with pytest.raises(ValueError, match="the uid 'twin' is used by two operators"):
        env.get_job_graph()


def test_a_union_of_a_stream_with_itself_has_unique_uids() -> None:
    def doubled(env: StreamExecutionEnvironment) -> None:
        source = env.from_arrow(TABLE)
        source.union(source).key_by(lambda row: row.k).map(lambda row: row).discard()

    found = flat(uids(doubled))
    assert len(set(found)) == len(found)
