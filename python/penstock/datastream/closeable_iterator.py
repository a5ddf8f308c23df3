"""The results of a running job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

__all__ = ["CloseableIterator"]


class CloseableIterator(Iterator[Any]):
    """Iterates over results; closing it before the end calls ``on_close``, which stops what makes them.

    One that nobody holds any more before its end calls ``on_drop``, which must not wait.

    >>> with CloseableIterator(iter([1, 2, 3]), lambda: print("stopped")) as results:
    ...     next(results)
    1
    stopped
    """

    def __init__(
        self,
        results: Iterator[Any],
        on_close: Callable[[], Any],
        on_drop: Callable[[], Any] | None = None,
    ) -> None:
        self._results = results
        self._on_close = on_close
        self._on_drop = on_drop
        self._ended = False

    def __next__(self) -> Any:
        if self._ended:
            raise StopIteration
        try:
            return next(self._results)
        except KeyboardInterrupt:
            self.close()
            raise
        except BaseException:
            # The end, or the job's failure: nothing is left to stop.
            self._ended = True
            raise

    def next(self) -> Any:
        """The next result."""
        return self.__next__()

    def close(self) -> None:
        """Ends the iteration; may be called again."""
        if not self._ended:
            self._ended = True
            self._on_close()

    def __del__(self) -> None:
        if not self._ended and self._on_drop is not None:
            self._on_drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
