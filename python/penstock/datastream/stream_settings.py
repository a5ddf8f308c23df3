"""Settings that every operator has, on the stream or sink that stands for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from penstock.common.missing_names import SaysWhatIsMissing
from penstock.graph.transformation import Transformation

if TYPE_CHECKING:
    from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["StreamSettings", "check_parallelism"]


def check_parallelism(parallelism: int, what: str = "parallelism") -> int:
    """``parallelism`` itself; an error unless it is an integer from 1 to 32768, Flink's upper bound."""
    if isinstance(parallelism, bool) or not isinstance(parallelism, int):
        raise TypeError(f"{what} must be an int, not {parallelism!r}")
    if not 1 <= parallelism <= 1 << 15:
        raise ValueError(f"{what} must be between 1 and 32768, but is {parallelism}")
    return parallelism


class StreamSettings(SaysWhatIsMissing):
    """Base of DataStream and DataStreamSink."""

    _missing = {"set_uid_hash": "use uid()", "slot_sharing_group": ""}

    def __init__(
        self, environment: StreamExecutionEnvironment, transformation: Transformation
    ) -> None:
        self._environment = environment
        self._transformation = transformation

    def name(self, name: str) -> Self:
        """Names the operator, for plans, logs and errors."""
        if not isinstance(name, str):
            raise TypeError(f"an operator's name is a str, not {name!r}")
        self._operator("name").name = name
        return self

    def uid(self, uid: str) -> Self:
        """The operator's id in checkpoints: keep it when the program changes, and its state is found again."""
        if not uid or not isinstance(uid, str):
            raise TypeError(f"a uid is a text that is not empty, not {uid!r}")
        self._operator("uid").uid = uid
        return self

    def set_description(self, description: str) -> Self:
        """A longer text for the execution plan."""
        self._operator("set_description").description = description
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        """The number of subtasks of this operator."""
        operator = self._operator("set_parallelism")
        check_parallelism(parallelism)
        if operator.non_parallel and parallelism != 1:
            raise ValueError(
                f"{operator.name!r} is not parallel: its parallelism must be 1, not {parallelism}"
            )
        maximum = operator.max_parallelism
        if maximum is not None and parallelism > maximum:
            raise ValueError(f"parallelism {parallelism} is greater than max parallelism {maximum}")
        operator.parallelism = parallelism
        return self

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """The number of key groups, an upper bound of the parallelism that cannot change later."""
        operator = self._operator("set_max_parallelism")
        check_parallelism(max_parallelism, "max parallelism")
        if operator.parallelism is not None and operator.parallelism > max_parallelism:
            raise ValueError(
                f"max parallelism {max_parallelism} is less than parallelism {operator.parallelism}"
            )
        operator.max_parallelism = max_parallelism
        return self

    def disable_chaining(self) -> Self:
        """The operator gets tasks of its own."""
        self._operator("disable_chaining").chaining = "never"
        return self

    def _operator(self, method: str) -> Transformation:
        if self._transformation.is_virtual:
            raise ValueError(
                f"{method}() belongs to an operator, and {self._transformation.name} is none; "
                "call it on the operator before or behind"
            )
        return self._transformation
