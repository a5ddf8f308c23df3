"""StateTtlConfig: how long state lives after it was last touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from penstock.common.time import Duration, Time, to_milliseconds

__all__ = ["StateTtlConfig"]

_THIRTY_DAYS = Duration.of_days(30)


class _UpdateType(Enum):
    """What begins the time to live anew."""

    Disabled = 0
    OnCreateAndWrite = 1
    OnReadAndWrite = 2


class _StateVisibility(Enum):
    """Whether what has expired is still seen until it is cleaned up."""

    ReturnExpiredIfNotCleanedUp = 0
    NeverReturnExpired = 1


class _TtlTimeCharacteristic(Enum):
    """Which clock the time to live goes by."""

    ProcessingTime = 0


class _Strategies(Enum):
    """Where expired state is removed, besides when it is read."""

    FULL_STATE_SCAN_SNAPSHOT = 0
    INCREMENTAL_CLEANUP = 1
    ROCKSDB_COMPACTION_FILTER = 2


class _CleanupStrategy:
    """Base of the settings of a strategy."""


@dataclass(frozen=True)
class _EmptyCleanupStrategy(_CleanupStrategy):
    """A strategy without settings."""


@dataclass(frozen=True)
class _IncrementalCleanupStrategy(_CleanupStrategy):
    """So many entries are looked at whenever state is touched."""

    cleanup_size: int
    for_every_record: bool

    def get_cleanup_size(self) -> int:
        return self.cleanup_size

    def run_cleanup_for_every_record(self) -> bool:
        return self.for_every_record


@dataclass(frozen=True)
class _RocksdbCompactFilterCleanupStrategy(_CleanupStrategy):
    """RocksDB's compaction drops what has expired; it asks for the time after so many entries."""

    query_time_after_num_entries: int

    def get_query_time_after_num_entries(self) -> int:
        return self.query_time_after_num_entries

    def get_periodic_compaction_time(self) -> Duration:
        """Files older than this are compacted; RocksDB's own rule, and always 30 days."""
        return _THIRTY_DAYS


@dataclass(frozen=True)
class _CleanupStrategies:
    """Where expired state is removed, besides when it is read."""

    Strategies = _Strategies
    CleanupStrategy = _CleanupStrategy
    EmptyCleanupStrategy = _EmptyCleanupStrategy
    IncrementalCleanupStrategy = _IncrementalCleanupStrategy
    RocksdbCompactFilterCleanupStrategy = _RocksdbCompactFilterCleanupStrategy

    strategies: dict[_Strategies, _CleanupStrategy] = field(default_factory=dict)
    in_background: bool = True

    def is_cleanup_in_background(self) -> bool:
        """Whether the backend's own strategy is used where none is configured."""
        return self.in_background

    def in_full_snapshot(self) -> bool:
        return _Strategies.FULL_STATE_SCAN_SNAPSHOT in self.strategies

    def get_incremental_cleanup_strategy(self) -> _IncrementalCleanupStrategy | None:
        default = _IncrementalCleanupStrategy(5, False) if self.in_background else None
        found: Any = self.strategies.get(_Strategies.INCREMENTAL_CLEANUP, default)
        return found  # type: ignore[no-any-return]  # of that strategy

    def get_rocksdb_compact_filter_cleanup_strategy(
        self,
    ) -> _RocksdbCompactFilterCleanupStrategy | None:
        default = _RocksdbCompactFilterCleanupStrategy(1000) if self.in_background else None
        found: Any = self.strategies.get(_Strategies.ROCKSDB_COMPACTION_FILTER, default)
        return found  # type: ignore[no-any-return]  # of that strategy


class _Builder:
    """Builds a StateTtlConfig; every method returns the builder."""

    def __init__(self, ttl: Time | Duration) -> None:
        self._ttl = _checked_ttl(ttl)
        self._update_type = _UpdateType.OnCreateAndWrite
        self._state_visibility = _StateVisibility.NeverReturnExpired
        self._ttl_time_characteristic = _TtlTimeCharacteristic.ProcessingTime
        self._is_cleanup_in_background = True
        self._strategies: dict[_Strategies, _CleanupStrategy] = {}

    def set_update_type(self, update_type: _UpdateType) -> _Builder:
        """What begins the time to live anew: writes only, or reads as well."""
        self._update_type = _member(update_type, _UpdateType, "set_update_type()")
        return self

    def update_ttl_on_create_and_write(self) -> _Builder:
        return self.set_update_type(_UpdateType.OnCreateAndWrite)

    def update_ttl_on_read_and_write(self) -> _Builder:
        return self.set_update_type(_UpdateType.OnReadAndWrite)

    def set_state_visibility(self, state_visibility: _StateVisibility) -> _Builder:
        """Whether what has expired is still seen until it is cleaned up."""
        self._state_visibility = _member(
            state_visibility, _StateVisibility, "set_state_visibility()"
        )
        return self

    def return_expired_if_not_cleaned_up(self) -> _Builder:
        return self.set_state_visibility(_StateVisibility.ReturnExpiredIfNotCleanedUp)

    def never_return_expired(self) -> _Builder:
        return self.set_state_visibility(_StateVisibility.NeverReturnExpired)

    def set_ttl_time_characteristic(
        self, ttl_time_characteristic: _TtlTimeCharacteristic
    ) -> _Builder:
        """Which clock the time to live goes by; as in Flink there is one only."""
        self._ttl_time_characteristic = _member(
            ttl_time_characteristic, _TtlTimeCharacteristic, "set_ttl_time_characteristic()"
        )
        return self

    def use_processing_time(self) -> _Builder:
        return self.set_ttl_time_characteristic(_TtlTimeCharacteristic.ProcessingTime)

    def cleanup_full_snapshot(self) -> _Builder:
        """Expired state does not enter full snapshots."""
        self._strategies[_Strategies.FULL_STATE_SCAN_SNAPSHOT] = _EmptyCleanupStrategy()
        return self

    def cleanup_incrementally(
        self, cleanup_size: int, run_cleanup_for_every_record: bool
    ) -> _Builder:
        """Looks at some entries whenever state is touched, or for every record; hashmap backend only."""
        self._strategies[_Strategies.INCREMENTAL_CLEANUP] = _IncrementalCleanupStrategy(
            _at_least_1(cleanup_size, "cleanup_size"), bool(run_cleanup_for_every_record)
        )
        return self

    def cleanup_in_rocksdb_compact_filter(
        self,
        query_time_after_num_entries: int,
        periodic_compaction_time: Duration = _THIRTY_DAYS,
    ) -> _Builder:
        """RocksDB's compaction drops what has expired; it asks for the time after so many entries."""
        if to_milliseconds(periodic_compaction_time) != _THIRTY_DAYS.to_milliseconds():
            raise NotImplementedError(
                "periodic_compaction_time is 30 days and cannot be changed; leave it out"
            )
        number = _at_least_1(query_time_after_num_entries, "query_time_after_num_entries")
        self._strategies[_Strategies.ROCKSDB_COMPACTION_FILTER] = (
            _RocksdbCompactFilterCleanupStrategy(number)
        )
        return self

    def disable_cleanup_in_background(self) -> _Builder:
        """Only the strategies that were asked for; otherwise the backend has one of its own."""
        self._is_cleanup_in_background = False
        return self

    def set_ttl(self, ttl: Time | Duration) -> _Builder:
        self._ttl = _checked_ttl(ttl)
        return self

    def build(self) -> StateTtlConfig:
        return StateTtlConfig(
            self._update_type,
            self._state_visibility,
            self._ttl_time_characteristic,
            self._ttl,
            _CleanupStrategies(dict(self._strategies), self._is_cleanup_in_background),
        )


class StateTtlConfig:
    """How long state lives after it was last touched: a value, an element of a list, an entry of a map.

    >>> from penstock import Time
    >>> config = StateTtlConfig.new_builder(Time.hours(1)).update_ttl_on_read_and_write().build()
    >>> config
    StateTtlConfig(ttl=Time(3600000 ms), OnReadAndWrite, NeverReturnExpired)
    """

    UpdateType = _UpdateType
    StateVisibility = _StateVisibility
    TtlTimeCharacteristic = _TtlTimeCharacteristic
    CleanupStrategies = _CleanupStrategies
    Builder = _Builder

    def __init__(
        self,
        update_type: _UpdateType,
        state_visibility: _StateVisibility,
        ttl_time_characteristic: _TtlTimeCharacteristic,
        ttl: Time | Duration,
        cleanup_strategies: _CleanupStrategies,
    ) -> None:
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time | Duration) -> _Builder:
        """Begins with what Flink has by default: touched by writes, never seen when expired."""
        return _Builder(ttl)

    def get_update_type(self) -> _UpdateType:
        return self._update_type

    def get_state_visibility(self) -> _StateVisibility:
        return self._state_visibility

    def get_ttl(self) -> Time | Duration:
        return self._ttl

    def get_ttl_time_characteristic(self) -> _TtlTimeCharacteristic:
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        return self._update_type is not _UpdateType.Disabled

    def get_cleanup_strategies(self) -> _CleanupStrategies:
        return self._cleanup_strategies

    def _to_native(self) -> tuple[int, str, str, bool, int, bool, int] | None:
        """In the form that the core takes; None: state lives for ever."""
        if not self.is_enabled():
            return None
        incremental = self._cleanup_strategies.get_incremental_cleanup_strategy()
        compaction = self._cleanup_strategies.get_rocksdb_compact_filter_cleanup_strategy()
        return (
            self._ttl.to_milliseconds(),
            self._update_type.name,
            self._state_visibility.name,
            self._cleanup_strategies.in_full_snapshot(),
            0 if incremental is None else incremental.cleanup_size,
            False if incremental is None else incremental.for_every_record,
            -1 if compaction is None else compaction.query_time_after_num_entries,
        )

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig(ttl={self._ttl!r}, {self._update_type.name}, "
            f"{self._state_visibility.name})"
        )


def _checked_ttl(ttl: Any) -> Time | Duration:
    if not isinstance(ttl, (Time, Duration)):
        raise TypeError(f"a time to live is a Time or a Duration, not {ttl!r}")
    if ttl.to_milliseconds() <= 0:
        raise ValueError(f"a time to live must be positive, but is {ttl!r}")
    return ttl


def _member(value: Any, kind: Any, what: str) -> Any:
    if not isinstance(value, kind):
        names = ", ".join(kind.__members__)
        raise TypeError(
            f"{what} takes a member of StateTtlConfig.{kind.__name__.strip('_')} ({names}), not {value!r}"
        )
    return value


def _at_least_1(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {value!r}")
    if value < 1:
        raise ValueError(f"{what} must be at least 1, but is {value}")
    return value
