"""From the bytes of a state to Python values, by what its description says. docs/snapshot-format.md has the encodings."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.errors import CheckpointError
from penstock.runtime.snapshots import UserKeyCodec, ValueCodec, decode_key

__all__ = ["Row", "decode_entries", "decode_item", "split_ttl"]

# key, namespace, user key (of maps), value, when it was last touched (with a time to live).
Row = tuple[Any, Any, Any, Any, int | None]
Decode = Callable[[bytes], Any]

_TTL = "TTL<"
_TIMESTAMP = struct.Struct("<q")


def split_ttl(value_type: str) -> tuple[str, bool]:
    """The type without its time to live, and whether it had one.

    >>> split_ttl("TTL<LONG>")
    ('LONG', True)
    """
    if value_type.startswith(_TTL):
        return value_type[len(_TTL) : -1], True
    return value_type, False


def decode_entries(
    kind: str,
    namespace_type: str,
    value_type: str,
    entries: tuple[Sequence[bytes], Sequence[bytes], Sequence[bytes]],
) -> Iterator[Row]:
    """One row for each value: of a list for each element, of a map for each user key."""
    inner, has_ttl = split_ttl(value_type)
    rows = _ROWS.get(kind, _value_rows)(kind, inner, has_ttl)
    for key, namespace, value in zip(*entries, strict=True):
        where = (decode_key(key) if key else None, _namespace(namespace_type, namespace))
        for user_key, decoded, touched in rows(value):
            yield *where, user_key, decoded, touched


def decode_item(kind: str, value_type: str, item: bytes) -> Any:
    """An item of a list state: (user key, value) of a broadcast state, else the value."""
    if kind == "broadcast":
        key_type, inner = _map_types(value_type)
        user_key, rest = _sized(item)
        return UserKeyCodec(key_type).decode(user_key), ValueCodec(inner).decode(rest)
    return _decoder(value_type)(item)


Values = Callable[[bytes], Iterator[tuple[Any, Any, int | None]]]


def _value_rows(kind: str, value_type: str, has_ttl: bool) -> Values:
    decode = _int64 if kind == "timers" else _decoder(value_type)

    def rows(value: bytes) -> Iterator[tuple[Any, Any, int | None]]:
        touched, rest = _touched(value, has_ttl)
        yield None, decode(rest), touched

    return rows


def _list_rows(kind: str, value_type: str, has_ttl: bool) -> Values:
    decode = _decoder(value_type)

    def rows(value: bytes) -> Iterator[tuple[Any, Any, int | None]]:
        while value:
            element, value = _sized(value)
            touched, rest = _touched(element, has_ttl)
            yield None, decode(rest), touched

    return rows


def _map_rows(kind: str, value_type: str, has_ttl: bool) -> Values:
    key_type, inner = _map_types(value_type)
    keys, decode = UserKeyCodec(key_type), _decoder(inner)

    def rows(value: bytes) -> Iterator[tuple[Any, Any, int | None]]:
        user_key, rest = _sized(value)
        touched, rest = _touched(rest, has_ttl)
        yield keys.decode(user_key), decode(rest), touched

    return rows


_ROWS: dict[str, Callable[[str, str, bool], Values]] = {"list": _list_rows, "map": _map_rows}


def _decoder(value_type: str) -> Decode:
    """Of what no type information describes, the bytes: accumulators of windows, positions of sources."""
    if value_type == "pickle":
        return pickle.loads
    try:
        return ValueCodec(value_type).decode
    except (ValueError, TypeError, CheckpointError):
        return bytes


def _map_types(value_type: str) -> tuple[str, str]:
    """The two types of "MAP<key, value>".

    >>> _map_types("MAP<ROW<a LONG, b LONG>, MAP<LONG, LONG>>")
    ('ROW<a LONG, b LONG>', 'MAP<LONG, LONG>')
    """
    inside = value_type.removeprefix("MAP<").removesuffix(">")
    depth = 0
    quote = ""
    for at, char in enumerate(inside):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char in "<(":
            depth += 1
        elif char in ">)":
            depth -= 1
        elif char == "," and depth == 0:
            return inside[:at], inside[at + 1 :].strip()
    raise CheckpointError(f"{value_type!r} is not the type of a map")


def _namespace(namespace_type: str, namespace: bytes) -> Any:
    """A window's end, or its start and end; other namespaces as they are."""
    if not namespace:
        return None
    if "int64" in namespace_type and len(namespace) in (8, 16):
        numbers = struct.unpack(f"<{len(namespace) // 8}q", namespace)
        return numbers[0] if len(numbers) == 1 else numbers
    return namespace


def _touched(value: bytes, has_ttl: bool) -> tuple[int | None, bytes]:
    if not has_ttl:
        return None, value
    return _TIMESTAMP.unpack_from(value)[0], value[_TIMESTAMP.size :]


def _int64(value: bytes) -> int:
    number: int = _TIMESTAMP.unpack(value)[0]
    return number


def _sized(value: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(value[:4], "little")
    if len(value) < 4 + size:
        raise CheckpointError("the lengths within a value do not add up")
    return value[4 : 4 + size], value[4 + size :]
