"""Settings of checkpoints, kept in the environment's configuration under Flink's keys."""

from __future__ import annotations

from enum import Enum

from penstock.common.configuration import Configuration
from penstock.common.time import Duration, to_milliseconds

__all__ = ["CheckpointConfig", "CheckpointingMode"]

_INTERVAL = "execution.checkpointing.interval"
_DIRECTORY = "execution.checkpointing.dir"
_RETAINED = "execution.checkpointing.num-retained"
_MODE = "execution.checkpointing.mode"


class CheckpointingMode(Enum):
    """What state is worth after a failure."""

    EXACTLY_ONCE = "EXACTLY_ONCE"
    AT_LEAST_ONCE = "AT_LEAST_ONCE"


class CheckpointConfig:
    """How checkpoints are taken and where they go.

    >>> config = CheckpointConfig(Configuration())
    >>> config.set_checkpoint_interval(1000).set_checkpoint_storage_dir("file:///tmp/x").is_checkpointing_enabled()
    True
    """

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def is_checkpointing_enabled(self) -> bool:
        return self.get_checkpoint_interval() > 0

    def get_checkpoint_interval(self) -> int:
        """Milliseconds between two checkpoints; -1: there are none."""
        return self._configuration.get_duration_ms(_INTERVAL, -1)

    def set_checkpoint_interval(self, checkpoint_interval: int | Duration) -> CheckpointConfig:
        interval = to_milliseconds(checkpoint_interval, "checkpoint interval")
        if interval <= 0:
            raise ValueError(f"the checkpoint interval must be positive, but is {interval} ms")
        self._configuration.set_integer(_INTERVAL, interval)
        return self

    def get_checkpoint_storage_dir(self) -> str | None:
        """The directory, or None."""
        found = self._configuration.get(_DIRECTORY)
        return None if found is None else str(found)

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        self._configuration.set_string(_DIRECTORY, str(checkpoint_path))
        return self

    def get_num_retained_checkpoints(self) -> int:
        """How many complete checkpoints are kept."""
        return self._configuration.get_integer(_RETAINED, 1)

    def set_num_retained_checkpoints(self, number: int) -> CheckpointConfig:
        if number < 1:
            raise ValueError(f"at least one checkpoint is retained, not {number}")
        self._configuration.set_integer(_RETAINED, number)
        return self

    def get_checkpointing_mode(self) -> CheckpointingMode:
        found = self._configuration.get_string(_MODE, CheckpointingMode.EXACTLY_ONCE.value)
        if found not in CheckpointingMode.__members__:
            modes = ", ".join(CheckpointingMode.__members__)
            raise ValueError(f"{_MODE} must be one of {modes}, but is {found!r}")
        return CheckpointingMode(found)

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        if not isinstance(checkpointing_mode, CheckpointingMode):
            raise TypeError(f"a CheckpointingMode is needed, not {checkpointing_mode!r}")
        if checkpointing_mode is not CheckpointingMode.EXACTLY_ONCE:
            raise NotImplementedError("only EXACTLY_ONCE checkpoints can be taken yet")
        self._configuration.set_string(_MODE, checkpointing_mode.value)
        return self
