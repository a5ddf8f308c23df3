"""Windows and their assigners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from penstock.common.time import Time, to_milliseconds

__all__ = ["TimeWindow", "TumblingEventTimeWindows", "WindowAssigner"]


@dataclass(frozen=True, order=True)
class TimeWindow:
    """The stretch of time from ``start`` (inclusive) to ``end`` (exclusive), in milliseconds.

    >>> TimeWindow(0, 10).max_timestamp(), TimeWindow(0, 10).intersects(TimeWindow(10, 20))
    (9, True)
    """

    start: int
    end: int

    def max_timestamp(self) -> int:
        """The last millisecond that belongs to it."""
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Whether it overlaps or touches ``other``, as Flink defines it."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """The smallest window that holds both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Where the window that holds ``timestamp`` begins.

        >>> TimeWindow.get_window_start_with_offset(-1, 0, 10)
        -10
        """
        return timestamp - (timestamp - offset) % window_size


class WindowAssigner(ABC):
    """Says which windows a record belongs to."""

    @abstractmethod
    def is_event_time(self) -> bool: ...


class TumblingEventTimeWindows(WindowAssigner):
    """Windows of a fixed size that follow each other without a gap.

    >>> TumblingEventTimeWindows.of(Time.minutes(1), Time.seconds(15))
    TumblingEventTimeWindows(60000, 15000)
    """

    def __init__(self, size: int, offset: int = 0) -> None:
        if size <= 0:
            raise ValueError(
                f"TumblingEventTimeWindows needs a size of at least 1 ms, not {size} ms"
            )
        if abs(offset) >= size:
            raise ValueError(
                "TumblingEventTimeWindows parameters must satisfy abs(offset) < size, "
                f"but offset is {offset} ms and size {size} ms"
            )
        self.size_ms = size
        self.offset_ms = offset

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingEventTimeWindows:
        """Windows of ``size``, shifted by ``offset`` from the epoch.

        ``Time.hours(-8)`` makes day windows of a zone eight hours ahead of UTC.
        """
        return TumblingEventTimeWindows(
            to_milliseconds(size, "size"),
            0 if offset is None else to_milliseconds(offset, "offset"),
        )

    def is_event_time(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"TumblingEventTimeWindows({self.size_ms}, {self.offset_ms})"
