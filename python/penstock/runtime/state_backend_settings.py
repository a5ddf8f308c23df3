"""What a job's configuration says about the state backend.

=========================================  ======================================================================
key (Flink's, but for the last)            meaning
=========================================  ======================================================================
state.backend.type                         hashmap (in memory, the default) or rocksdb
state.backend.rocksdb.*                    settings of RocksDB: memory, files, threads, filters
state.latency-track.*                      how long accesses to state take, as metrics
taskmanager.memory.managed.size            memory of RocksDB, of all subtasks together
execution.checkpointing.incremental        checkpoints of RocksDB ship only what has changed
penstock.state.write-back-tier             memory of the hot entries in front of RocksDB
=========================================  ======================================================================

Values go to the core as texts, under their keys; the core says what is wrong with one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from penstock.common.configuration import Configuration

__all__ = [
    "INCREMENTAL",
    "LOCAL_DIRECTORIES",
    "PREDEFINED_OPTIONS",
    "TRANSFER_THREADS",
    "TYPE",
    "StateBackendSettings",
    "local_directories",
]

TYPE = "state.backend.type"
INCREMENTAL = "execution.checkpointing.incremental"
LOCAL_DIRECTORIES = "state.backend.rocksdb.localdir"
PREDEFINED_OPTIONS = "state.backend.rocksdb.predefined-options"
TRANSFER_THREADS = "state.backend.rocksdb.checkpoint.transfer.thread.num"

_KINDS = ("hashmap", "rocksdb")
_OPTION_SETS = (
    "DEFAULT",
    "SPINNING_DISK_OPTIMIZED",
    "SPINNING_DISK_OPTIMIZED_HIGH_MEM",
    "FLASH_SSD_OPTIMIZED",
)
_SINGLE_KEYS = (INCREMENTAL, "taskmanager.memory.managed.size")
_PREFIXES = ("state.backend.rocksdb.", "state.latency-track.", "penstock.state.")


@dataclass(frozen=True)
class StateBackendSettings:
    """The backend of one job: its kind, and its options as texts.

    >>> StateBackendSettings.of(Configuration({"state.backend.type": "rocksdb"})).kind
    'rocksdb'
    """

    kind: str = "hashmap"
    options: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def of(configuration: Configuration) -> StateBackendSettings:
        """The settings in ``configuration``, checked."""
        kind = configuration.get_string(TYPE, "hashmap")
        if kind not in _KINDS:
            raise ValueError(f"{TYPE} must be hashmap or rocksdb, but is {kind!r}")
        option_set = configuration.get_string(PREDEFINED_OPTIONS, "DEFAULT")
        if option_set not in _OPTION_SETS:
            raise ValueError(
                f"{PREDEFINED_OPTIONS} must be one of {', '.join(_OPTION_SETS)}, but is {option_set!r}"
            )
        options = {
            key: _text(configuration.get(key))
            for key in sorted(configuration.key_set())
            if key.startswith(_PREFIXES) or key in _SINGLE_KEYS
        }
        return StateBackendSettings(kind, options)


def local_directories(configuration: Configuration) -> list[str]:
    """The directories of RocksDB: a list, or a text of several between commas."""
    value = configuration.get(LOCAL_DIRECTORIES)
    if value is None:
        return []
    parts: Iterable[Any] = re.split(rf"[,{os.pathsep}]", value) if isinstance(value, str) else value
    return [part for part in (os.fspath(part).strip() for part in parts) if part]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
