"""A chain of operators in one subtask, fed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest

from penstock._core.columnar import Batch
from penstock._core.operators import Operator, set_runtime_context_factory
from penstock._core.task import TaskDriver
from penstock.datastream.functions import RuntimeContext

SCALAR = {b"penstock.scalar": b"1"}


class Chain:
    """Operators one behind the other; remembers all that comes out of the last."""

    def __init__(
        self,
        operators: Sequence[Operator],
        subtask: int = 0,
        parallelism: int = 1,
        state: bytes | None = None,
        sides: Sequence[int] = (),
    ) -> None:
        self.driver = TaskDriver("task", subtask, parallelism, 128, [0], now_ms=0)
        for number, operator in enumerate(operators):
            self.driver.add_operator(operator, f"Op{number}", f"uid-{number}", number - 1)
        last = len(operators) - 1
        self.driver.add_edge(last, None, "forward", 1)
        for side in sides:
            self.driver.add_edge(last, side, "forward", 1)
        self._elements: list[tuple[int, Any]] = []
        self.driver.open(state)

    def rows(self, values: Sequence[Any], timestamps: Sequence[int] | None = None) -> Chain:
        """Feeds a batch of Python objects."""
        return self.batch(Batch.from_rows(values, timestamps))

    def columns(self, data: Any, timestamps: Sequence[int] | None = None) -> Chain:
        """Feeds a batch of columns: a RecordBatch, or a dict to make one of."""
        arrow = data if isinstance(data, pa.RecordBatch) else pa.record_batch(data)
        return self.batch(Batch.from_arrow(arrow).with_timestamps(timestamps))

    def batch(self, batch: Batch) -> Chain:
        self.driver.feed(0, ("batch", batch))
        return self

    def watermark(self, timestamp: int) -> Chain:
        self.driver.feed(0, ("watermark", timestamp))
        return self

    def end(self) -> Chain:
        self.driver.feed(0, ("end",))
        return self

    @property
    def elements(self) -> list[tuple[int, Any]]:
        """(edge, element) of all that was sent so far."""
        sent = self.driver.take_output()
        self._elements += [(edge, element) for edge, _, element in sent]
        return self._elements

    def batches(self, edge: int = 0) -> list[Batch]:
        return [e[1] for number, e in self.elements if number == edge and e[0] == "batch"]

    def values(self, edge: int = 0) -> list[Any]:
        """All elements, as rows."""
        return [row for batch in self.batches(edge) for row in batch.to_rows()]

    def timestamps(self, edge: int = 0) -> list[int]:
        return [time for batch in self.batches(edge) for time in batch.timestamps or ()]

    def watermarks(self) -> list[int]:
        return [element[1] for _, element in self.elements if element[0] == "watermark"]


@pytest.fixture
def chain() -> Iterator[Callable[..., Chain]]:
    """Makes chains; they are closed when the test ends."""
    chains: list[Chain] = []

    def make(*operators: Operator, **options: Any) -> Chain:
        chains.append(Chain(operators, **options))
        return chains[-1]

    yield make
    for made in chains:
        made.driver.close()


@pytest.fixture(autouse=True)
def runtime_context() -> None:
    """Functions are opened with a plain RuntimeContext."""
    set_runtime_context_factory(RuntimeContext)


@pytest.fixture
def numbers() -> pa.RecordBatch:
    """1, None, 3 as a stream of bare ints in a column."""
    field = pa.field("value", pa.int64(), metadata=SCALAR)
    return pa.record_batch([pa.array([1, None, 3])], schema=pa.schema([field]))
