"""ScriptedSource: a source that emits exactly what a test wrote down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from penstock.connectors.base import Source
from penstock.graph.specs import ScriptedSourceSpec

__all__ = ["ScriptedSource"]


@dataclass(frozen=True)
class ScriptedSource(Source):
    """Elements, watermarks and idleness in the order written; each method gives a new script with one more item.

    It is played once, by the first subtask of the source, one batch per item.

    >>> from penstock import StreamExecutionEnvironment, WatermarkStrategy
    >>> script = ScriptedSource().elements(["a", "b"], [1, 2]).watermark(2).element("late", 0)
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> stream = env.from_source(script, WatermarkStrategy.no_watermarks(), "script")
    >>> sorted(stream.execute_and_collect())
    ['a', 'b', 'late']
    """

    script: tuple[tuple[Any, ...], ...] = ()

    def element(self, value: Any, timestamp: int | None = None) -> Self:
        """One element."""
        return self.elements([value], None if timestamp is None else [timestamp])

    def elements(self, values: Iterable[Any], timestamps: Iterable[int] | None = None) -> Self:
        """Elements in one batch; each has a timestamp, or none has."""
        times = None if timestamps is None else list(timestamps)
        return self._with("rows", list(values), times)

    def watermark(self, timestamp: int) -> Self:
        """A watermark; the end of the script is followed by the greatest one."""
        return self._with("watermark", timestamp)

    def idle(self) -> Self:
        """From here on the source does not hold event time back."""
        return self._with("idle")

    def active(self) -> Self:
        """From here on it does again."""
        return self._with("active")

    def spec(self) -> ScriptedSourceSpec:
        return ScriptedSourceSpec(self.script)

    def schema(self) -> Any:
        return None

    def _with(self, *item: Any) -> Self:
        return replace(self, script=(*self.script, item))
