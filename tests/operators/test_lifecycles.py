"""User functions are opened once before the first record and closed once, whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock._core import operators
from penstock._core.operators import Operator
from penstock.datastream.functions import RuntimeContext
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native


class Recorder:
    """Notes what is called, and fails where it is told to."""

    def __init__(self, fail_in: str = "") -> None:
        self.calls: list[str] = []
        self.context: RuntimeContext | None = None
        self.fail_in = fail_in

    def open(self, context: RuntimeContext) -> None:
        self.context = context
        self._note("open")

    def close(self) -> None:
        self._note("close")

    def __call__(self, value: Any) -> Any:
        self._note("call")
        return [value]

    def _note(self, what: str) -> None:
        self.calls.append(what)
        if what == self.fail_in:
            raise RuntimeError(f"failed in {what}")


def window(recorder: Recorder) -> Operator:
    reduce = ("reduce", lambda a, _: recorder(a)[0])
    return operators.general_window(10, 0, 0, reduce, None, True, None, [recorder])


OPERATORS: dict[str, Callable[[Recorder], Operator]] = {
    "map": lambda r: operators.map(r, [r]),
    "filter": lambda r: operators.filter(r, [r]),
    "flat_map": lambda r: operators.flat_map(r, [r]),
    "key_selector": lambda r: operators.key_selector(None, lambda v: r(v)[0], [r]),
    "function_sink": lambda r: operators.function_sink(r, [r]),
    "general_window": window,
}


@pytest.fixture(params=OPERATORS)
def make(request: pytest.FixtureRequest) -> Callable[[Recorder], Operator]:
    return OPERATORS[request.param]


def feed(chain: Any) -> None:
    chain.rows([1], [0]).rows([2], [1])


def test_a_function_is_opened_called_and_closed(chain: Any, make: Any) -> None:
    recorder = Recorder()
    out = chain(make(recorder))
    feed(out)
    out.driver.close()
    assert recorder.calls[0] == "open"
    assert recorder.calls.count("open") == 1
    assert recorder.calls[-1] == "close"
    assert recorder.calls.count("close") == 1
    assert "call" in recorder.calls


def test_a_function_is_closed_once_after_it_failed(chain: Any, make: Any) -> None:
    recorder = Recorder("call")
    out = chain(make(recorder))
    with pytest.raises(UserCodeError, match="RuntimeError: failed in call"):
        feed(out)
    out.driver.close()
    out.driver.close()
    assert recorder.calls == ["open", "call", "close"]


def test_open_gets_the_runtime_context_of_its_subtask(chain: Any, make: Any) -> None:
    recorder = Recorder()
    chain(make(recorder), subtask=1, parallelism=3)
    context = recorder.context
    assert isinstance(context, RuntimeContext)
    assert context.get_task_name_with_subtasks() == "Op0 (2/3)"
    assert context.get_max_number_of_parallel_subtasks() == 128


def test_an_error_in_open_fails_the_task_and_close_still_runs(chain: Any, make: Any) -> None:
    recorder = Recorder("open")
    with pytest.raises(
        UserCodeError,
        match=r"operator 'Op0'.*Recorder.open\(\) raised: RuntimeError: failed in open",
    ):
        chain(make(recorder))
    assert recorder.calls == ["open", "close"]


def test_an_error_in_close_is_reported(chain: Any, make: Any) -> None:
    recorder = Recorder("close")
    out = chain(make(recorder))
    with pytest.raises(UserCodeError, match=r"Recorder.close\(\) raised: RuntimeError"):
        out.driver.close()


def test_a_function_that_was_not_opened_is_not_closed(chain: Any) -> None:
    first, second = Recorder("open"), Recorder()
    with pytest.raises(UserCodeError):
        chain(operators.map(first, [first]), operators.map(second, [second]))
    assert first.calls == ["open", "close"]
    assert second.calls == []


def test_several_functions_are_closed_in_reverse_and_all_of_them(chain: Any) -> None:
    order: list[str] = []

    class Named(Recorder):
        def __init__(self, name: str, fail_in: str = "") -> None:
            super().__init__(fail_in)
            self.name = name

        def _note(self, what: str) -> None:
            order.append(f"{what} {self.name}")
            super()._note(what)

    functions = [Named("a", "close"), Named("b", "close")]
    out = chain(operators.map(str, functions))
    with pytest.raises(UserCodeError):
        out.driver.close()
    assert order == ["open a", "open b", "close b", "close a"]
