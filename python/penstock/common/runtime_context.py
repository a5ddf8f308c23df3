"""RuntimeContext: what a function can ask about the subtask it runs in."""

from __future__ import annotations

from penstock.common.missing_names import SaysWhatIsMissing

__all__ = ["RuntimeContext"]


class RuntimeContext(SaysWhatIsMissing):
    """What a function can ask about the subtask it runs in."""

    _missing = {
        **dict.fromkeys(
            [
                "get_aggregating_state",
                "get_list_state",
                "get_map_state",
                "get_reducing_state",
                "get_state",
            ],
            "only windows keep state so far",
        ),
        "get_metrics_group": "",
    }

    def __init__(
        self,
        task_name: str = "",
        index_of_this_subtask: int = 0,
        number_of_parallel_subtasks: int = 1,
        max_number_of_parallel_subtasks: int = 128,
        attempt_number: int = 0,
        job_parameters: dict[str, str] | None = None,
    ) -> None:
        self._task_name = task_name
        self._index_of_this_subtask = index_of_this_subtask
        self._number_of_parallel_subtasks = number_of_parallel_subtasks
        self._max_number_of_parallel_subtasks = max_number_of_parallel_subtasks
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
