"""User functions as classes. Wherever one is taken, a plain callable does too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common.runtime_context import RuntimeContext

if TYPE_CHECKING:
    from penstock.datastream.window import TimeWindow

__all__ = [
    "AggregateFunction",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "MapFunction",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "SinkFunction",
    "WindowFunction",
]


# PyFlink's: elements, results, key and window, as in ProcessWindowFunction[tuple, str, str, TimeWindow].
IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")
W = TypeVar("W", bound="TimeWindow")
W2 = TypeVar("W2", bound="TimeWindow")


class Function(ABC):  # noqa: B024
    """Base of user functions. ``open`` runs once per subtask before the first record, ``close`` after the last.

    Each subtask works on a copy of its own, made by cloudpickle, as on a cluster: make what does not pickle (connections,
    locks, files) in ``open``. A plain callable is shared by all subtasks of a local job.
    """

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: B027
        """Prepares the function."""

    def close(self) -> None:  # noqa: B027
        """Releases what ``open`` acquired; runs after a failure too."""


class MapFunction(Function):
    """One element to one element.

    >>> class AddOne(MapFunction):
    ...     def map(self, value):
    ...         return value + 1
    """

    @abstractmethod
    def map(self, value: Any) -> Any: ...


class FilterFunction(Function):
    """Keeps the elements for which it returns true."""

    @abstractmethod
    def filter(self, value: Any) -> bool: ...


class FlatMapFunction(Function):
    """One element to any number of elements: returns an iterable, yields, or returns None."""

    @abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any] | None: ...


class KeySelector(Function):
    """The key of an element."""

    @abstractmethod
    def get_key(self, value: Any) -> Any: ...


class ReduceFunction(Function):
    """Two elements to one of the same type; must be associative."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any: ...


class AggregateFunction(Function):
    """Aggregates through an accumulator.

    >>> class Average(AggregateFunction):
    ...     def create_accumulator(self):
    ...         return 0, 0
    ...     def add(self, value, accumulator):
    ...         return accumulator[0] + value, accumulator[1] + 1
    ...     def get_result(self, accumulator):
    ...         return accumulator[0] / accumulator[1]
    ...     def merge(self, acc_a, acc_b):
    ...         return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]
    """

    @abstractmethod
    def create_accumulator(self) -> Any: ...

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """The accumulator with ``value`` in it; may be the given one, changed."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any: ...

    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any: ...


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Evaluates a window, given its key and its elements (one, behind a reduce or an aggregate)."""

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT] | None: ...


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Like WindowFunction, with a context.

    >>> class WithStart(ProcessWindowFunction):
    ...     def process(self, key, context, elements):
    ...         for element in elements:
    ...             yield key, context.window().start, element
    """

    class Context(ABC, Generic[W2]):
        """What is known of the window that fires."""

        @abstractmethod
        def window(self) -> W2: ...

        @abstractmethod
        def current_watermark(self) -> int: ...

        @abstractmethod
        def current_processing_time(self) -> int: ...

    @abstractmethod
    def process(
        self, key: KEY, context: ProcessWindowFunction.Context[W], elements: Iterable[IN]
    ) -> Iterable[OUT] | None: ...


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """A ProcessWindowFunction without a key, for ``window_all``."""

    class Context(ABC, Generic[W2]):
        """What is known of the window that fires."""

        @abstractmethod
        def window(self) -> W2: ...

    @abstractmethod
    def process(
        self, context: ProcessAllWindowFunction.Context[W], elements: Iterable[IN]
    ) -> Iterable[OUT] | None: ...


class SinkFunction(Function):
    """Takes the elements at the end of a stream, one by one."""

    @abstractmethod
    def invoke(self, value: Any) -> None: ...


def as_callable(
    function: Any, kind: type[Function], method: str, what: str
) -> tuple[Callable[..., Any], Function | None]:
    """The callable of ``function`` and, when it is a Function object, the object itself for open and close."""
    if isinstance(function, kind):
        return getattr(function, method), function
    if isinstance(function, Function) or (
        isinstance(function, type) and issubclass(function, Function)
    ):
        raise TypeError(f"{what} takes a {kind.__name__} object or a callable, not {function!r}")
    if not callable(function):
        raise TypeError(f"{what} takes a {kind.__name__} or a callable, not {function!r}")
    return function, None
