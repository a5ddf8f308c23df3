"""What a source and a sink are to the API: something that knows its spec."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from penstock.graph.specs import OperatorSpec, SourceSpec

__all__ = ["Sink", "Source"]


class Source(ABC):
    """Goes to ``StreamExecutionEnvironment.from_source``."""

    @abstractmethod
    def spec(self) -> SourceSpec:
        """What the runtime reads from."""

    @abstractmethod
    def schema(self) -> Any:
        """The columns (pyarrow.Schema) it emits; None: it emits Python objects."""


class Sink(ABC):
    """Goes to ``DataStream.sink_to``."""

    @abstractmethod
    def spec(self) -> OperatorSpec:
        """What the runtime writes to."""

    def needs_columns(self) -> bool:
        """Whether it takes Arrow batches rather than Python objects."""
        return False
