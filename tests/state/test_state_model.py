"""State and timers of Python functions agree with a model of dicts: on both backends, with a time to live, across snapshots
that the other backend goes on from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from state.state_model import Interpreter, Model, Result

from penstock import Configuration, Row, Types
from penstock.common import TypeInformation
from penstock.testing import OneInputStreamOperatorTestHarness, OperatorSnapshot

pytestmark = pytest.mark.native

BACKENDS = st.sampled_from(["hashmap", "rocksdb"])
KEYS = st.sampled_from(["a", "b"])
LONGS = st.integers(-(1 << 63), (1 << 63) - 1)
SMALL = st.integers(-1000, 1000)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
TIMES = st.integers(-3, 12)

# What a state may hold, by its declared type; None: nothing declared.
VALUES: dict[str, tuple[TypeInformation | None, st.SearchStrategy[Any]]] = {
    "LONG": (Types.LONG(), LONGS),
    "BOOLEAN": (Types.BOOLEAN(), st.booleans()),
    "DOUBLE": (Types.DOUBLE(), st.floats(allow_nan=False)),
    "STRING": (Types.STRING(), TEXTS),
    "BINARY": (Types.PRIMITIVE_ARRAY(Types.BYTE()), st.binary(max_size=6)),
    "BIG_INT": (Types.BIG_INT(), st.integers()),
    "BIG_DEC": (Types.BIG_DEC(), st.decimals(allow_nan=False, allow_infinity=False)),
    "SQL_DATE": (Types.SQL_DATE(), st.dates()),
    # fold belongs to time zones, which a SQL_TIMESTAMP has not.
    "SQL_TIMESTAMP": (Types.SQL_TIMESTAMP(), st.datetimes().map(lambda t: t.replace(fold=0))),
    "TUPLE": (Types.TUPLE([Types.LONG(), Types.STRING()]), st.tuples(LONGS, TEXTS)),
    "ROW": (
        Types.ROW_NAMED(["n", "t"], [Types.LONG(), Types.STRING()]),
        st.builds(lambda n, t: Row(n=n, t=t), LONGS, TEXTS),
    ),
    "LIST": (Types.LIST(Types.STRING()), st.lists(TEXTS, max_size=3)),
    "MAP": (
        Types.MAP(Types.STRING(), Types.LONG()),
        st.dictionaries(TEXTS, LONGS, max_size=3),
    ),
    "pickled": (
        None,
        # A set of two may come back in another order, and answers are compared as they print.
        st.one_of(LONGS, TEXTS, st.sets(SMALL, max_size=1), st.lists(st.none(), max_size=2)),
    ),
}


USER_KEYS = st.sampled_from(["", "x", "xx"])


def call(state: str, method: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(KEYS, st.just(state), st.just(method), st.tuples(*arguments))


def calls(values: st.SearchStrategy[Any]) -> dict[str, list[st.SearchStrategy[Any]]]:
    """The calls on each state whose values are ``values``."""
    several = st.lists(values, max_size=3)
    one_key = ("get", "__getitem__", "contains", "__contains__", "remove", "__delitem__")
    no_key = ("items", "keys", "values", "__iter__", "__len__", "is_empty", "clear")
    return {
        "value": [
            call("value", "value"),
            call("value", "update", values),
            call("value", "update", st.none()),
            call("value", "clear"),
        ],
        "list": [
            *(call("list", name) for name in ("get", "__iter__", "clear")),
            call("list", "add", values),
            *(call("list", name, several) for name in ("add_all", "update")),
        ],
        "map": [
            *(call("map", name, USER_KEYS) for name in one_key),
            *(call("map", name, USER_KEYS, values) for name in ("put", "__setitem__")),
            call("map", "put_all", st.dictionaries(USER_KEYS, values, max_size=3)),
            *(call("map", name) for name in no_key),
        ],
        **{
            state: [
                call(state, "add", SMALL),
                call(state, "get"),
                call(state, "clear"),
            ]
            for state in ("reducing", "aggregating")
        },
        "timers": [
            *(
                call("timers", f"{verb}_{kind}_time_timer", TIMES)
                for verb in ("register", "delete")
                for kind in ("event", "processing")
            ),
            call("timers", "current_watermark"),
            call("timers", "current_processing_time"),
        ],
    }


# What happens besides: time passes, or a snapshot is taken, after which a backend goes on.
CHANGES = [
    st.tuples(st.just("watermark"), TIMES),
    st.tuples(st.just("time"), st.sampled_from([1, 4, 5])),
    st.tuples(st.just("restore"), BACKENDS),
]


@st.composite
def scripts(draw: st.DrawFn) -> tuple[TypeInformation | None, list[Any]]:
    """Steps on some of the states, of one type; one in four is no call."""
    type_info, values = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    known = calls(values)
    states = draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=2, unique=True))

    def step() -> Any:
        if draw(st.integers(0, 3)) == 3:
            return draw(draw(st.sampled_from(CHANGES)))
        return draw(draw(st.sampled_from(known[draw(st.sampled_from(states))])))

    return type_info, [step() for _ in range(draw(st.integers(0, 50)))]


class Run:
    """Real state, in a harness; calls are gathered into batches."""

    def __init__(self, function: Callable[[], Interpreter], backend: str) -> None:
        self._function = function
        self._now = 0
        self._waiting: list[Any] = []
        self._before: list[Result] = []
        self._watermark: int | None = None
        self._start(backend, None)

    def _start(self, backend: str, snapshot: OperatorSnapshot | None) -> None:
        self._harness = OneInputStreamOperatorTestHarness(
            lambda steps: steps.key_by(lambda step: step[0]).process(self._function()),
            configuration=Configuration({"state.backend.type": backend}),
            processing_time=self._now,
        )
        if snapshot is not None:
            self._harness.initialize_state(snapshot)
        self._harness.open()
        if self._watermark is not None:  # as a source sends it again; nothing fires by that
            self._harness.process_watermark(self._watermark)

    def call(self, step: Any) -> None:
        self._waiting.append(step)

    def flush(self) -> None:
        self._harness.process_elements(self._waiting)
        self._waiting = []

    def advance_watermark(self, timestamp: int) -> None:
        self.flush()
        self._watermark = max(timestamp, self._watermark or timestamp)
        self._harness.process_watermark(timestamp)

    def set_time(self, now: int) -> None:
        self.flush()
        self._now = now
        self._harness.set_processing_time(now)

    def restore(self, backend: str) -> None:
        self.flush()
        snapshot = self._harness.snapshot()
        self._before = self.results()
        self._harness.close()
        self._start(backend, snapshot)

    def results(self) -> list[Result]:
        return self._before + self._harness.extract_output_values()

    def close(self) -> list[Result]:
        self.flush()
        self._harness.close()
        return self.results()


@pytest.mark.property
@given(
    scripts(),
    BACKENDS,
    st.sampled_from([None, 5, 10]),
    st.booleans(),
    st.integers(1, 10),
)
def test_state_does_what_dicts_do(
    script: tuple[TypeInformation | None, list[Any]],
    backend: str,
    ttl: int | None,
    on_read: bool,
    batch: int,
) -> None:
    type_info, todo = script
    model = Model(ttl, on_read)
    run = Run(lambda: Interpreter(type_info, ttl, on_read), backend)
    expected: list[Result] = []
    for number, step in enumerate(todo):
        if ttl is not None and step[2:3] == ("is_empty",):
            continue  # as in Flink, it may count what has expired and is not cleaned up yet
        match step:
            case ("watermark", timestamp):
                run.advance_watermark(timestamp)
                expected += model.advance_watermark(timestamp)
            case ("time", passed):
                run.set_time(model.now + passed)
                expected += model.set_time(model.now + passed)
            case ("restore", next_backend):
                run.restore(next_backend)
            case _:
                run.call(step)
                expected.append(model.do(step))
        if number % batch == 0:
            run.flush()
    found = run.close()
    assert repr(found) == repr(expected)


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_what_was_read_is_a_copy(backend: str) -> None:
    run = Run(lambda: Mutating(Types.LIST(Types.LONG()), None, False), backend)
    run.call(("a", "value", "update", ([1],)))
    run.call(("a", "list", "update", ([[1]],)))
    run.call(("a", "map", "put", ("x", [1])))
    for state, method, arguments in [
        ("value", "value", ()),
        ("list", "get", ()),
        ("map", "get", ("x",)),
        ("map", "items", ()),
        ("map", "values", ()),
    ]:
        run.call(("a", state, method, arguments))
        run.call(("a", state, method, arguments))
    found = [result[3] for result in run.close()[3:]]
    assert found == [[1], [1], [[1]], [[1]], [1], [1], [("x", [1])], [("x", [1])], [[1]], [[1]]]


class Mutating(Interpreter):
    """Changes, behind the step, whatever was read."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        import copy

        for result in super().process_element(value, ctx):
            yield copy.deepcopy(result)
            spoil(result[3])


def spoil(read: Any) -> None:
    if isinstance(read, list):
        for item in read:
            spoil(item)
        read.append("spoilt")
    elif isinstance(read, tuple):
        for item in read:
            spoil(item)


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_what_was_written_is_a_copy(backend: str) -> None:
    run = Run(lambda: Spoiling(Types.LIST(Types.LONG()), None, False), backend)
    run.call(("a", "value", "update", ([1],)))
    run.call(("a", "list", "add", ([1],)))
    run.call(("a", "map", "put", ("x", [1])))
    run.call(("a", "value", "value", ()))
    run.call(("a", "list", "get", ()))
    run.call(("a", "map", "get", ("x",)))
    assert [result[3] for result in run.close()[3:]] == [[1], [[1]], [1]]


class Spoiling(Interpreter):
    """Changes, behind the step, whatever was written."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield from super().process_element(value, ctx)
        spoil(value[3])
