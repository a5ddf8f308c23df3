"""SavepointReader: what a checkpoint or savepoint holds, as tables."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.errors import CheckpointError
from penstock.runtime.snapshots import metadata_of, open_snapshot
from penstock.state.decoding import decode_entries, decode_item, split_ttl

__all__ = ["OperatorInfo", "SavepointReader", "StateInfo"]

_LISTS = frozenset({"operator list", "operator union list", "broadcast"})


@dataclass(frozen=True)
class OperatorInfo:
    """An operator of the job that the snapshot was taken of."""

    uid: str
    name: str
    parallelism: int
    max_parallelism: int


@dataclass(frozen=True)
class StateInfo:
    """A state, over all subtasks. ``entries`` counts what is stored: keys (with namespaces), user keys of maps, items."""

    uid: str
    name: str
    kind: str
    key_type: str
    namespace_type: str
    value_type: str
    has_ttl: bool
    backend: str
    entries: int
    bytes: int


class SavepointReader:
    """A checkpoint or savepoint: a ``chk-<n>`` or ``savepoint-...`` directory, or a URI of one.

    It is read whole and verified when it is opened; CheckpointError names what is damaged. State that RocksDB wrote in
    files of its own is read by RocksDB.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._reader = open_snapshot(self._path)

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The members of ``_metadata``, as docs/snapshot-format.md lists them."""
        return metadata_of(self._reader)

    def operators(self) -> list[OperatorInfo]:
        """The operators of the job, those without state too."""
        return [OperatorInfo(**one) for one in self.metadata["operators"]]

    def states(self, uid: str | None = None) -> list[StateInfo]:
        """The states of one operator, or of all."""
        if uid is not None and all(one.uid != uid for one in self.operators()):
            known = ", ".join(sorted(one.uid for one in self.operators()))
            raise KeyError(f"{self._path!r} has no operator with uid {uid!r}; it has {known}")
        return [state for state in self._states if uid in (None, state.uid)]

    def state(self, uid: str, name: str) -> StateInfo:
        """One state."""
        found = [state for state in self.states(uid) if state.name == name]
        if not found:
            known = ", ".join(sorted(state.name for state in self.states(uid))) or "none"
            raise KeyError(f"operator {uid!r} has no state {name!r}; it has {known}")
        return found[0]

    def read(self, uid: str, name: str) -> Any:
        """The state as a ``pyarrow.Table``.

        Keyed state has the columns ``key``, ``namespace`` and ``value``, maps also ``user_key``, state with a time to
        live also ``last_touched`` (milliseconds). Each element of a list and each entry of a map is a row. Other state
        has ``subtask`` (in the order of those that wrote some) and ``value``, broadcast state also ``user_key``. What
        Arrow has no type for is pickled.

        Objects of the job's own classes are unpickled, which runs their code: read only what you trust.
        """
        state = self.state(uid, name)
        try:
            return self._lists(state) if state.kind in _LISTS else self._keyed(state)
        except (AttributeError, ImportError) as error:
            raise CheckpointError(
                f"state {name!r} of operator {uid!r} has objects of a class that is not here: {error}; "
                "read it where the class can be imported under that name"
            ) from error

    def to_pandas(self, uid: str, name: str) -> Any:
        """The same as a pandas DataFrame."""
        return self.read(uid, name).to_pandas()

    def to_spark(self, uid: str, name: str, session: Any = None) -> Any:
        """The same as a Spark DataFrame, in ``session`` or the active one."""
        from pyspark.sql import SparkSession

        active = session or SparkSession.getActiveSession()
        if active is None:
            raise ValueError("there is no Spark session: give one, or make one before")
        return active.createDataFrame(self.read(uid, name))

    def __repr__(self) -> str:
        return f"<SavepointReader {self._path!r}: {len(self.operators())} operators>"

    @cached_property
    def _states(self) -> list[StateInfo]:
        out = []
        for info in self._reader.states():
            uid, name, _, kind, key, namespace, value, backend, entries, size = info
            value, has_ttl = split_ttl(value)
            out.append(
                StateInfo(uid, name, kind, key, namespace, value, has_ttl, backend, entries, size)
            )
        return out

    def _keyed(self, state: StateInfo) -> Any:
        value_type = f"TTL<{state.value_type}>" if state.has_ttl else state.value_type
        rows = decode_entries(
            state.kind,
            state.namespace_type,
            value_type,
            self._reader.entries(state.uid, state.name),
        )
        columns: list[list[Any]] = [[], [], [], [], []]
        for row in rows:
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        names = ["key", "namespace", "user_key", "value", "last_touched"]
        left_out = set()
        if state.kind != "map":
            left_out.add("user_key")
        if not state.has_ttl:
            left_out.add("last_touched")
        return _table({n: c for n, c in zip(names, columns, strict=True) if n not in left_out})

    def _lists(self, state: StateInfo) -> Any:
        subtasks: list[int] = []
        values = []
        for subtask, items in enumerate(self._reader.items(state.uid, state.name)):
            subtasks += [subtask] * len(items)
            values += [decode_item(state.kind, state.value_type, item) for item in items]
        if state.kind != "broadcast":
            return _table({"subtask": subtasks, "value": values})
        return _table(
            {
                "subtask": subtasks,
                "user_key": [key for key, _ in values],
                "value": [value for _, value in values],
            }
        )


def _table(columns: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    return pa.table({name: _array(values) for name, values in columns.items()})


def _array(values: list[Any]) -> Any:
    """An Arrow array of what Arrow knows; pickles of anything else."""
    import pyarrow as pa

    try:
        return pa.array([_plain(value) for value in values])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([None if v is None else pickle.dumps(v) for v in values], pa.binary())


def _plain(value: Any) -> Any:
    """Rows and tuples as structs, whose fields may differ in type."""
    if hasattr(value, "as_dict") and getattr(value, "_fields", None) is not None:
        return {name: _plain(item) for name, item in value.as_dict().items()}
    if isinstance(value, tuple):
        return {f"f{i}": _plain(item) for i, item in enumerate(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return [{"key": _plain(k), "value": _plain(v)} for k, v in value.items()]
    return value
