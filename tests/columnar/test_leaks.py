"""What the core takes it gives back: Arrow buffers, Python objects, memory."""

import gc
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

from penstock._core.columnar import Batch, batches_from_stream

pytestmark = pytest.mark.native


@pytest.fixture
def arrow_memory() -> Iterator[None]:
    """Fails when pyarrow has more memory allocated behind the test than before it."""
    gc.collect()
    before = pa.total_allocated_bytes()
    yield
    gc.collect()
    assert pa.total_allocated_bytes() == before


def table() -> pa.RecordBatch:
    numbers = pa.array(range(10_000))
    texts = pa.array([None if i % 3 else str(i) for i in range(10_000)])
    return pa.record_batch({"n": numbers, "s": texts, "l": pa.array([[i] for i in range(10_000)])})


@pytest.mark.usefixtures("arrow_memory")
def test_buffers_live_as_long_as_the_batch_and_no_longer() -> None:
    before = pa.total_allocated_bytes()
    source = table()
    size = pa.total_allocated_bytes() - before
    assert size > 100_000
    batch = Batch.from_arrow(source).slice(10, 20)
    del source
    assert pa.total_allocated_bytes() - before >= size
    assert batch.to_rows()[0] == (10, None, [10])
    del batch
    assert pa.total_allocated_bytes() == before


@pytest.mark.usefixtures("arrow_memory")
def test_exported_arrays_outlive_the_batch() -> None:
    exported = pa.record_batch(Batch.from_arrow(table()).select(["s"]))
    gc.collect()
    assert exported.column("s").to_pylist()[:4] == ["0", None, None, "3"]


@pytest.mark.usefixtures("arrow_memory")
def test_capsules_that_nobody_takes_are_released() -> None:
    for _ in range(20):
        Batch.from_arrow(table()).__arrow_c_array__()
        Batch.from_arrow(table()).__arrow_c_schema__()


@pytest.mark.usefixtures("arrow_memory")
def test_streams_are_released_at_their_end_and_on_failure() -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield table()
        raise ValueError("broken")

    schema = table().schema
    for _ in range(5):
        assert len(batches_from_stream(pa.Table.from_batches([table()] * 3))[1]) == 3
        with pytest.raises(OSError, match="broken"):
            batches_from_stream(pa.RecordBatchReader.from_batches(schema, failing()))


@pytest.mark.usefixtures("arrow_memory")
def test_a_refused_batch_is_released() -> None:
    odd = pa.array([[1], [2]], pa.list_view(pa.int64()))
    batch = pa.record_batch({"n": table().column("n").slice(0, 2), "odd": odd})
    for _ in range(5):
        with pytest.raises(NotImplementedError):
            Batch.from_arrow(batch)


def test_objects_are_held_once_per_row_and_let_go() -> None:
    item = object()
    before = sys.getrefcount(item)
    batch = Batch.from_rows([item] * 10)
    assert sys.getrefcount(item) == before + 10
    taken = batch.take([0, 1, 2])
    sliced = taken.slice(0, 2)
    assert sys.getrefcount(item) == before + 13
    rows = sliced.to_rows()
    del batch, taken, sliced
    assert sys.getrefcount(item) == before + len(rows)
    del rows
    assert sys.getrefcount(item) == before


def test_making_rows_leaks_nothing() -> None:
    batch = Batch.from_arrow(table().slice(0, 1000))
    schema = pa.record_batch(batch).schema

    def work() -> None:
        rows = batch.to_rows()
        Batch.from_rows(rows).to_columns(schema).to_rows()
        with pytest.raises(RuntimeError):
            Batch.from_arrow(beyond).to_rows()

    beyond = pa.record_batch({"s": ["a"] * 2, "d": pa.array([0, 2**62], pa.timestamp("s"))})
    for _ in range(3):
        work()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(20):
        work()
    gc.collect()
    assert sys.getallocatedblocks() - before < 200
