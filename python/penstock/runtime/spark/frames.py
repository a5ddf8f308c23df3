"""Frames: what travels between the stages of a job on Spark.

A frame is one row of a DataFrame. Its columns are what Spark routes, filters and sorts by; the payload names the frame
again, so that a row that went astray, or came twice, is noticed:

    header: magic, version, vertex, subtask, attempt, edge, target, sequence, length and CRC-32 of the body, own CRC-32
    body:   stream elements (see ``elements``)

Invariants:
1. the frames of one channel (edge, producing subtask, target) are numbered from 0 without a gap;
2. the last element of a channel's last frame is the end, and there is no end before it;
3. all frames of a channel come from one attempt of the producing subtask.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.errors import PenstockError
from penstock.runtime.spark.elements import decode_elements, encode_elements

if TYPE_CHECKING:
    from penstock._core.task import Element

__all__ = [
    "ACKNOWLEDGEMENT",
    "FRAME_DDL",
    "FRAME_SCHEMA",
    "SEED",
    "UNNAMED",
    "Frame",
    "FrameError",
    "FrameHeader",
    "decode_frame",
    "encode_frame",
    "frame_rows",
    "read_frames",
]

_MAGIC = b"PNSF"
_VERSION = 1
_HEADER = struct.Struct("<4sHiiqiiiQI")
_CRC = struct.Struct("<I")

FRAME_SCHEMA = pa.schema(
    [
        pa.field("route", pa.int32(), nullable=False),
        pa.field("edge", pa.int32(), nullable=False),
        pa.field("channel", pa.int32(), nullable=False),
        pa.field("sequence", pa.int32(), nullable=False),
        pa.field("payload", pa.binary()),
    ]
)
FRAME_DDL = "route int, edge int, channel int, sequence int, payload binary"

# Values of ``edge`` for rows that are not frames of a channel. They sort before all frames by their sequence.
SEED = -1  # tells a subtask which one it is: ``channel`` is its number
ACKNOWLEDGEMENT = -2  # on its way to the driver
# ``channel`` of a producer that cannot know its number, because it got no rows (see ``stages.DataFrameStage``).
UNNAMED = -1


class FrameError(PenstockError):
    """A frame is damaged, missing, doubled or out of order."""


@dataclass(frozen=True)
class FrameHeader:
    """Who sent a frame, along which edge to whom, and as which frame of its channel."""

    vertex: int
    subtask: int
    attempt: int
    edge: int
    target: int
    sequence: int

    def __str__(self) -> str:
        return (
            f"frame {self.sequence} of edge {self.edge} from subtask {self.subtask} of vertex {self.vertex} "
            f"(attempt {self.attempt}) to subtask {self.target}"
        )


@dataclass(frozen=True)
class Frame:
    """One row. ``route`` makes Spark put it into the partition of its target."""

    route: int
    edge: int
    channel: int
    sequence: int
    payload: Any = None  # bytes or a pyarrow.Buffer


def encode_frame(header: FrameHeader, elements: Sequence[Element]) -> tuple[bytes, int]:
    """The payload of a frame, and the CRC-32 of its body."""
    body = encode_elements(elements)
    crc = zlib.crc32(body)
    head = _HEADER.pack(
        _MAGIC,
        _VERSION,
        header.vertex,
        header.subtask,
        header.attempt,
        header.edge,
        header.target,
        header.sequence,
        len(body),
        crc,
    )
    return b"".join((head, _CRC.pack(zlib.crc32(head)), body)), crc


def decode_frame(payload: Any) -> tuple[FrameHeader, int, Iterator[Element]]:
    """The header of a payload, the CRC-32 of its body, and its elements; FrameError when a byte of it is wrong."""
    data = memoryview(payload)
    start = _HEADER.size + _CRC.size
    if len(data) < start:
        raise FrameError(f"a frame of {len(data)} bytes is too short")
    head = data[: _HEADER.size]
    (head_crc,) = _CRC.unpack_from(data, _HEADER.size)
    magic, version, *names, length, crc = _HEADER.unpack(head)
    if magic != _MAGIC or zlib.crc32(head) != head_crc:
        raise FrameError("the header of a frame is damaged")
    if version != _VERSION:
        raise FrameError(
            f"a frame of version {version}, but this is version {_VERSION}: "
            "all executors need the same Penstock"
        )
    header = FrameHeader(*names)
    body = data[start:]
    if len(body) != length or zlib.crc32(body) != crc:
        raise FrameError(f"the body of {header} is damaged")
    return header, crc, decode_elements(body)


def frame_rows(frames: Sequence[Frame]) -> pa.RecordBatch:
    """Frames as rows for Spark."""
    rows = [(f.route, f.edge, f.channel, f.sequence, f.payload) for f in frames]
    arrays = [pa.array([row[i] for row in rows], f.type) for i, f in enumerate(FRAME_SCHEMA)]
    return pa.RecordBatch.from_arrays(arrays, schema=FRAME_SCHEMA)


def read_frames(batches: Iterator[pa.RecordBatch]) -> Iterator[Frame]:
    """Rows from Spark as frames; payloads are views of the batch's memory."""
    for batch in batches:
        route, edge, channel, sequence = (batch.column(i).to_pylist() for i in range(4))
        payloads = batch.column(4)
        for row in range(batch.num_rows):
            payload = payloads[row].as_buffer() if payloads[row].is_valid else None
            yield Frame(route[row], edge[row], channel[row], sequence[row], payload)
