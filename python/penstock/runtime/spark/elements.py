"""Stream elements as bytes: the body of a frame.

A body is a table of all elements in channel order, and behind it the rows of the batches among them, in *sections*.
A section holds the rows of batches that follow each other and have the same form, joined: columns as one Arrow IPC
record batch with LZ4, rows of Python objects as one pickle. Many small batches travel as one, and come back as slices.

    u32 number of elements | per element: u8 kind, i64 value | sections: u8 kind, u32 flags, u64 length, bytes

``value`` is the number of rows of a batch, the time of a watermark, 1 for an idle status, the id of a barrier.
Event times and encoded keys are further columns of their section; its flags say which are there.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock._core.columnar import Batch

if TYPE_CHECKING:
    from penstock._core.task import Element

__all__ = ["decode_elements", "encode_elements"]

_COUNT = struct.Struct("<I")
_ELEMENT = struct.Struct("<Bq")
_SECTION = struct.Struct("<BIQ")

# These reach the wire between two Python workers that may have different versions of Penstock.
_COLUMNS, _ROWS, _WATERMARK, _STATUS, _BARRIER, _END = range(1, 7)
_HAS_TIMES, _HAS_KEYS = 1, 2

_IPC = pa.ipc.IpcWriteOptions(compression="lz4")
_KIND_OF = {"watermark": _WATERMARK, "status": _STATUS, "barrier": _BARRIER, "end": _END}
_NAME_OF = {kind: name for name, kind in _KIND_OF.items()}


def encode_elements(elements: Sequence[Element]) -> bytes:
    """The elements as the body of a frame; batches without rows are left out."""
    table: list[tuple[int, int]] = []
    sections: list[_Section] = []
    for element in elements:
        if element[0] != "batch":
            table.append((_KIND_OF[element[0]], int(element[1]) if len(element) > 1 else 0))
        elif len(element[1]) > 0:
            batch: Batch = element[1]
            table.append((_COLUMNS if batch.is_columnar else _ROWS, len(batch)))
            _add_batch(sections, batch)
    parts = [_COUNT.pack(len(table)), *(_ELEMENT.pack(*entry) for entry in table)]
    for section in sections:
        data = section.data()
        parts += [_SECTION.pack(section.kind, section.flags, len(data)), data]
    return b"".join(parts)


def decode_elements(body: memoryview) -> Iterator[Element]:
    """The elements of a body, in order."""
    (count,) = _COUNT.unpack_from(body)
    position = _COUNT.size + count * _ELEMENT.size
    rows = _SectionReader(body, position)
    for index in range(count):
        kind, value = _ELEMENT.unpack_from(body, _COUNT.size + index * _ELEMENT.size)
        if kind in {_COLUMNS, _ROWS}:
            yield "batch", rows.take(kind, value)
        elif kind == _END:
            yield ("end",)
        elif kind == _STATUS:
            yield "status", bool(value)
        else:
            yield _NAME_OF[kind], value


@dataclass
class _Section:
    """The rows of neighbouring batches of one form."""

    kind: int
    flags: int
    schema: pa.Schema | None
    batches: list[Any]

    def data(self) -> pa.Buffer | bytes:
        if self.kind == _ROWS:
            return _pickled(
                [list(joined) for joined in map(_joined, zip(*self.batches, strict=True))]
            )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.schema, options=_IPC) as writer:
            writer.write_batch(pa.concat_batches(self.batches))
        return sink.getvalue()


def _joined(parts: Sequence[Sequence[Any]]) -> Iterator[Any]:
    for part in parts:
        yield from part


def _add_batch(sections: list[_Section], batch: Batch) -> None:
    times, keys = batch.timestamp_buffer, batch.encoded_keys
    flags = (_HAS_TIMES if times is not None else 0) | (_HAS_KEYS if keys is not None else 0)
    if batch.is_columnar:
        columns = _with_extra_columns(pa.record_batch(batch), times, keys)
        section = _Section(_COLUMNS, flags, columns.schema, [columns])
    else:
        section = _Section(
            _ROWS, flags, None, [(batch.to_rows(), batch.timestamps or (), keys or ())]
        )
    last = sections[-1] if sections else None
    if last is not None and _same_form(last, section):
        last.batches += section.batches
    else:
        sections.append(section)


def _same_form(one: _Section, other: _Section) -> bool:
    if (one.kind, one.flags) != (other.kind, other.flags):
        return False
    return one.schema is None or one.schema.equals(other.schema, check_metadata=True)


def _with_extra_columns(columns: pa.RecordBatch, times: Any, keys: Any) -> pa.RecordBatch:
    """Event times and keys behind the columns, found again by position: their names may be taken."""
    fields, arrays = list(columns.schema), columns.columns
    if times is not None:
        buffers = [None, pa.py_buffer(times)]
        arrays.append(pa.Array.from_buffers(pa.int64(), columns.num_rows, buffers))
        fields.append(pa.field("event time", pa.int64()))
    if keys is not None:
        arrays.append(pa.array(keys, pa.binary()))
        fields.append(pa.field("key", pa.binary()))
    if not arrays:  # a batch without columns has no other way to say how many rows it has
        return pa.RecordBatch.from_struct_array(pa.array([{}] * columns.num_rows, pa.struct([])))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, columns.schema.metadata))


def _pickled(parts: list[list[Any]]) -> bytes:
    try:
        data = pickle.dumps(parts, protocol=5)
    except Exception:  # noqa: BLE001 (pickle raises anything)
        # Objects of a class that came with the plan itself: only cloudpickle takes the class along.
        import cloudpickle

        data = cloudpickle.dumps(parts, protocol=5)
    compressed: bytes = pa.compress(data, codec="lz4", asbytes=True)
    return _COUNT.pack(len(data)) + compressed


class _SectionReader:
    """Hands out the rows of the sections batch by batch."""

    def __init__(self, body: memoryview, position: int) -> None:
        self._body = body
        self._position = position
        self._section: Batch | None = None
        self._row = 0

    def take(self, kind: int, rows: int) -> Batch:
        if self._section is None or self._row == len(self._section):
            self._section = self._next_section(kind)
            self._row = 0
        part = self._section
        if rows != len(part):
            part = part.slice(self._row, rows)
        self._row += rows
        return part

    def _next_section(self, expected: int) -> Batch:
        kind, flags, length = _SECTION.unpack_from(self._body, self._position)
        start = self._position + _SECTION.size
        self._position = start + length
        if kind != expected:
            raise ValueError(f"a section of kind {kind} where one of kind {expected} is expected")
        data = self._body[start : self._position]
        return _columns(data, flags) if kind == _COLUMNS else _rows(data, flags)


def _columns(data: memoryview, flags: int) -> Batch:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        columns = reader.read_next_batch()
    width = columns.num_columns - flags.bit_count()
    batch = Batch.from_arrow(columns.select(range(width)) if flags else columns)
    position = width
    if flags & _HAS_TIMES:
        batch = batch.with_timestamps(columns.column(position).to_numpy())
        position += 1
    if flags & _HAS_KEYS:
        batch = batch.with_encoded_keys(columns.column(position).to_pylist())
    return batch


def _rows(data: memoryview, flags: int) -> Batch:
    (size,) = _COUNT.unpack_from(data)
    packed = pa.py_buffer(data[_COUNT.size :])
    rows, times, keys = pickle.loads(
        pa.decompress(packed, decompressed_size=size, codec="lz4", asbytes=True)
    )
    batch = Batch.from_rows(rows, times if flags & _HAS_TIMES else None)
    return batch.with_encoded_keys(keys) if flags & _HAS_KEYS else batch
