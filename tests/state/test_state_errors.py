"""Mistakes with state show as soon as they can be seen, and name the state and the operator."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from penstock import Configuration, Row, Time, Types
from penstock.common import TypeInformation
from penstock.datastream import KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.errors import UserCodeError
from penstock.testing import OneInputStreamOperatorTestHarness, OperatorSnapshot

pytestmark = pytest.mark.native

backends = pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])


class Uses(KeyedProcessFunction):
    """``ask(context)`` gets states in open, ``use(states, value)`` uses them."""

    def __init__(
        self, ask: Callable[[RuntimeContext], Any], use: Callable[[Any, Any], Any] | None = None
    ) -> None:
        self.ask = ask
        self.use = use

    def open(self, runtime_context: RuntimeContext) -> None:
        self.states = self.ask(runtime_context)

    def process_element(self, value: Any, ctx: Any) -> Any:
        if self.use is not None:
            yield self.use(self.states, value)


def harness(
    ask: Callable[[RuntimeContext], Any],
    use: Callable[[Any, Any], Any] | None = None,
    backend: str = "hashmap",
    snapshot: OperatorSnapshot | None = None,
) -> OneInputStreamOperatorTestHarness:
    made = OneInputStreamOperatorTestHarness(
        lambda stream: stream.key_by(lambda value: "key").process(Uses(ask, use)).uid("the-uid"),
        configuration=Configuration({"state.backend.type": backend}),
    )
    if snapshot is not None:
        made.initialize_state(snapshot)
    return made


def value_state(type_info: TypeInformation | None, name: str = "s") -> Callable[..., Any]:
    return lambda context: context.get_state(ValueStateDescriptor(name, type_info))


def cause_of(run: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        run()
    error: BaseException = raised.value
    return error.__cause__ if isinstance(error, UserCodeError) and error.__cause__ else error


# --- names, kinds and types -------------------------------------------------------------------------------


@backends
def test_a_name_stands_for_one_kind_of_state(backend: str) -> None:
    def ask(context: RuntimeContext) -> None:
        context.get_state(ValueStateDescriptor("s", Types.LONG()))
        context.get_list_state(ListStateDescriptor("s", Types.LONG()))

    error = cause_of(harness(ask, backend=backend).open)
    assert isinstance(error, TypeError)
    for part in ("'s'", "value", "list"):
        assert part in str(error).lower()


@backends
def test_a_name_stands_for_one_type(backend: str) -> None:
    def ask(context: RuntimeContext) -> None:
        context.get_state(ValueStateDescriptor("s", Types.LONG()))
        context.get_state(ValueStateDescriptor("s", Types.STRING()))

    error = cause_of(harness(ask, backend=backend).open)
    assert isinstance(error, TypeError)
    for part in ("'s'", "LONG", "STRING"):
        assert part in str(error)


@backends
def test_the_same_descriptor_twice_is_the_same_state(backend: str) -> None:
    def ask(context: RuntimeContext) -> Any:
        return [value_state(Types.LONG())(context) for _ in range(2)]

    def use(states: Any, value: Any) -> Any:
        states[0].update(value)
        return states[1].value()

    with harness(ask, use, backend) as running:
        running.process_element(5)
        assert running.extract_output_values() == [5]


@backends
@pytest.mark.parametrize(
    ("later", "parts"),
    [
        (value_state(Types.STRING()), ("LONG", "STRING")),
        (
            lambda c: c.get_list_state(ListStateDescriptor("s", Types.LONG())),
            ("value", "list"),
        ),
    ],
    ids=["type", "kind"],
)
def test_restored_state_keeps_its_kind_and_type(
    backend: str, later: Callable[..., Any], parts: tuple[str, ...]
) -> None:
    with harness(value_state(Types.LONG()), lambda s, v: s.update(v), backend) as running:
        running.process_element(5)
        snapshot = running.snapshot()
    error = cause_of(harness(later, backend=backend, snapshot=snapshot).open)
    assert "'s'" in str(error)
    for part in parts:
        assert part in str(error)


@pytest.mark.parametrize("name", ["event-time-timers", "processing-time-timers"])
def test_names_of_the_engines_own_states_are_taken(name: str) -> None:
    error = cause_of(harness(value_state(Types.LONG(), name)).open)
    assert f"'{name}' is the name of a state of the engine's own; choose another" in str(error)


# --- values -----------------------------------------------------------------------------------------------

MISFITS: list[tuple[TypeInformation, Any]] = [
    (Types.LONG(), "text"),
    (Types.LONG(), 1.5),
    (Types.LONG(), 1 << 63),
    (Types.LONG(), True),
    (Types.INT(), 1 << 31),
    (Types.SHORT(), -(1 << 15) - 1),
    (Types.BYTE(), 128),
    (Types.STRING(), b"bytes"),
    (Types.STRING(), 5),
    (Types.BOOLEAN(), 1),
    (Types.DOUBLE(), "1.0"),
    (Types.SQL_DATE(), "2024-01-01"),
    (Types.TUPLE([Types.LONG(), Types.LONG()]), (1,)),
    (Types.TUPLE([Types.LONG()]), ("x",)),
    (Types.ROW_NAMED(["n"], [Types.LONG()]), Row(n="x")),
    (Types.ROW_NAMED(["n"], [Types.LONG()]), {"m": 1}),
    (Types.LIST(Types.LONG()), [1, "x"]),
    (Types.LIST(Types.LONG()), 5),
    (Types.MAP(Types.STRING(), Types.LONG()), {"a": "b"}),
]


@pytest.mark.parametrize(("type_info", "value"), MISFITS, ids=[repr(m[0]) for m in MISFITS])
def test_a_value_that_does_not_fit_its_type_is_refused(
    type_info: TypeInformation, value: Any
) -> None:
    with harness(value_state(type_info), lambda state, element: state.update(value)) as running:
        error = cause_of(lambda: running.process_element("x"))
    assert isinstance(error, (TypeError, ValueError, OverflowError))
    assert "'s'" in str(error)


def test_what_does_not_pickle_is_refused() -> None:
    with harness(value_state(None), lambda state, value: state.update(threading.Lock())) as h:
        error = cause_of(lambda: h.process_element("x"))
    assert isinstance(error, TypeError)
    assert "it cannot be pickled: TypeError: cannot pickle" in str(error)
    assert "'s'" in str(error)


@pytest.mark.parametrize("method", ["put", "contains", "get", "remove"])
def test_a_user_key_that_does_not_fit_its_type_is_refused(method: str) -> None:
    def ask(context: RuntimeContext) -> Any:
        return context.get_map_state(MapStateDescriptor("m", Types.LONG(), Types.LONG()))

    def use(state: Any, value: Any) -> Any:
        return getattr(state, method)(*(["x", 1] if method == "put" else ["x"]))

    with harness(ask, use) as running:
        error = cause_of(lambda: running.process_element("x"))
    assert isinstance(error, TypeError)
    assert "'m'" in str(error)


def test_errors_of_a_reduce_function_reach_the_caller() -> None:
    def ask(context: RuntimeContext) -> Any:
        return context.get_reducing_state(
            ReducingStateDescriptor("r", lambda a, b: a // b, Types.LONG())
        )

    with harness(ask, lambda state, value: state.add(value)) as running:
        running.process_element(1)
        error = cause_of(lambda: running.process_element(0))
    assert isinstance(error, ZeroDivisionError)


# --- when -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["value", "clear"])
def test_state_is_of_the_key_that_is_processed(method: str) -> None:
    def ask(context: RuntimeContext) -> Any:
        state = context.get_state(ValueStateDescriptor("s", Types.LONG()))
        getattr(state, method)()

    error = cause_of(harness(ask).open)
    assert "'s'" in str(error)
    assert "key" in str(error)


KEPT: list[Any] = []


class Keeps(KeyedProcessFunction):
    """Leaves its state where it can be found when the operator is closed."""

    def open(self, runtime_context: RuntimeContext) -> None:
        KEPT.append(value_state(Types.LONG())(runtime_context))

    def process_element(self, value: Any, ctx: Any) -> Any: ...


def test_state_cannot_be_used_when_the_operator_is_closed() -> None:
    with OneInputStreamOperatorTestHarness(lambda s: s.key_by(len).process(Keeps())) as running:
        running.process_element("x")
    state = KEPT.pop()
    for method, arguments in (("value", ()), ("update", (5,)), ("clear", ())):
        with pytest.raises(Exception, match="'s'"):
            getattr(state, method)(*arguments)


class KeepsTimers(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        KEPT.append(ctx.timer_service())


def test_the_timer_service_cannot_be_used_when_the_operator_is_closed() -> None:
    with OneInputStreamOperatorTestHarness(
        lambda s: s.key_by(len).process(KeepsTimers()), processing_time=5
    ) as running:
        running.process_element("x")
        timers = KEPT.pop()
        assert timers.current_processing_time() == 5
    del running  # and with it the clock
    with pytest.raises(ValueError, match=r"timer service .* after the operator was closed"):
        timers.current_processing_time()


DURING: list[Callable[[], Any]] = []


class Pickled:
    """Runs what is in DURING while it is pickled."""

    def __reduce__(self) -> Any:
        for action in DURING:
            action()
        return Pickled, ()


class Unpickled:
    """Runs what is in DURING while it is read back."""

    def __getstate__(self) -> Any:
        return {"some": "state"}

    def __setstate__(self, state: Any) -> None:
        for action in DURING:
            action()


def converts(state: Any, kind: str) -> Any:
    DURING[:] = [lambda: state.put("inner", 1)]
    try:
        state.put("outer", Pickled() if kind == "pickled" else Unpickled())
        return state.get("outer")
    finally:
        DURING.clear()


@backends
@pytest.mark.parametrize("kind", ["pickled", "unpickled"])
def test_state_cannot_be_used_while_a_value_is_converted(backend: str, kind: str) -> None:
    def ask(context: RuntimeContext) -> Any:
        return context.get_map_state(MapStateDescriptor("s"))

    with harness(ask, converts, backend) as running:
        error = cause_of(lambda: running.process_element(kind))
    assert "is pickled or read back" in f"{error} {error.__cause__}"


@backends
def test_time_to_live_is_kept_by_the_clock_of_the_harness(backend: str) -> None:
    def ask(context: RuntimeContext) -> Any:
        descriptor = ValueStateDescriptor("s", Types.LONG())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(10)).build())
        return context.get_state(descriptor)

    def use(state: Any, value: Any) -> Any:
        if value is not None:
            state.update(value)
        return state.value()

    with harness(ask, use, backend) as running:
        running.process_element(5)
        running.set_processing_time(9)
        running.process_element(None)
        running.set_processing_time(10)
        running.process_element(None)
        assert running.extract_output_values() == [5, 5, None]
