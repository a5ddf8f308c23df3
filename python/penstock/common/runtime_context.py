"""RuntimeContext: what a function can ask about the subtask it runs in."""

from __future__ import annotations

from typing import Any

from penstock.common.missing_names import SaysWhatIsMissing
from penstock.common.state import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.common.state_descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)

__all__ = ["RuntimeContext"]


class RuntimeContext(SaysWhatIsMissing):
    """What a function can ask about the subtask it runs in, and where it gets its state.

    ``keyed_state_store`` is of the core; None where there is no keyed stream, and so no keyed state.
    """

    _missing = {"get_metrics_group": ""}

    def __init__(
        self,
        task_name: str = "",
        index_of_this_subtask: int = 0,
        number_of_parallel_subtasks: int = 1,
        max_number_of_parallel_subtasks: int = 128,
        keyed_state_store: Any = None,
        attempt_number: int = 0,
        job_parameters: dict[str, str] | None = None,
    ) -> None:
        self._task_name = task_name
        self._index_of_this_subtask = index_of_this_subtask
        self._number_of_parallel_subtasks = number_of_parallel_subtasks
        self._max_number_of_parallel_subtasks = max_number_of_parallel_subtasks
        self._keyed_state_store = keyed_state_store
        self._attempt_number = attempt_number
        self._job_parameters = job_parameters or {}

    def get_task_name(self) -> str:
        return self._task_name

    def get_number_of_parallel_subtasks(self) -> int:
        return self._number_of_parallel_subtasks

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._max_number_of_parallel_subtasks

    def get_index_of_this_subtask(self) -> int:
        """From 0."""
        return self._index_of_this_subtask

    def get_attempt_number(self) -> int:
        """0 for the first attempt."""
        return self._attempt_number

    def get_task_name_with_subtasks(self) -> str:
        """``name (1/4)``."""
        position = f"{self._index_of_this_subtask + 1}/{self._number_of_parallel_subtasks}"
        return f"{self._task_name} ({position})"

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._job_parameters.get(key, default_value)

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        """The state of one value per key that goes by this name in this operator."""
        found: ValueState[Any] = self._state("get_state", ValueStateDescriptor, state_descriptor)
        return found

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        found: ListState[Any] = self._state("get_list_state", ListStateDescriptor, state_descriptor)
        return found

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        found: MapState[Any, Any] = self._state(
            "get_map_state", MapStateDescriptor, state_descriptor
        )
        return found

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        found: ReducingState[Any] = self._state(
            "get_reducing_state", ReducingStateDescriptor, state_descriptor
        )
        return found

    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor
    ) -> AggregatingState[Any, Any]:
        found: AggregatingState[Any, Any] = self._state(
            "get_aggregating_state", AggregatingStateDescriptor, state_descriptor
        )
        return found

    def _state(self, method: str, kind: type[StateDescriptor], descriptor: Any) -> Any:
        if not isinstance(descriptor, kind):
            hint = ""
            if isinstance(descriptor, StateDescriptor):
                hint = f"; {descriptor._getter}() takes that"
            raise TypeError(f"{method}() takes a {kind.__name__}, not {descriptor!r}{hint}")
        if self._keyed_state_store is None:
            raise RuntimeError(
                f"{method}({descriptor.name!r}): {self._task_name!r} has no keyed state, because its stream is not keyed; "
                "use key_by(...).process(KeyedProcessFunction)"
            )
        return descriptor._open(self._keyed_state_store)
