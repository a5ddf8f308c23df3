"""User functions of windows in the form that a GeneralWindowSpec holds; all of it pickles."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from penstock.datastream.functions import (
    Function,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from penstock.datastream.window import TimeWindow

__all__ = ["WindowFunctionAdapter"]


class _Context(
    ProcessWindowFunction.Context[TimeWindow], ProcessAllWindowFunction.Context[TimeWindow]
):
    def __init__(self, window: TimeWindow, watermark: int) -> None:
        self._window = window
        self._watermark = watermark

    def window(self) -> TimeWindow:
        return self._window

    def current_watermark(self) -> int:
        return self._watermark

    def current_processing_time(self) -> int:
        return time.time_ns() // 1_000_000


class WindowFunctionAdapter:
    """``(key, start, end, watermark, elements) -> iterable`` over a window function of any kind.

    A plain callable is ``function(key, window, elements)``, for ``window_all`` ``function(window, elements)``.
    """

    def __init__(self, function: Any, window_all: bool) -> None:
        process = ProcessAllWindowFunction if window_all else ProcessWindowFunction
        allowed = (process,) if window_all else (process, WindowFunction)
        if isinstance(function, Function) and not isinstance(function, allowed):
            raise TypeError(
                f"window_function takes a {process.__name__} here, not a {type(function).__name__}"
            )
        if not isinstance(function, Function) and not callable(function):
            raise TypeError(
                f"window_function takes a {process.__name__} or a callable, not {function!r}"
            )
        self.function = function
        self.window_all = window_all

    @property
    def lifecycle(self) -> Function | None:
        """The object whose open and close are to be called."""
        return self.function if isinstance(self.function, Function) else None

    def __call__(
        self, key: Any, start: int, end: int, watermark: int, elements: Iterable[Any]
    ) -> Iterable[Any]:
        window = TimeWindow(start, end)
        function = self.function
        if isinstance(function, ProcessWindowFunction):
            result = function.process(key, _Context(window, watermark), elements)
        elif isinstance(function, ProcessAllWindowFunction):
            result = function.process(_Context(window, watermark), elements)
        elif isinstance(function, WindowFunction):
            result = function.apply(key, window, elements)
        elif self.window_all:
            result = function(window, elements)
        else:
            result = function(key, window, elements)
        return () if result is None else result
