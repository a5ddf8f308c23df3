"""State whose type has changed since it was written: rows that have grown are migrated, the rest is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from penstock import Configuration, Types
from penstock.common.typeinfo import TypeInformation
from penstock.datastream import KeyedProcessFunction
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.errors import PenstockError
from penstock.testing import OneInputStreamOperatorTestHarness

pytestmark = pytest.mark.native

SMALL = Types.ROW_NAMED(["n"], [Types.LONG()])
GROWN = Types.ROW_NAMED(["n", "note"], [Types.LONG(), Types.STRING()])


class Keeps(KeyedProcessFunction):
    """Does what it is told with one state: the element is (key, action)."""

    def __init__(self, get: str, descriptor: StateDescriptor) -> None:
        self.get = get
        self.descriptor = descriptor

    def open(self, runtime_context: Any) -> None:
        self.state = getattr(runtime_context, self.get)(self.descriptor)

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[1](self.state)


@pytest.fixture(params=["hashmap", "rocksdb"], autouse=True)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__name__ + ".BACKEND", request.param)


BACKEND = "hashmap"


def harness(get: str, descriptor: StateDescriptor) -> OneInputStreamOperatorTestHarness:
    return OneInputStreamOperatorTestHarness(
        lambda stream: stream.key_by(lambda v: v[0]).process(Keeps(get, descriptor)).uid("keeps"),
        configuration=Configuration({"state.backend.type": BACKEND}),
    )


def run(
    get: str,
    before: StateDescriptor,
    write: Callable[[Any], Any],
    after: StateDescriptor,
    read: Callable[[Any], Any],
) -> Any:
    with harness(get, before) as first:
        first.process_element(("k", write))
        snapshot = first.snapshot()
    second = harness(get, after)
    second.initialize_state(snapshot)
    with second:
        second.process_element(("k", read))
        return second.extract_output_values()[0]


def test_value_that_has_grown_has_none_in_the_new_field() -> None:
    got = run(
        "get_state",
        ValueStateDescriptor("s", SMALL),
        lambda s: s.update((7,)),
        ValueStateDescriptor("s", GROWN),
        lambda s: s.value(),
    )
    assert repr(got) == "Row(n=7, note=None)"


def test_elements_of_a_list_grow() -> None:
    got = run(
        "get_list_state",
        ListStateDescriptor("s", SMALL),
        lambda s: s.add_all([(1,), (2,)]),
        ListStateDescriptor("s", GROWN),
        lambda s: s.get(),
    )
    assert [tuple(row) for row in got] == [(1, None), (2, None)]


def test_values_of_a_map_grow() -> None:
    got = run(
        "get_map_state",
        MapStateDescriptor("s", Types.STRING(), SMALL),
        lambda s: s.put("a", (1,)),
        MapStateDescriptor("s", Types.STRING(), GROWN),
        lambda s: dict(s.items()),
    )
    assert got == {"a": (1, None)}


@pytest.mark.parametrize(
    ("before", "after"),
    [(Types.LONG(), Types.STRING()), (GROWN, SMALL), (SMALL, Types.TUPLE([Types.LONG()]))],
)
def test_other_changes_are_refused_with_both_types(
    before: TypeInformation, after: TypeInformation
) -> None:
    with harness("get_state", ValueStateDescriptor("s", before)) as first:
        snapshot = first.snapshot()
    second = harness("get_state", ValueStateDescriptor("s", after))
    second.initialize_state(snapshot)
    with pytest.raises((TypeError, PenstockError)) as raised, second:
        pass
    assert repr(before) in str(raised.value)
    assert repr(after) in str(raised.value)
