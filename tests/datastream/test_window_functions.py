"""User functions of windows in the form that the operator calls, and Flink's field aggregators."""

from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from penstock import Row
from penstock.datastream import (
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    TimeWindow,
    WindowFunction,
)
from penstock.datastream.field_reduce import FieldReduce
from penstock.datastream.window_functions import WindowFunctionAdapter

Point = namedtuple("Point", ["x", "y"])


class Process(ProcessWindowFunction):
    def process(self, key: Any, context: ProcessWindowFunction.Context, elements: Any) -> Any:
        assert context.current_processing_time() > 1_600_000_000_000
        yield key, context.window(), context.current_watermark(), list(elements)


class ProcessAll(ProcessAllWindowFunction):
    def process(self, context: ProcessAllWindowFunction.Context, elements: Any) -> Any:
        return [(context.window(), list(elements))]


class Apply(WindowFunction):
    def apply(self, key: Any, window: TimeWindow, inputs: Any) -> Any:
        return [(key, window, list(inputs))]


WINDOW = TimeWindow(0, 10)


@pytest.mark.parametrize(
    ("function", "window_all", "expected"),
    [
        (Process(), False, [("k", WINDOW, 7, [1])]),
        (Apply(), False, [("k", WINDOW, [1])]),
        (lambda key, window, elements: [(key, window)], False, [("k", WINDOW)]),
        (ProcessAll(), True, [(WINDOW, [1])]),
        (lambda window, elements: (window, *elements), True, [WINDOW, 1]),
        (lambda key, window, elements: None, False, []),
    ],
)
def test_window_functions_of_every_kind_are_called(
    function: Any, window_all: bool, expected: list[Any]
) -> None:
    adapter = WindowFunctionAdapter(function, window_all)
    assert list(adapter("k", 0, 10, 7, [1])) == expected


def test_function_objects_are_opened_and_closed_and_callables_are_not() -> None:
    function = Process()
    assert WindowFunctionAdapter(function, False).lifecycle is function
    assert WindowFunctionAdapter(lambda *_: None, False).lifecycle is None


@pytest.mark.parametrize(
    ("first", "other", "field", "total"),
    [
        (("a", 1), ("b", 5), 1, ("a", 6)),
        (["a", 1], ["b", 5], 1, ["a", 6]),
        (Row(k="a", v=1), Row(k="b", v=5), "v", Row(k="a", v=6)),
        (Row(k="a", v=1), Row(k="b", v=5), 1, Row(k="a", v=6)),
        (Row("a", 1), Row("b", 5), 1, Row("a", 6)),
        ({"k": "a", "v": 1}, {"k": "b", "v": 5}, "v", {"k": "a", "v": 6}),
        (Point(1, 1), Point(2, 5), 1, Point(1, 6)),
        (1, 5, None, 6),
    ],
    ids=repr,
)
def test_a_field_is_aggregated_and_the_others_are_those_of_the_first(
    first: Any, other: Any, field: int | str | None, total: Any
) -> None:
    found = FieldReduce("sum", field)(first, other)
    assert found == total
    assert type(found) is type(first)
    assert repr(found) == repr(total)


@pytest.mark.parametrize(("kind", "choose"), [("min", min), ("max", max)])
def test_min_and_max_keep_the_smaller_and_the_greater(
    kind: str, choose: Callable[[int, int], int]
) -> None:
    reduce = FieldReduce(kind, 1)
    for a, b in [(1, 2), (2, 1), (3, 3)]:
        assert reduce(("x", a), ("y", b)) == ("x", choose(a, b))
    assert repr(reduce) == f"{kind}(1)"


def test_window_functions_can_be_written_with_types_as_in_pyflink() -> None:
    class Typed(ProcessWindowFunction[tuple[str, int], str, str, TimeWindow]):
        def process(
            self,
            key: str,
            context: ProcessWindowFunction.Context[TimeWindow],
            elements: Iterable[tuple[str, int]],
        ) -> Iterable[str]:
            yield f"{key} {context.window().start}"

    class TypedAll(ProcessAllWindowFunction[int, int, TimeWindow]):
        def process(
            self, context: ProcessAllWindowFunction.Context[TimeWindow], elements: Iterable[int]
        ) -> Iterable[int]:
            return elements

    class TypedApply(WindowFunction[int, int, str, TimeWindow]):
        def apply(self, key: str, window: TimeWindow, inputs: Iterable[int]) -> Iterable[int]:
            return inputs

    assert list(WindowFunctionAdapter(Typed(), False)("k", 0, 10, 7, [("k", 1)])) == ["k 0"]
    assert list(WindowFunctionAdapter(TypedAll(), True)(None, 0, 10, 7, [1])) == [1]
    assert list(WindowFunctionAdapter(TypedApply(), False)("k", 0, 10, 7, [1])) == [1]
