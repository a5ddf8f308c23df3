"""State without a key: lists and broadcast maps of CheckpointedFunctions, through snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import Types
from penstock.datastream import (
    DataStream,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    RuntimeContext,
)
from penstock.datastream.state import (
    BroadcastState,
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    ListState,
    ListStateDescriptor,
    MapStateDescriptor,
    OperatorStateStore,
    ValueStateDescriptor,
)
from penstock.testing import OneInputStreamOperatorTestHarness, OperatorSnapshot

pytestmark = pytest.mark.native


class Remembers(CheckpointedFunction):
    """Keeps the last two elements in a list state."""

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        self.restored = context.is_restored()
        store = context.get_operator_state_store()
        self.state = store.get_list_state(ListStateDescriptor("last", Types.LONG()))
        self.last = list(self.state)

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        assert context.get_checkpoint_id() > 0
        self.state.update(self.last)

    def seen(self, value: int) -> tuple[bool, list[int]]:
        before = list(self.last)
        self.last = [*self.last, value][-2:]
        return self.restored, before


class RememberingMap(Remembers, MapFunction):
    def map(self, value: int) -> Any:
        return self.seen(value)


class RememberingFilter(Remembers, FilterFunction):
    def filter(self, value: int) -> bool:
        return len(self.seen(value)[1]) == 2


class RememberingFlatMap(Remembers, FlatMapFunction):
    def flat_map(self, value: int) -> Any:
        yield self.seen(value)


class RememberingProcess(Remembers, ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        yield self.seen(value)


class RememberingKeyedProcess(Remembers, KeyedProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        yield self.seen(value)


class CountingMap(RememberingMap):
    """With state per key as well."""

    def open(self, runtime_context: RuntimeContext) -> None:
        assert self.last is not None, "initialize_state() comes before open()"
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value: int) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return *self.seen(value), self.count.value()


Build = Callable[[DataStream], DataStream]


def started(
    build: Build, snapshot: OperatorSnapshot | None = None
) -> OneInputStreamOperatorTestHarness:
    harness = OneInputStreamOperatorTestHarness(build)
    if snapshot is not None:
        harness.initialize_state(snapshot)
    harness.open()
    return harness


def in_two_parts(build: Build, first: list[Any], second: list[Any]) -> tuple[list[Any], list[Any]]:
    """What comes out before a snapshot and behind it."""
    before = started(build)
    before.process_elements(first)
    snapshot = before.snapshot()
    before.close()
    after = started(build, snapshot)
    after.process_elements(second)
    after.close()
    return before.extract_output_values(), after.extract_output_values()


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.map(RememberingMap()),
        lambda s: s.flat_map(RememberingFlatMap()),
        lambda s: s.process(RememberingProcess()),
        lambda s: s.key_by(lambda n: n % 2).process(RememberingKeyedProcess()),
        lambda s: s.key_by(lambda n: n % 2).map(RememberingMap()),
    ],
    ids=["map", "flat_map", "process", "keyed process", "keyed map"],
)
def test_list_state_goes_through_a_snapshot(build: Build) -> None:
    before, after = in_two_parts(build, [1, 2, 3], [4])
    assert before == [(False, []), (False, [1]), (False, [1, 2])]
    assert after == [(True, [2, 3])]


def test_list_state_of_a_filter_goes_through_a_snapshot() -> None:
    assert in_two_parts(lambda s: s.filter(RememberingFilter()), [1, 2], [3]) == ([], [3])


def test_a_function_may_have_both_kinds_of_state() -> None:
    before, after = in_two_parts(lambda s: s.key_by(lambda n: 0).map(CountingMap()), [1], [2])
    assert before == [(False, [], 1)]
    assert after == [(True, [1], 2)]


class Kinds(RememberingMap):
    """Does ``use(store)`` when it starts."""

    def __init__(self, use: Callable[[OperatorStateStore], Any]) -> None:
        self.use = use

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        self.found = self.use(context.get_operator_state_store())

    def snapshot_state(self, context: FunctionSnapshotContext) -> None: ...

    def map(self, value: Any) -> Any:
        return self.found


def found(
    use: Callable[[OperatorStateStore], Any], snapshot: OperatorSnapshot | None = None
) -> Any:
    harness = started(lambda s: s.map(Kinds(use)), snapshot)
    harness.process_element(1)
    (result,) = harness.extract_output_values()
    harness.close()
    return result


def test_union_list_state_is_a_list_state() -> None:
    def use(store: OperatorStateStore) -> Any:
        state = store.get_union_list_state(ListStateDescriptor("u", Types.STRING()))
        assert isinstance(state, ListState)
        state.add("a")
        state.add_all(["b", "c"])
        before = state.get()
        state.clear()
        return before, list(state)

    assert found(use) == (["a", "b", "c"], [])


BROADCAST = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


def test_broadcast_state_is_a_map() -> None:
    def use(store: OperatorStateStore) -> Any:
        state = store.get_broadcast_state(BROADCAST)
        assert isinstance(state, BroadcastState)
        results: list[Any] = [state.is_empty()]
        state["b"] = 2
        state.put("a", 1)
        state.put_all({"c": 3, "d": 4})
        state.remove("not there")
        del state["c"]
        results += [len(state), state["a"], state.get("c"), "b" in state, "c" in state]
        for missing in (lambda: state["c"], lambda: state.__delitem__("c")):
            with pytest.raises(KeyError, match="c"):
                missing()
        return [*results, list(state), list(state.items()), list(state.values())]

    entries = [("a", 1), ("b", 2), ("d", 4)]
    assert found(use) == [True, 3, 1, None, True, False, ["a", "b", "d"], entries, [1, 2, 4]]


def test_broadcast_state_goes_through_a_snapshot() -> None:
    def fill(store: OperatorStateStore) -> Any:
        store.get_broadcast_state(BROADCAST).put("a", 1)

    first = started(lambda s: s.map(Kinds(fill)))
    snapshot = first.snapshot()
    first.close()
    read = lambda store: list(store.get_broadcast_state(BROADCAST).items())
    assert found(read, snapshot) == [("a", 1)]


def test_state_that_nobody_asks_for_stays() -> None:
    def fill(store: OperatorStateStore) -> Any:
        store.get_list_state(ListStateDescriptor("l", Types.LONG())).add(7)

    first = started(lambda s: s.map(Kinds(fill)))
    second = started(lambda s: s.map(Kinds(lambda store: None)), first.snapshot())
    third_sees = found(
        lambda store: store.get_list_state(ListStateDescriptor("l", Types.LONG())).get(),
        second.snapshot(),
    )
    first.close()
    second.close()
    assert third_sees == [7]


def test_watermarks_of_the_engine_are_no_state_of_functions() -> None:
    with pytest.raises(Exception, match="'watermark' is the name of a state of the engine's own"):
        found(lambda store: store.get_list_state(ListStateDescriptor("watermark")))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda store: store.get_list_state(BROADCAST),
            r"get_list_state\(\) takes a ListStateDescriptor, not MapStateDescriptor\('rules'",
        ),
        (
            lambda store: store.get_union_list_state("u"),
            r"get_union_list_state\(\) takes a ListStateDescriptor, not 'u'",
        ),
        (
            lambda store: store.get_broadcast_state(ValueStateDescriptor("v")),
            r"get_broadcast_state\(\) takes a MapStateDescriptor, not ValueStateDescriptor",
        ),
        (
            lambda store: [
                store.get_list_state(ListStateDescriptor("l", one))
                for one in (Types.LONG(), Types.STRING())
            ],
            "'l' is asked for as .* of STRING, but it is .* of LONG",
        ),
        (
            lambda store: store.get_list_state(ListStateDescriptor("l", Types.LONG())).add("x"),
            "operator state 'l'",
        ),
    ],
)
def test_mistakes_are_named(use: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        found(use)
