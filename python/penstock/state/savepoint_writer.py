"""SavepointWriter: a savepoint from tables, for a job to start from."""

from __future__ import annotations

import os
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.snapshots import UserKeyCodec, ValueCodec, encode_key, write_savepoint

__all__ = ["OperatorStates", "SavepointWriter"]

# Values reach disk: those of cpp/snapshot/operator_state.h.
_VALUE, _LIST, _MAP = 4, 5, 6
# The engine's own states.
_RESERVED = frozenset({"event-time-timers", "processing-time-timers"})

Entry = tuple[bytes, bytes, bytes]


class SavepointWriter:
    """Collects operators with their states, then writes them.

    ``max_parallelism`` must be that of the job. Tables are pyarrow's, pandas DataFrames or lists of dicts.
    """

    def __init__(self, max_parallelism: int) -> None:
        if not 1 <= max_parallelism <= 1 << 15:
            raise ValueError(f"max_parallelism must be from 1 to 32768, but is {max_parallelism}")
        self._max_parallelism = max_parallelism
        self._operators: dict[str, OperatorStates] = {}

    @classmethod
    def new(cls, max_parallelism: int = 128) -> SavepointWriter:
        """One without operators."""
        return cls(max_parallelism)

    def with_operator(self, uid: str) -> OperatorStates:
        """The states of the operator with this uid, to be added to."""
        _check_name(uid, "the uid of an operator")
        return self._operators.setdefault(uid, OperatorStates(self))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the savepoint to ``path``, which must not exist: a directory, or a URI."""
        operators = [(uid, states.plain()) for uid, states in self._operators.items()]
        write_savepoint(os.fspath(path), self._max_parallelism, operators)


class OperatorStates:
    """Made by ``SavepointWriter.with_operator``. ``key`` names the column of the key, or several: then keys are
    tuples, as ``key_by`` of several columns has them."""

    def __init__(self, writer: SavepointWriter) -> None:
        self._writer = writer
        self._states: dict[str, tuple[int, str, list[Entry]]] = {}

    def value_state(
        self,
        name: str,
        table: Any,
        key: str | list[str],
        value_type: TypeInformation,
        value: str | list[str] | None = None,
    ) -> OperatorStates:
        """One value for each key, out of the column ``value`` (several: a row; None: all that are no key)."""
        codec = ValueCodec(repr(value_type))
        entries: dict[bytes, bytes] = {}
        for key_bytes, row in _keyed_rows(table, key, value):
            if key_bytes in entries:
                raise ValueError(f"state {name!r}: a key comes twice; a value state has one value")
            entries[key_bytes] = codec.encode(row)
        return self._add(name, _VALUE, repr(value_type), [(k, b"", v) for k, v in entries.items()])

    def list_state(
        self,
        name: str,
        table: Any,
        key: str | list[str],
        element_type: TypeInformation,
        value: str | list[str] | None = None,
    ) -> OperatorStates:
        """An element for each row, in the order of the table."""
        codec = ValueCodec(repr(element_type))
        lists: dict[bytes, bytearray] = {}
        for key_bytes, row in _keyed_rows(table, key, value):
            lists.setdefault(key_bytes, bytearray()).extend(_sized(codec.encode(row)))
        entries = [(k, b"", bytes(elements)) for k, elements in lists.items()]
        return self._add(name, _LIST, repr(element_type), entries)

    def map_state(
        self,
        name: str,
        table: Any,
        key: str | list[str],
        user_key: str,
        key_type: TypeInformation,
        value_type: TypeInformation,
        value: str | list[str] | None = None,
    ) -> OperatorStates:
        """An entry for each row, its user key out of the column ``user_key``."""
        keys, codec = UserKeyCodec(repr(key_type)), ValueCodec(repr(value_type))
        maps: dict[bytes, dict[bytes, bytes]] = {}
        rows = _rows(table)
        for (key_bytes, item), row in zip(
            _keyed_rows(rows, key, value, user_key), rows, strict=True
        ):
            encoded = keys.encode(row[user_key])
            one = maps.setdefault(key_bytes, {})
            if encoded in one:
                raise ValueError(f"state {name!r}: user key {row[user_key]!r} comes twice in a map")
            one[encoded] = codec.encode(item)
        entries = [
            (k, b"", _sized(user) + one[user]) for k, one in maps.items() for user in sorted(one)
        ]
        return self._add(name, _MAP, f"MAP<{key_type!r}, {value_type!r}>", entries)

    def with_operator(self, uid: str) -> OperatorStates:
        """The next operator of the same savepoint."""
        return self._writer.with_operator(uid)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole savepoint."""
        self._writer.write(path)

    def plain(self) -> list[tuple[str, int, str, str, list[Entry]]]:
        """For the core: name, kind, types of namespace and value, entries."""
        return [
            (name, kind, "", value_type, entries)
            for name, (kind, value_type, entries) in self._states.items()
        ]

    def _add(self, name: str, kind: int, value_type: str, entries: list[Entry]) -> OperatorStates:
        _check_name(name, "the name of a state")
        if name in _RESERVED:
            raise ValueError(f"{name!r} is the name of a state of the engine's own; choose another")
        if name in self._states:
            raise ValueError(f"there is a state {name!r} already")
        self._states[name] = (kind, value_type, entries)
        return self


def _check_name(name: Any, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} is a str, not {name!r}")
    if not name:
        raise ValueError(f"{what} must not be empty")


def _rows(table: Any) -> list[dict[str, Any]]:
    if hasattr(table, "to_pylist"):  # pyarrow
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows
    if hasattr(table, "to_dict"):  # pandas
        import pyarrow as pa

        return _rows(pa.Table.from_pandas(table, preserve_index=False))
    return list(table)


def _keyed_rows(
    table: Any, key: str | list[str], value: str | list[str] | None, user_key: str | None = None
) -> list[tuple[bytes, Any]]:
    """Each row's key bytes and value."""
    rows = _rows(table)
    if not rows:
        return []
    keys = [key] if isinstance(key, str) else key
    rest = [name for name in rows[0] if name not in keys and name != user_key]
    wanted = rest if value is None else [value] if isinstance(value, str) else value
    if missing := [name for name in (*keys, *wanted) if name not in rows[0]]:
        raise KeyError(f"the table has no column {missing[0]!r}; it has {', '.join(rows[0])}")
    one = len(wanted) == 1 and not isinstance(value, list)
    out = []
    for row in rows:
        of_row = row[keys[0]] if isinstance(key, str) else tuple(row[name] for name in keys)
        item = row[wanted[0]] if one else tuple(row[name] for name in wanted)
        out.append((encode_key(of_row), item))
    return out


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little") + data
