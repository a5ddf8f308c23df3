"""What comes out of a harness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_WATERMARK", "OperatorSnapshot", "StreamRecord", "Watermark", "WatermarkStatus"]

# The watermark at the end of the input.
MAX_WATERMARK = (1 << 63) - 1


@dataclass(frozen=True)
class StreamRecord:
    """An element with its event time; ``timestamp`` None: it has none."""

    value: Any
    timestamp: int | None = None


@dataclass(frozen=True)
class Watermark:
    """Event time has come so far."""

    timestamp: int


@dataclass(frozen=True)
class WatermarkStatus:
    """Whether the stream is idle: it no longer takes part in event time."""

    idle: bool


@dataclass(frozen=True)
class OperatorSnapshot:
    """The state of all operators of a harness, for the next one."""

    states: Mapping[str, bytes]


StreamElement = StreamRecord | Watermark | WatermarkStatus


def stream_elements(elements: Iterable[tuple[Any, ...]]) -> Iterator[StreamElement]:
    """The elements of ``penstock.runtime.harness``, one by one; the end of input is left out."""
    for element in elements:
        if element[0] == "rows":
            _, values, timestamps = element
            times = [None] * len(values) if timestamps is None else timestamps
            yield from map(StreamRecord, values, times)
        elif element[0] == "watermark":
            yield Watermark(element[1])
        elif element[0] == "status":
            yield WatermarkStatus(element[1])
