"""Factories of sources: one call makes the instance of one subtask."""

from collections.abc import Sequence
from typing import Any

class Source:
    """A source of one subtask, not yet part of a task."""

class ArrowTable:
    """Arrow data in memory, shared by the sources of all subtasks."""

    def __init__(self, obj: Any) -> None: ...
    @property
    def num_rows(self) -> int: ...

class ObjectTable:
    """Python objects in memory, shared by the sources of all subtasks."""

    def __init__(self, items: Sequence[Any]) -> None: ...
    @property
    def num_rows(self) -> int: ...

def arrow(table: ArrowTable, batch_rows: int) -> Source: ...
def collection(table: ObjectTable, batch_rows: int) -> Source: ...
def generator(
    columns: Sequence[tuple[str, str, dict[str, Any]]],
    count: int | None,
    seed: int,
    rate: float | None,
    batch_rows: int,
) -> Source: ...
def scripted(script: Sequence[tuple[Any, ...]]) -> Source:
    """Items: ("batch", Batch), ("rows", [objects], [timestamps] | None), ("watermark", ms), ("idle",), ("active",)."""
