"""The two ends of the channels between stages: writers cut elements into frames, a gate puts them together again.

Frames reach a gate sorted by sequence, then by channel: a little of each channel in turn, so that the watermarks of
all channels go forward together and windows can close early. The gate proves that nothing is missing, doubled or
out of order; what it cannot know by itself (was *that* attempt the one that counts?) it notes in its receipts, and the
driver compares them with what the producers say they sent.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.runtime.spark.frames import (
    UNNAMED,
    Frame,
    FrameError,
    FrameHeader,
    decode_frame,
    encode_frame,
)

if TYPE_CHECKING:
    from penstock._core.columnar import Batch
    from penstock._core.task import Element

__all__ = ["ChannelId", "FrameGate", "FrameWriter", "Receipt"]

# A frame is sent when it has so much; Spark sorts and spills whole frames, so they must not become large.
_FRAME_BYTES = 1 << 20
_FRAME_ROWS = 1 << 16
_FRAME_OBJECTS = 1 << 13


@dataclass(frozen=True)
class Receipt:
    """What went through a channel. ``attempt`` None: the producer had no rows and could not know its number."""

    attempt: int | None
    frames: int
    digest: int  # CRC-32 over the CRC-32s of the frames' bodies


class FrameWriter:
    """Cuts the elements for one target into frames."""

    def __init__(
        self,
        vertex: int,
        subtask: int,
        attempt: int,
        edge: int,
        target: int,
        channel: int,
        route: int,
    ) -> None:
        self._header = (vertex, subtask, attempt, edge, target)
        self._channel = channel
        self._route = route
        self._elements: list[Element] = []
        self._fill = 0.0
        self._sequence = 0
        self._digest = 0

    def add(self, element: Element) -> Frame | None:
        """The frame that this element completes, if it does."""
        self._elements.append(element)
        if element[0] == "batch":
            self._fill += _fill(element)
        return self._cut() if self._fill >= 1 or element[0] == "end" else None

    def receipt(self) -> Receipt:
        """What has been sent so far."""
        return Receipt(self._header[2], self._sequence, self._digest)

    def _cut(self) -> Frame:
        header = FrameHeader(*self._header, self._sequence)
        payload, crc = encode_frame(header, self._elements)
        frame = Frame(self._route, header.edge, self._channel, self._sequence, payload)
        self._digest = _digest(self._digest, crc)
        self._sequence += 1
        self._elements = []
        self._fill = 0.0
        return frame


def _fill(element: Element) -> float:
    """The part of a frame that a batch fills."""
    batch: Batch = element[1]
    if not batch.is_columnar:
        return len(batch) / _FRAME_OBJECTS
    size: int = pa.record_batch(batch).nbytes
    return max(len(batch) / _FRAME_ROWS, size / _FRAME_BYTES)


def _digest(digest: int, crc: int) -> int:
    return zlib.crc32(crc.to_bytes(4, "little"), digest)


@dataclass(frozen=True)
class ChannelId:
    """The producing end of a channel."""

    edge: int
    subtask: int


class _Channel:
    """How far the frames of one channel have come."""

    def __init__(self, identity: ChannelId) -> None:
        self.id = identity
        self.attempt: int | None = None
        self.next = 0
        self.digest = 0
        self.ended = False

    def accept(self, header: FrameHeader, crc: int) -> None:
        if ChannelId(header.edge, header.subtask) != self.id:
            raise FrameError(f"{header} arrived in the channel of {self.id}")
        if header.sequence > self.next:
            raise FrameError(f"frame {self.next} is missing: {header} arrived instead")
        if header.sequence < self.next:
            raise FrameError(f"{header} arrived twice or out of order: frame {self.next} is next")
        if self.attempt not in {None, header.attempt}:
            raise FrameError(f"{header} is mixed with frames of attempt {self.attempt}")
        if self.ended:
            raise FrameError(f"{header} arrived behind the end of its channel")
        self.attempt = header.attempt
        self.next += 1
        self.digest = _digest(self.digest, crc)

    def receipt(self) -> Receipt:
        return Receipt(self.attempt, self.next, self.digest)


class FrameGate:
    """Reads the frames of all channels into one subtask. A channel of a ``lenient`` edge may be silent."""

    def __init__(
        self, subtask: int, channels: Sequence[ChannelId], lenient: frozenset[int] = frozenset()
    ) -> None:
        self._subtask = subtask
        self._channels = [_Channel(identity) for identity in channels]
        self._lenient = lenient
        # Producers without rows, by edge: the attempts they were.
        self._unnamed: dict[int, set[int]] = {}

    def elements(self, frames: Iterable[Frame]) -> Iterator[tuple[int, Element]]:
        """(channel, element) of frames sorted by (sequence, channel); FrameError unless all of them come."""
        held: list[Frame] | None = []
        for frame in frames:
            if frame.channel == UNNAMED:
                self._accept_unnamed(frame)
            elif held is not None and frame.sequence == 0 and self._may_be_silent:
                held.append(frame)
            else:
                if held is not None:
                    yield from self._first_frames(held)
                    held = None
                yield from self._accept(frame)
        if held is not None:
            yield from self._first_frames(held)
        self._check_complete()

    @property
    def _may_be_silent(self) -> frozenset[int]:
        return self._lenient.union(self._unnamed)

    def receipts(self) -> dict[ChannelId, Receipt]:
        """What came through each channel."""
        return {channel.id: channel.receipt() for channel in self._channels}

    def _first_frames(self, held: list[Frame]) -> Iterator[tuple[int, Element]]:
        """Ends the channels of unnamed producers, which are those without a first frame; then the held frames."""
        named = {frame.channel for frame in held}
        silent = [
            index
            for index, channel in enumerate(self._channels)
            if index not in named and channel.id.edge in self._may_be_silent
        ]
        self._check_silent(silent)
        for index in silent:
            self._channels[index].ended = True
            yield index, ("end",)
        for frame in held:
            yield from self._accept(frame)

    def _accept(self, frame: Frame) -> Iterator[tuple[int, Element]]:
        header, crc, elements = decode_frame(frame.payload)
        self._check_address(frame, header)
        if not 0 <= frame.channel < len(self._channels):
            raise FrameError(f"{header} names channel {frame.channel} of {len(self._channels)}")
        channel = self._channels[frame.channel]
        channel.accept(header, crc)
        for element in elements:
            if channel.ended:
                raise FrameError(f"{header} has elements behind the end")
            channel.ended = element[0] == "end"
            yield frame.channel, element

    def _accept_unnamed(self, frame: Frame) -> None:
        header, _, _ = decode_frame(frame.payload)
        self._check_address(frame, header)
        attempts = self._unnamed.setdefault(header.edge, set())
        if header.subtask != UNNAMED or header.attempt in attempts:
            raise FrameError(f"{header} arrived twice or under a false name")
        attempts.add(header.attempt)

    def _check_silent(self, silent: Sequence[int]) -> None:
        """A forward edge has one channel here, and its unnamed producers speak to everybody; else the numbers agree."""
        for edge in self._unnamed.keys() - self._lenient:
            attempts = self._unnamed[edge]
            found = sum(self._channels[index].id.edge == edge for index in silent)
            if found > len(attempts):
                raise FrameError(
                    f"subtask {self._subtask}: {found} channels along edge {edge} are silent, "
                    f"but {len(attempts)} producers had no rows: frames are missing"
                )

    def _check_address(self, frame: Frame, header: FrameHeader) -> None:
        if header.target != self._subtask:
            raise FrameError(f"{header} arrived at subtask {self._subtask}")
        if (frame.edge, frame.sequence) != (header.edge, header.sequence):
            raise FrameError(f"{header} is labelled as frame {frame.sequence} of edge {frame.edge}")

    def _check_complete(self) -> None:
        for channel in self._channels:
            if not channel.ended:
                raise FrameError(
                    f"subtask {self._subtask}: the channel from subtask {channel.id.subtask} along edge "
                    f"{channel.id.edge} has no end: {channel.next} frames arrived, and the rest is missing"
                )
