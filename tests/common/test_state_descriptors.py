"""State descriptors: what they say of a state, and what is wrong with one, before a job runs."""

from collections.abc import Callable
from typing import Any

import pytest

from penstock import Time, Types
from penstock.datastream import AggregateFunction, ReduceFunction, RuntimeContext
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)


class Max(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return max(value1, value2)


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Store:
    """What the core's store would be asked for."""

    def __init__(self) -> None:
        self.asked: tuple[Any, ...] = ()

    def __getattr__(self, kind: str) -> Callable[..., str]:
        def ask(*arguments: Any) -> str:
            self.asked = (kind, *arguments)
            return "the state"

        return ask


MEAN = Mean()
ONE_HOUR = StateTtlConfig.new_builder(Time.hours(1)).build()
NATIVE_HOUR = (3_600_000, "OnCreateAndWrite", "NeverReturnExpired", False, 5, False, 1000)

GETTERS: list[tuple[str, StateDescriptor, tuple[Any, ...]]] = [
    (
        "get_state",
        ValueStateDescriptor("s", Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.STRING()])),
        ("value_state", "s", "ROW<a LONG, b STRING>"),
    ),
    ("get_state", ValueStateDescriptor("s"), ("value_state", "s", "PICKLED_BYTE_ARRAY")),
    ("get_list_state", ListStateDescriptor("s", Types.INT()), ("list_state", "s", "INT")),
    (
        "get_map_state",
        MapStateDescriptor("s", Types.STRING(), Types.LIST(Types.LONG())),
        ("map_state", "s", "STRING", "LIST<LONG>"),
    ),
    (
        "get_reducing_state",
        ReducingStateDescriptor("s", max, Types.LONG()),
        ("reducing_state", "s", "LONG", max),
    ),
    (
        "get_aggregating_state",
        AggregatingStateDescriptor("s", MEAN, Types.TUPLE([Types.LONG(), Types.LONG()])),
        (
            "aggregating_state",
            "s",
            "TUPLE<LONG, LONG>",
            MEAN.create_accumulator,
            MEAN.add,
            MEAN.get_result,
            MEAN.merge,
        ),
    ),
]

getters = pytest.mark.parametrize(
    ("method", "descriptor", "asked"), GETTERS, ids=[entry[2][0] for entry in GETTERS]
)


@getters
def test_context_asks_the_store_by_name_and_types(
    method: str, descriptor: StateDescriptor, asked: tuple[Any, ...]
) -> None:
    store = Store()
    context = RuntimeContext("Process", keyed_state_store=store)
    assert getattr(context, method)(descriptor) == "the state"
    assert store.asked == (*asked, None)


@getters
def test_without_a_key_there_is_no_keyed_state(
    method: str, descriptor: StateDescriptor, asked: tuple[Any, ...]
) -> None:
    with pytest.raises(RuntimeError) as raised:
        getattr(RuntimeContext("Map"), method)(descriptor)
    assert str(raised.value) == (
        f"{method}('s'): 'Map' has no keyed state, because its stream is not keyed; "
        "use key_by(...).process(KeyedProcessFunction)"
    )


@getters
def test_a_descriptor_of_another_kind_is_refused(
    method: str, descriptor: StateDescriptor, asked: tuple[Any, ...]
) -> None:
    other: StateDescriptor = ValueStateDescriptor("s")
    wanted = type(descriptor).__name__
    if method == "get_state":
        other = ListStateDescriptor("s")
    with pytest.raises(
        TypeError, match=rf"{method}\(\) takes a {wanted}, not .*; get_\w+\(\) takes"
    ):
        getattr(RuntimeContext(keyed_state_store=Store()), method)(other)


def test_what_is_no_descriptor_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"get_state\(\) takes a ValueStateDescriptor, not 'count'$"
    ):
        RuntimeContext(keyed_state_store=Store()).get_state("count")  # type: ignore[arg-type]


def test_time_to_live_goes_to_the_store() -> None:
    descriptor = ValueStateDescriptor("s", Types.LONG())
    descriptor.enable_time_to_live(ONE_HOUR)
    store = Store()
    RuntimeContext(keyed_state_store=store).get_state(descriptor)
    assert store.asked == ("value_state", "s", "LONG", NATIVE_HOUR)


def test_reduce_function_may_be_an_object() -> None:
    descriptor = ReducingStateDescriptor("s", Max(), Types.LONG())
    store = Store()
    RuntimeContext(keyed_state_store=store).get_reducing_state(descriptor)
    assert store.asked[3](3, 5) == 5
    assert isinstance(descriptor.get_reduce_function(), Max)


def test_descriptors_know_their_types() -> None:
    assert repr(MapStateDescriptor("m", Types.STRING(), Types.LONG())) == (
        "MapStateDescriptor('m', MAP<STRING, LONG>)"
    )
    assert ListStateDescriptor("l").type_info == Types.LIST(Types.PICKLED_BYTE_ARRAY())
    assert AggregatingStateDescriptor("a", MEAN).get_agg_function() is MEAN


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: ValueStateDescriptor(""), ValueError, "name of a state must not be empty"),
        (lambda: ValueStateDescriptor(3), TypeError, "the name of a state is a str, not 3"),
        (lambda: ValueStateDescriptor("s", int), TypeError, "one of Types, such as .* not <class"),
        (lambda: ListStateDescriptor("s", "LONG"), TypeError, "ListStateDescriptor: a type is one"),
        (lambda: MapStateDescriptor("s", Types.INT(), 1), TypeError, "MapStateDescriptor: a type"),
        (lambda: ReducingStateDescriptor("s", 3), TypeError, "ReduceFunction object or a callable"),
        (lambda: ReducingStateDescriptor("s", Max), TypeError, "ReduceFunction object or a callab"),
        (lambda: AggregatingStateDescriptor("s", max), TypeError, "takes an AggregateFunction obj"),
        (lambda: AggregatingStateDescriptor("s", Mean), TypeError, "takes an AggregateFunction ob"),
        (
            lambda: ValueStateDescriptor("s").enable_time_to_live(60),
            TypeError,
            r"takes a StateTtlConfig, not 60; build one: StateTtlConfig.new_builder",
        ),
    ],
)
def test_mistakes_are_named(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()
