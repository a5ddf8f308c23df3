"""The rows of an in-memory source, divided among its subtasks.

As in one process, subtask i of P reads the chunks i, i + P, ... of 8192 rows; but each is sent its own rows only.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock._core.columnar import Batch
from penstock.graph.specs import ArrowSourceSpec, CollectionSourceSpec, OperatorSpec

if TYPE_CHECKING:
    from penstock._core.task import Element

__all__ = ["EMPTY_SHARD", "make_shards", "read_shard"]

# Of the core's chunked sources; never to change.
_CHUNK_ROWS = 8192
EMPTY_SHARD = b"P" + pickle.dumps([])
_IPC = pa.ipc.IpcWriteOptions(compression="lz4")


def make_shards(spec: OperatorSpec, parallelism: int) -> list[bytes] | None:
    """The rows of each subtask, packed; None for a source that is not in memory."""
    if isinstance(spec, ArrowSourceSpec):
        return [_packed(_table_part(spec.table, i, parallelism)) for i in range(parallelism)]
    if isinstance(spec, CollectionSourceSpec):
        items = list(spec.items)
        return [_pickled(_items_part(items, i, parallelism)) for i in range(parallelism)]
    return None


def read_shard(shard: bytes, batch_rows: int) -> Iterator[Element]:
    """The rows of a shard as batches; none of them crosses the border of a chunk."""
    kind, data = shard[:1], memoryview(shard)[1:]
    if kind == b"A":
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            table = reader.read_all()
        for chunk in _chunks(table.num_rows):
            for batch in table.slice(chunk, _CHUNK_ROWS).to_batches(max_chunksize=batch_rows):
                yield "batch", Batch.from_arrow(batch)
    else:
        items = pickle.loads(data)
        for chunk in _chunks(len(items)):
            for start in range(chunk, min(chunk + _CHUNK_ROWS, len(items)), batch_rows):
                end = min(start + batch_rows, chunk + _CHUNK_ROWS)
                yield "batch", Batch.from_rows(items[start:end])


def _chunks(rows: int) -> range:
    return range(0, rows, _CHUNK_ROWS)


def _table_part(table: pa.Table, subtask: int, parallelism: int) -> pa.Table:
    step = parallelism * _CHUNK_ROWS
    parts = [
        table.slice(start, _CHUNK_ROWS)
        for start in range(subtask * _CHUNK_ROWS, table.num_rows, step)
    ]
    return pa.concat_tables(parts).combine_chunks() if parts else table.slice(0, 0)


def _items_part(items: list[Any], subtask: int, parallelism: int) -> list[Any]:
    step = parallelism * _CHUNK_ROWS
    starts = range(subtask * _CHUNK_ROWS, len(items), step)
    return [item for start in starts for item in items[start : start + _CHUNK_ROWS]]


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_IPC) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return b"A" + packed


def _pickled(items: list[Any]) -> bytes:
    import cloudpickle

    pickled: bytes = cloudpickle.dumps(items)
    return b"P" + pickled
