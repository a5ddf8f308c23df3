"""State backends: where keyed state lives while a job runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import Any

from penstock.common.configuration import Configuration
from penstock.runtime.state_backend_settings import (
    INCREMENTAL,
    LOCAL_DIRECTORIES,
    PREDEFINED_OPTIONS,
    TRANSFER_THREADS,
    TYPE,
    StateBackendSettings,
    local_directories,
)

__all__ = [
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "PredefinedOptions",
    "StateBackend",
    "backend_of",
]


class StateBackend(ABC):
    """Where keyed state lives: one of the two below, for ``env.set_state_backend``."""

    @abstractmethod
    def _settings(self) -> Mapping[str, Any]:
        """What it says, under the keys of the configuration."""


class HashMapStateBackend(StateBackend):
    """State in memory: the fastest, as long as it fits. It is what a job has that says nothing.

    >>> from penstock import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.set_state_backend(HashMapStateBackend()).get_state_backend()
    HashMapStateBackend()
    """

    def _settings(self) -> Mapping[str, Any]:
        return {TYPE: "hashmap"}

    def __repr__(self) -> str:
        return "HashMapStateBackend()"


class PredefinedOptions(Enum):
    """Settings of RocksDB that suit a kind of machine; Flink's, by the same names."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """State in RocksDB, on local disks: for more of it than fits into memory.

    All further settings are in the configuration, under ``state.backend.rocksdb.*``. What is set here counts from
    ``env.set_state_backend`` on.

    >>> backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    >>> backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    >>> backend
    EmbeddedRocksDBStateBackend(FLASH_SSD_OPTIMIZED, incremental)
    """

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        if enable_incremental_checkpointing not in (None, True, False):
            raise TypeError(
                f"enable_incremental_checkpointing is True, False or None, not {enable_incremental_checkpointing!r}"
            )
        self._incremental = enable_incremental_checkpointing
        self._paths: tuple[str, ...] = ()
        self._predefined: PredefinedOptions | None = None
        self._transfer_threads: int | None = None

    def set_db_storage_paths(self, *paths: str) -> None:
        """The directories of the databases, for the duration of a run; without any, that of temporary files."""
        given: tuple[Any, ...] = paths
        for path in given:
            if not isinstance(path, str) or not path:
                raise TypeError(f"a storage path is a str that is not empty, not {path!r}")
        self._paths = paths

    def get_db_storage_paths(self) -> list[str] | None:
        """What was set; None: nothing."""
        return list(self._paths) or None

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Whether a checkpoint brings to the storage only what has changed."""
        return bool(self._incremental)

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Settings of RocksDB for a kind of machine; single settings of the configuration go before them."""
        if not isinstance(options, PredefinedOptions):
            raise TypeError(f"a member of PredefinedOptions is needed, not {options!r}")
        self._predefined = options

    def get_predefined_options(self) -> PredefinedOptions:
        return self._predefined or PredefinedOptions.DEFAULT

    def set_options(self, options_factory_class_name: str) -> None:
        """Not there: it names a Java class."""
        raise NotImplementedError(
            "set_options() takes the name of a Java class; set state.backend.rocksdb.* in the configuration"
        )

    def get_options(self) -> str | None:
        """The Java class of ``set_options``: none."""
        return None

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """PyFlink's; kept, and without effect: files are shipped by the threads that write the job's checkpoints."""
        number = number_of_transfering_threads
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"a number of threads is an int, not {number!r}")
        if number < 1:
            raise ValueError(f"at least one thread is needed, not {number}")
        self._transfer_threads = number

    def get_number_of_transfer_threads(self) -> int:
        return self._transfer_threads or 4

    def _settings(self) -> Mapping[str, Any]:
        found = {
            TYPE: "rocksdb",
            INCREMENTAL: self._incremental,
            LOCAL_DIRECTORIES: ",".join(self._paths) or None,
            PREDEFINED_OPTIONS: None if self._predefined is None else self._predefined.name,
            TRANSFER_THREADS: self._transfer_threads,
        }
        return {key: value for key, value in found.items() if value is not None}

    def __repr__(self) -> str:
        incremental = ", incremental" if self._incremental else ""
        return f"EmbeddedRocksDBStateBackend({self.get_predefined_options().name}{incremental})"


def backend_of(configuration: Configuration) -> StateBackend:
    """The backend that a configuration asks for."""
    if StateBackendSettings.of(configuration).kind == "hashmap":
        return HashMapStateBackend()
    incremental = configuration.contains_key(INCREMENTAL)
    backend = EmbeddedRocksDBStateBackend(
        configuration.get_boolean(INCREMENTAL, False) if incremental else None
    )
    backend.set_db_storage_paths(*local_directories(configuration))
    if configuration.contains_key(PREDEFINED_OPTIONS):
        name = configuration.get_string(PREDEFINED_OPTIONS, "")
        backend.set_predefined_options(PredefinedOptions[name])
    if configuration.contains_key(TRANSFER_THREADS):
        backend.set_number_of_transfer_threads(configuration.get_integer(TRANSFER_THREADS, 4))
    return backend
