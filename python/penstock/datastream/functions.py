"""User functions as classes. Wherever one is taken, a plain callable does too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common.runtime_context import RuntimeContext
from penstock.common.time_domain import TimeDomain
from penstock.common.timer_service import TimerService

if TYPE_CHECKING:
    from penstock.datastream.window import TimeWindow

__all__ = [
    "AggregateFunction",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedProcessFunction",
    "MapFunction",
    "ProcessAllWindowFunction",
    "ProcessFunction",
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


class ProcessFunction(Function):
    """One element to any number of elements, with its timestamp and the watermark; without keys there are no timers.

    What it yields as ``(OutputTag, value)`` goes to that side output.

    >>> from penstock import StreamExecutionEnvironment
    >>> from penstock.datastream import OutputTag
    >>> negative = OutputTag("negative")
    >>> class Split(ProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield (negative, value) if value < 0 else value
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> numbers = env.from_collection([3, -1, 2]).process(Split())
    >>> list(numbers.get_side_output(negative).execute_and_collect())
    [-1]
    """

    class Context(ABC):
        """What is known of the element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """The time."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The element's event time; None when it has none."""

    @abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None: ...


class KeyedProcessFunction(Function):
    """One element to any number of elements, with state and timers of the element's key.

    What it yields as ``(OutputTag, value)`` goes to that side output. A context is valid during the call only.

    >>> from penstock import StreamExecutionEnvironment, Types
    >>> from penstock.datastream.state import ListStateDescriptor
    >>> class SortedByTime(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting"))
    ...     def process_element(self, value, ctx):
    ...         self.waiting.add((ctx.timestamp(), value))
    ...         ctx.timer_service().register_event_time_timer(ctx.timestamp())
    ...     def on_timer(self, timestamp, ctx):
    ...         found = self.waiting.get()
    ...         self.waiting.update([entry for entry in found if entry[0] > timestamp])
    ...         yield from (value for time, value in found if time <= timestamp)
    >>> from penstock.testing import OneInputStreamOperatorTestHarness
    >>> def pipeline(words):
    ...     return words.key_by(len).process(SortedByTime())
    >>> with OneInputStreamOperatorTestHarness(pipeline) as harness:
    ...     harness.process_elements(["b", "a", "c"], [2, 1, 9])
    ...     harness.process_watermark(5)
    ...     harness.extract_output_values()
    ['a', 'b']
    """

    class Context(ABC):
        """What is known of the element."""

        @abstractmethod
        def get_current_key(self) -> Any: ...

        @abstractmethod
        def timer_service(self) -> TimerService:
            """The time, and the timers of the key."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The element's event time, None when it has none; of a timer: the time it was set to."""

    class OnTimerContext(Context):
        """What is known of the timer that fires."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Which clock the timer went by."""

    @abstractmethod
    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None: ...

    def on_timer(
        self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
    ) -> Iterable[Any] | None:
        """A timer fires; ``timestamp`` is the time it was set to."""
        return None


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
