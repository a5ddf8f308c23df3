"""State as functions see it: mostly one value, list, map or aggregate per key.

The key is that of the element, or of the timer, that is being processed. What is read is a copy: changing it changes
nothing until it is written back. The classes say what each kind of state can do; the engine's own types are registered
as their subclasses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

__all__ = [
    "AggregatingState",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "MapState",
    "MergingState",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "State",
    "ValueState",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class State(ABC):
    """Base of all kinds of state."""

    @abstractmethod
    def clear(self) -> None:
        """Removes what the current key has."""


class ValueState(State, Generic[T]):
    """One value per key."""

    @abstractmethod
    def value(self) -> T | None:
        """The value of the current key; None when it has none."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Replaces the value; None removes it."""


class AppendingState(State, Generic[IN, OUT]):
    """State that elements are added to."""

    @abstractmethod
    def get(self) -> OUT | None:
        """What has been made of the elements added."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Adds an element."""


class MergingState(AppendingState[IN, OUT]):
    """AppendingState of which two can be made one."""


class ReducingState(MergingState[T, T]):
    """What a reduce function makes of the elements added; None when there are none."""


class AggregatingState(MergingState[IN, OUT]):
    """What an AggregateFunction makes of the elements added; None when there are none."""


class ListState(MergingState[T, list[T]]):
    """A list per key; ``get`` returns an empty one when the key has none."""

    @abstractmethod
    def get(self) -> list[T]:
        """The elements, in the order they were added."""

    @abstractmethod
    def update(self, values: Iterable[T]) -> None:
        """Replaces all elements."""

    @abstractmethod
    def add_all(self, values: Iterable[T]) -> None:
        """Adds elements at the end."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class _ReadableMap(State, Generic[K, V]):
    """Reading a map, by Flink's methods and by Python's operators."""

    @abstractmethod
    def get(self, key: K) -> V | None:
        """The value of ``key``; None when there is none."""

    @abstractmethod
    def contains(self, key: K) -> bool: ...

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]: ...

    @abstractmethod
    def keys(self) -> Iterable[K]: ...

    @abstractmethod
    def values(self) -> Iterable[V]: ...

    @abstractmethod
    def is_empty(self) -> bool: ...

    def __getitem__(self, key: K) -> V:
        if not self.contains(key):
            raise KeyError(key)
        return self.get(key)  # type: ignore[return-value]  # it is there

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())

    def __len__(self) -> int:
        return sum(1 for _ in self.keys())


class _WritableMap(_ReadableMap[K, V]):
    """Changing one."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Sets the value of ``key``."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Sets several values."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Removes ``key`` if it is there."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        if not self.contains(key):
            raise KeyError(key)
        self.remove(key)


class MapState(_WritableMap[K, V]):
    """A map per key, with the methods of Flink's and the operators of Python's.

    ``state[key]`` and ``del state[key]`` raise KeyError where ``get`` returns None and ``remove`` does nothing.
    """


class ReadOnlyBroadcastState(_ReadableMap[K, V]):
    """A map that belongs to no key and is the same in all parallel instances; it cannot be changed here."""


class BroadcastState(_WritableMap[K, V], ReadOnlyBroadcastState[K, V]):
    """A map that belongs to no key and is the same in all parallel instances: each has to fill it alike."""
