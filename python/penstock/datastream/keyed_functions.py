"""map, filter and flat_map over a keyed stream: as process functions, so that they have state per key.

Only Function objects: a plain callable has no ``open`` and so no way to ask for state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    MapFunction,
    RuntimeContext,
)

__all__ = ["KeyedFilter", "KeyedFlatMap", "KeyedMap"]


# What the core calls of a CheckpointedFunction.
_CHECKPOINTING = ("_initialize_state", "_snapshot_state")


class _Adapter(KeyedProcessFunction):
    """Opens and closes the function it stands for, and is a CheckpointedFunction where that is one."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def __getattr__(self, name: str) -> Any:
        if name not in _CHECKPOINTING:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._function, name)

    def open(self, runtime_context: RuntimeContext) -> None:
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()


class KeyedMap(_Adapter):
    """A MapFunction."""

    _function: MapFunction

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        return (self._function.map(value),)


class KeyedFilter(_Adapter):
    """A FilterFunction."""

    _function: FilterFunction

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        return (value,) if self._function.filter(value) else ()


class KeyedFlatMap(_Adapter):
    """A FlatMapFunction."""

    _function: FlatMapFunction

    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None:
        return self._function.flat_map(value)
