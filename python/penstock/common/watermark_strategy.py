"""Where event times come from and how far the stream has come in event time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.common.time import Duration, to_milliseconds

__all__ = ["TimestampAssigner", "WatermarkStrategy"]


class TimestampAssigner(ABC):
    """Gives each element its event time.

    >>> class SecondField(TimestampAssigner):
    ...     def extract_timestamp(self, value, record_timestamp):
    ...         return value[1]
    """

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """The event time of ``value`` in milliseconds since the epoch.

        ``record_timestamp`` is the time it had so far (the smallest 64-bit integer: none).
        """


@dataclass(frozen=True)
class WatermarkStrategy:
    """How event times are found and watermarks made. Immutable: each ``with_`` gives a new one.

    >>> strategy = (
    ...     WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    ...     .with_timestamp_column("ts")
    ...     .with_idleness(Duration.of_minutes(1))
    ... )
    >>> strategy.delay_ms, strategy.column, strategy.idle_ms
    (5000, 'ts', 60000)

    ``delay_ms`` None means that no watermarks are made until the input ends.
    """

    delay_ms: int | None = None
    column: str | None = None
    function: Callable[[Any, int], int] | None = None
    idle_ms: int | None = None

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """For timestamps that never go back within one source subtask."""
        return WatermarkStrategy(delay_ms=0)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """For timestamps that lag at most so far behind the highest one seen."""
        delay = to_milliseconds(max_out_of_orderness, "max_out_of_orderness")
        if delay < 0:
            raise ValueError(f"max_out_of_orderness must not be negative, but is {delay} ms")
        return WatermarkStrategy(delay_ms=delay)

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Without watermarks: event time stands still until the input ends."""
        return WatermarkStrategy()

    def with_timestamp_assigner(
        self, timestamp_assigner: TimestampAssigner | Callable[[Any, int], int]
    ) -> WatermarkStrategy:
        """Takes event times from a TimestampAssigner or from ``function(value, timestamp)``.

        >>> strategy = WatermarkStrategy.for_monotonous_timestamps()
        >>> strategy.with_timestamp_assigner(lambda value, timestamp: value[1]).function(("a", 7), 0)
        7
        """
        if isinstance(timestamp_assigner, TimestampAssigner):
            function: Callable[[Any, int], int] = timestamp_assigner.extract_timestamp
        elif callable(timestamp_assigner):
            function = timestamp_assigner
        else:
            raise TypeError(
                "timestamp_assigner must be a TimestampAssigner or a callable(value, timestamp), "
                f"not {timestamp_assigner!r}"
            )
        return replace(self, function=function, column=None)

    def with_timestamp_column(self, column: str) -> WatermarkStrategy:
        """Takes event times from a column: a timestamp of any unit, or integer milliseconds."""
        if not isinstance(column, str):
            raise TypeError(f"a timestamp column is given by its name, not {column!r}")
        return replace(self, column=column, function=None)

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """A subtask without records for so long no longer holds the watermark back."""
        idle = to_milliseconds(idle_timeout, "idle_timeout")
        if idle <= 0:
            raise ValueError(f"idle_timeout must be positive, but is {idle} ms")
        return replace(self, idle_ms=idle)
