"""State of Python functions while a job goes on at other parallelisms and on other backends, against one model of dicts.

Where test_state_model.py plays scripts to one subtask, this one has as many subtasks as the last restore made: each key's
steps go to the subtask that has its key group, and so do its state and its timers.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from state.state_model import Interpreter, Model, Result, Step

import penstock.runtime.translate  # noqa: F401  says what functions get in open()
from penstock import Types
from penstock._core import operators
from penstock._core.columnar import Batch
from penstock._core.record import subtask_of
from penstock._core.task import TaskDriver

pytestmark = [pytest.mark.native, pytest.mark.property]

MAX_PARALLELISM = 128
BACKENDS = st.sampled_from(["hashmap", "rocksdb"])
KEYS = st.sampled_from([f"key {number}" for number in range(12)])
USER_KEYS = st.sampled_from(["", "x", "y", "yy"])
NUMBERS = st.integers(-(1 << 40), 1 << 40)
TIMES = st.integers(-20, 200)


class Subtasks:
    """A keyed process function at some parallelism; what it sends is kept in the order of each key."""

    def __init__(
        self, backend: str, parallelism: int, now: int, ttl: int | None, on_read: bool
    ) -> None:
        self._drivers = []
        for subtask in range(parallelism):
            driver = TaskDriver("process", subtask, parallelism, MAX_PARALLELISM, [0], now_ms=now)
            driver.set_state_backend(backend, {})
            function = Interpreter(Types.LONG(), ttl, on_read)
            driver.add_operator(operators.key_selector(None, lambda step: step[0]), "Key", "key")
            process = operators.keyed_process(function, [function])
            driver.add_operator(process, "Process", "process", upstream=0)
            driver.add_edge(1, None, "forward", 1)
            self._drivers.append(driver)

    def open(self, states: list[bytes] | None) -> None:
        for driver in self._drivers:
            if states is None:
                driver.open()
            else:
                driver.open_rescaled(states)

    def do(self, steps: list[Step]) -> None:
        parallelism = len(self._drivers)
        for subtask, driver in enumerate(self._drivers):
            mine = [s for s in steps if subtask_of(s[0], MAX_PARALLELISM, parallelism) == subtask]
            if mine:
                driver.feed(0, ("batch", Batch.from_rows(mine)))

    def advance_watermark(self, timestamp: int) -> None:
        for driver in self._drivers:
            driver.feed(0, ("watermark", timestamp))

    def set_time(self, now: int) -> None:
        for driver in self._drivers:
            driver.set_time(now)

    def snapshot(self) -> list[bytes]:
        return [driver.snapshot() for driver in self._drivers]

    def take_results(self) -> list[Result]:
        sent = [element for driver in self._drivers for _, _, element in driver.take_output()]
        return [row for element in sent if element[0] == "batch" for row in element[1].to_rows()]

    def close(self) -> None:
        for driver in self._drivers:
            driver.close()


def by_key(results: list[Result]) -> dict[str, list[Result]]:
    """Subtasks work side by side: only what has one key has an order."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result[0], []).append(result)
    return grouped


class StateMachine(RuleBasedStateMachine):
    """Steps are gathered, and go to the subtasks in one batch before anything else happens."""

    subtasks: Subtasks | None = None

    @initialize(
        backend=BACKENDS,
        parallelism=st.integers(1, 4),
        ttl=st.sampled_from([None, 10, 30]),
        on_read=st.booleans(),
    )
    def begin(self, backend: str, parallelism: int, ttl: int | None, on_read: bool) -> None:
        self.ttl, self.on_read = ttl, on_read
        self.model = Model(ttl, on_read)
        self.waiting: list[Step] = []
        self.expected: list[Result] = []
        self.start(backend, parallelism, None)

    def start(self, backend: str, parallelism: int, states: list[bytes] | None) -> None:
        self.subtasks = Subtasks(backend, parallelism, self.model.now, self.ttl, self.on_read)
        self.subtasks.open(states)
        if self.model.watermark > -(1 << 63):  # as a source sends it again; nothing fires by that
            self.subtasks.advance_watermark(self.model.watermark)

    def flush(self) -> None:
        if self.waiting:
            self.subtasks.do(self.waiting)
            self.waiting = []

    def check(self) -> None:
        self.flush()
        assert by_key(self.subtasks.take_results()) == by_key(self.expected)
        self.expected = []

    def step(self, key: str, state: str, method: str, *arguments: Any) -> None:
        step = key, state, method, arguments
        self.waiting.append(step)
        self.expected.append(self.model.do(step))

    @rule(key=KEYS, value=st.none() | NUMBERS)
    def update_value(self, key: str, value: int | None) -> None:
        self.step(key, "value", "update", value)

    @rule(key=KEYS, state=st.sampled_from(["value", "list", "map", "reducing", "aggregating"]))
    def clear(self, key: str, state: str) -> None:
        self.step(key, state, "clear")

    @rule(key=KEYS)
    def read_everything(self, key: str) -> None:
        self.step(key, "value", "value")
        self.step(key, "list", "get")
        self.step(key, "map", "items")
        self.step(key, "reducing", "get")
        self.step(key, "aggregating", "get")

    @rule(key=KEYS, value=NUMBERS)
    def add_to_list(self, key: str, value: int) -> None:
        self.step(key, "list", "add", value)

    @rule(key=KEYS, values=st.lists(NUMBERS, max_size=3))
    def update_list(self, key: str, values: list[int]) -> None:
        self.step(key, "list", "update", values)

    @rule(key=KEYS, user_key=USER_KEYS, value=NUMBERS)
    def put_into_map(self, key: str, user_key: str, value: int) -> None:
        self.step(key, "map", "put", user_key, value)

    @rule(key=KEYS, user_key=USER_KEYS, method=st.sampled_from(["get", "contains", "remove"]))
    def look_into_map(self, key: str, user_key: str, method: str) -> None:
        self.step(key, "map", method, user_key)

    @rule(key=KEYS, state=st.sampled_from(["reducing", "aggregating"]), value=NUMBERS)
    def aggregate(self, key: str, state: str, value: int) -> None:
        self.step(key, state, "add", value)

    @rule(
        key=KEYS,
        verb=st.sampled_from(["register", "register", "delete"]),
        domain=st.sampled_from(["event", "processing"]),
        time=TIMES,
    )
    def timer(self, key: str, verb: str, domain: str, time: int) -> None:
        # One that is due already would fire at once or with what comes next: both are right.
        past = self.model.watermark if domain == "event" else self.model.now
        if time > past:
            self.step(key, "timers", f"{verb}_{domain}_time_timer", time)

    @rule(timestamp=TIMES)
    def advance_watermark(self, timestamp: int) -> None:
        self.flush()
        self.subtasks.advance_watermark(timestamp)
        self.expected += self.model.advance_watermark(timestamp)

    @rule(passed=st.integers(1, 15))
    def let_time_pass(self, passed: int) -> None:
        self.flush()
        self.subtasks.set_time(self.model.now + passed)
        self.expected += self.model.set_time(self.model.now + passed)

    @rule(backend=BACKENDS, parallelism=st.integers(1, 4))
    def restore(self, backend: str, parallelism: int) -> None:
        self.check()
        states = self.subtasks.snapshot()
        self.subtasks.close()
        self.start(backend, parallelism, states)

    @rule()
    @precondition(lambda self: self.waiting)
    def end_batch(self) -> None:
        self.check()

    @invariant()
    def no_batch_is_large(self) -> None:
        if self.subtasks is not None and len(self.waiting) > 20:
            self.check()

    def teardown(self) -> None:
        if self.subtasks is None:
            return
        try:
            self.check()
        finally:
            self.subtasks.close()


def test_state_survives_backends_and_parallelisms() -> None:
    run_state_machine_as_test(StateMachine, settings=settings(stateful_step_count=40))
