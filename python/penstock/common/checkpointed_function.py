"""CheckpointedFunction: a function with state that belongs to no key, but to each parallel instance of its operator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from penstock.common.state import BroadcastState, ListState
from penstock.common.state_descriptors import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateDescriptor,
)
from penstock.common.typeinfo import ListTypeInfo, MapTypeInfo

__all__ = [
    "CheckpointedFunction",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "OperatorStateStore",
]


class OperatorStateStore:
    """Where a CheckpointedFunction gets its state, by name; the names are the operator's own."""

    def __init__(self, store: Any) -> None:
        self._store = store  # of the core

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list that is dealt out anew, element by element, when the parallelism changes."""
        return self._list_state("get_list_state()", state_descriptor, is_union=False)

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list that, after a restore, every instance has the elements of all instances of."""
        return self._list_state("get_union_list_state()", state_descriptor, is_union=True)

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """A map that every instance fills alike; after a restore a new instance has what the others have."""
        _check(state_descriptor, MapStateDescriptor, "get_broadcast_state()")
        types = state_descriptor.type_info
        assert isinstance(types, MapTypeInfo)
        handle = self._store.broadcast_state(
            state_descriptor.name, repr(types.key_type), repr(types.value_type)
        )
        return _BroadcastState(handle)

    def _list_state(self, method: str, descriptor: Any, *, is_union: bool) -> ListState[Any]:
        _check(descriptor, ListStateDescriptor, method)
        types = descriptor.type_info
        assert isinstance(types, ListTypeInfo)
        found: ListState[Any] = self._store.list_state(
            descriptor.name, repr(types.element_type), is_union
        )
        return found


class FunctionInitializationContext:
    """What a function gets when it starts, before ``open``."""

    def __init__(self, store: Any) -> None:
        self._store = store  # of the core

    def is_restored(self) -> bool:
        """Whether the job goes on from a checkpoint or a savepoint."""
        return bool(self._store.is_restored)

    def get_operator_state_store(self) -> OperatorStateStore:
        return OperatorStateStore(self._store)


class FunctionSnapshotContext:
    """What a function gets when a checkpoint is taken."""

    def __init__(self, checkpoint_id: int) -> None:
        self._checkpoint_id = checkpoint_id

    def get_checkpoint_id(self) -> int:
        return self._checkpoint_id


class CheckpointedFunction(ABC):
    """What a function is, besides MapFunction, SinkFunction or any other, to have state without a key.

    >>> from penstock.datastream import MapFunction
    >>> from penstock.datastream.state import ListStateDescriptor
    >>> class Number(MapFunction, CheckpointedFunction):
    ...     def initialize_state(self, context):
    ...         store = context.get_operator_state_store()
    ...         self.state = store.get_list_state(ListStateDescriptor("next"))
    ...         self.next = sum(self.state.get())
    ...     def snapshot_state(self, context):
    ...         self.state.update([self.next])
    ...     def map(self, value):
    ...         self.next += 1
    ...         return self.next, value
    >>> from penstock.testing import OneInputStreamOperatorTestHarness
    >>> with OneInputStreamOperatorTestHarness(lambda words: words.map(Number())) as harness:
    ...     harness.process_elements(["to", "be"])
    ...     snapshot = harness.snapshot()
    >>> restored = OneInputStreamOperatorTestHarness(lambda words: words.map(Number()))
    >>> restored.initialize_state(snapshot)
    >>> with restored:
    ...     restored.process_element("or")
    ...     restored.extract_output_values()
    [(3, 'or')]
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Gets the state; runs once per instance, before ``open``."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Brings the state up to date; runs for every checkpoint, between two elements."""

    # What the core calls.

    def _initialize_state(self, store: Any) -> None:
        self.initialize_state(FunctionInitializationContext(store))

    def _snapshot_state(self, checkpoint_id: int) -> None:
        self.snapshot_state(FunctionSnapshotContext(checkpoint_id))


class _BroadcastState(BroadcastState[Any, Any]):
    """A map of the core."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def get(self, key: Any) -> Any:
        return self._handle.get(key)

    def contains(self, key: Any) -> bool:
        return bool(self._handle.contains(key))

    def items(self) -> Iterable[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = self._handle.items()
        return found

    def keys(self) -> Iterable[Any]:
        found: list[Any] = self._handle.keys()
        return found

    def values(self) -> Iterable[Any]:
        return [value for _, value in self.items()]

    def is_empty(self) -> bool:
        return bool(self._handle.is_empty())

    def put(self, key: Any, value: Any) -> None:
        self._handle.put(key, value)

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        for key, value in dict_value.items():
            self._handle.put(key, value)

    def remove(self, key: Any) -> None:
        self._handle.remove(key)

    def clear(self) -> None:
        self._handle.clear()


def _check(descriptor: Any, kind: type[StateDescriptor], method: str) -> None:
    if not isinstance(descriptor, kind):
        raise TypeError(f"{method} takes a {kind.__name__}, not {descriptor!r}")
