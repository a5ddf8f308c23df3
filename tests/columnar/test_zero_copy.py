"""Buffers are shared in both directions; the addresses prove it."""

import pyarrow as pa
import pytest

from penstock._core.columnar import Batch

pytestmark = pytest.mark.native


def addresses(array: pa.Array) -> list[int]:
    return [buffer.address for buffer in array.buffers() if buffer is not None and buffer.size]


def test_import_shares_every_buffer(array: pa.Array) -> None:
    (found,) = Batch.from_arrow(pa.record_batch([array], names=["x"])).buffer_addresses()
    if array.type in {pa.string_view(), pa.binary_view()}:  # copied into the plain layout
        assert not set(addresses(array)) & set(found)
    else:
        assert set(addresses(array)) <= set(found)


def test_export_shares_every_buffer(array: pa.Array) -> None:
    batch = Batch.from_arrow(pa.record_batch([array], names=["x"]))
    (held,) = batch.buffer_addresses()
    exported = pa.record_batch(batch).column(0)
    assert set(addresses(exported)) <= set(held)


def test_a_slice_shares_the_buffers_of_the_whole(array: pa.Array) -> None:
    batch = Batch.from_arrow(pa.record_batch([array], names=["x"]))
    assert batch.slice(3, 4).buffer_addresses() == batch.buffer_addresses()


def test_a_fixed_width_column_that_is_not_aligned_is_copied_and_still_right() -> None:
    raw = pa.py_buffer(bytes(3) + b"".join(i.to_bytes(8, "little") for i in range(5)))
    array = pa.Array.from_buffers(pa.int64(), 5, [None, raw.slice(3)])
    assert array.buffers()[1].address % 8 != 0
    batch = Batch.from_arrow(pa.record_batch([array], names=["x"]))
    assert raw.address + 3 not in batch.buffer_addresses()[0]
    assert pa.record_batch(batch).column(0).to_pylist() == [0, 1, 2, 3, 4]


def test_timestamps_are_seen_without_a_copy() -> None:
    batch = Batch.from_arrow(pa.record_batch({"x": [1, 2, 3]})).with_timestamps([10, 20, 30])
    times = batch.timestamp_buffer
    assert times is not None
    view = memoryview(times)
    assert (view.format, view.readonly, view.tolist()) == ("q", True, [10, 20, 30])
    del batch, times
    assert view.tolist() == [10, 20, 30]  # the view keeps them alive
