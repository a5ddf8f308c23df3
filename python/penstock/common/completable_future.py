"""CompletableFuture: an outcome that may still be to come, with PyFlink's methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["CompletableFuture"]

T = TypeVar("T")


class CompletableFuture(Generic[T]):
    """What an asynchronous call of a JobClient returns.

    ``wait(seconds)`` says whether the outcome is there after at most so long (None: as long as it takes), ``outcome``
    returns it or raises.

    >>> CompletableFuture.completed(7).result()
    7
    """

    def __init__(self, wait: Callable[[float | None], bool], outcome: Callable[[], T]) -> None:
        self._wait = wait
        self._outcome = outcome

    @staticmethod
    def completed(value: T) -> CompletableFuture[T]:
        """A future whose outcome is there."""
        return CompletableFuture(lambda timeout: True, lambda: value)

    def cancel(self) -> bool:
        """Always False: cancel the job, not the future."""
        return False

    def cancelled(self) -> bool:
        return False

    def done(self) -> bool:
        """Whether the outcome is there."""
        return self._wait(0.0)

    def result(self, timeout: float | None = None) -> T:
        """Waits for the outcome and returns it, or raises what went wrong; TimeoutError after ``timeout`` seconds."""
        if not self._wait(timeout):
            raise TimeoutError(f"no result after {timeout} s")
        return self._outcome()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits for the outcome; what went wrong, or None."""
        try:
            self.result(timeout)
        except Exception as error:  # noqa: BLE001 (whatever failed the job)
            return error
        return None

    def __repr__(self) -> str:
        return f"<CompletableFuture {'done' if self.done() else 'pending'}>"
