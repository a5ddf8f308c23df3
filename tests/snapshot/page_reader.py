"""A reader of snapshots that knows nothing but docs/snapshot-format.md.

The numbers (section types, kinds, layouts of payloads) come from the page's tables. Nothing of penstock is used.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snapshot import page

__all__ = [
    "Cursor",
    "DamagedError",
    "Operator",
    "Section",
    "State",
    "TaskState",
    "crc32c",
    "read_checkpoint",
    "read_fields",
    "read_metadata",
    "read_sections",
    "read_task_state",
]

_KIND_COLUMNS = ("kind", "state", "form", "read back with another parallelism")
FILE_KINDS = {row["file"]: int(row["kind"]) for row in page.table("kind", "file")}
SECTIONS = {int(row["type"]): row for row in page.table("type", "section", "payload")}
KINDS = {int(row["kind"]): row["form"] for row in page.table(*_KIND_COLUMNS)}
VERSIONS = (1, 2)


class DamagedError(Exception):
    """The bytes are not what the page says."""


@dataclass
class Section:
    type: int
    payload: bytes
    offset: int


@dataclass
class State:
    """A state with its description; ``entries`` (group, key, namespace, value) of keyed ones, ``items`` of lists."""

    name: str
    kind: int
    key_type: str
    namespace_type: str
    value_type: str
    key_groups: tuple[int, int] | None = None
    entries: list[tuple[int, bytes, bytes, bytes]] = field(default_factory=list)
    items: list[bytes] = field(default_factory=list)


@dataclass
class NativeFile:
    name: str
    size: int
    crc32c: int
    content_id: str
    content: bytes | None = None


@dataclass
class NativeState:
    backend: str
    about: bytes
    key_groups: tuple[int, int]
    states: list[State] = field(default_factory=list)
    files: list[NativeFile] = field(default_factory=list)


@dataclass
class Operator:
    uid: str
    states: list[State] = field(default_factory=list)
    native: list[NativeState] = field(default_factory=list)

    def state(self, name: str) -> State:
        (found,) = [state for state in self.states if state.name == name]
        return found


@dataclass
class TaskState:
    vertex: str
    subtask: int
    parallelism: int
    max_parallelism: int
    operators: list[Operator] = field(default_factory=list)

    def operator(self, uid: str) -> Operator:
        (found,) = [operator for operator in self.operators if operator.uid == uid]
        return found


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


class Cursor:
    """Reads values of the page's types from front to back."""

    _NUMBERS = {"u8": "<B", "u32": "<I", "u64": "<Q", "i32": "<i", "i64": "<q", "f64": "<d"}

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count > len(self._data) - self.at:
            raise DamagedError(f"{count} bytes are not there at {self.at}")
        self.at += count
        return self._data[self.at - count : self.at]

    def read(self, kind: str) -> Any:
        if kind in self._NUMBERS:
            layout = self._NUMBERS[kind]
            return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]
        if kind == "bytes":
            return self.take(self.read("u32"))
        if kind == "text":
            return self.take(self.read("u32")).decode()
        raise AssertionError(f"the page has no type {kind!r}")

    def take_rest(self) -> bytes:
        return self.take(len(self._data) - self.at)

    def read_fields(self, spec: str) -> list[Any]:
        return [self.read(kind) for _, kind in page.fields(spec)]

    @property
    def at_end(self) -> bool:
        return self.at == len(self._data)


def read_fields(data: bytes, spec: str) -> list[Any]:
    """The values of "name: type, ...", which are all of ``data``."""
    cursor = Cursor(data)
    values = cursor.read_fields(spec)
    _check(cursor.at_end, "bytes are left over")
    return values


def read_sections(data: bytes, file_kind: str) -> list[Section]:
    """The sections of a container without its end."""
    cursor = Cursor(data)
    _check(cursor.take(8) == b"PENSTOCK", "not the magic")
    version, kind, checksum = cursor.read_fields("version: u32, kind: u32, checksum: u32")
    _check(checksum == masked_crc32c(data[:16]), "header checksum")
    _check(version in VERSIONS and kind == FILE_KINDS[file_kind], "version or kind")
    sections: list[Section] = []
    while True:
        section = _read_section(cursor, data)
        if section.type == 0:
            break
        sections.append(section)
    _check(read_fields(section.payload, "sections: u32") == [len(sections)], "number of sections")
    _check(cursor.at_end, "bytes follow the end")
    return sections


def _read_section(cursor: Cursor, data: bytes) -> Section:
    offset = cursor.at
    kind, length = cursor.read_fields("type: u32, length: u64")
    payload = cursor.take(length)
    expected = masked_crc32c(data[offset : cursor.at])
    _check(cursor.read("u32") == expected, f"checksum of the section at {offset}")
    return Section(kind, payload, offset)


def read_task_state(data: bytes) -> TaskState:
    sections = read_sections(data, "task state")
    _check(bool(sections) and _name(sections[0]) == "task", "the task comes first")
    task = TaskState(*read_fields(sections[0].payload, _spec("task")))
    rest = sections[1:]
    while rest:
        section = rest.pop(0)
        name = _name(section)
        if name == "operator":
            task.operators.append(Operator(*read_fields(section.payload, _spec(name))))
            continue
        _check(bool(task.operators), f"{name} without an operator")
        operator = task.operators[-1]
        if name == "counted keyed state":
            operator.states.append(_counted_keyed_state(section.payload, rest))
        elif name == "keyed state":
            operator.states.append(_keyed_state(section.payload, rest))
        elif name == "list state":
            operator.states.append(_list_state(section.payload))
        else:
            _check(name == "native state", f"{name} out of place")
            operator.native.append(_native_state(section.payload, rest))
    return task


def read_metadata(data: bytes) -> dict[str, Any]:
    (section,) = read_sections(data, "metadata")
    _check(section.type == 1, "not JSON")
    metadata: dict[str, Any] = json.loads(section.payload)
    return metadata


def read_checkpoint(directory: Path) -> tuple[dict[str, Any], list[TaskState]]:
    """The metadata and the state of each task in it, all verified."""
    metadata = read_metadata((directory / "_metadata").read_bytes())
    tasks = []
    for listed in metadata["tasks"]:
        data = (directory / listed["file"]).read_bytes()
        _check(len(data) == listed["size"], f"size of {listed['file']}")
        _check(crc32c(data) == listed["crc32c"], f"checksum of {listed['file']}")
        task = read_task_state(data)
        _check((task.vertex, task.subtask) == (listed["vertex"], listed["subtask"]), "task")
        tasks.append(task)
    for listed in metadata.get("shared_files", []):
        data = (directory.parent / "shared" / listed["content_id"]).read_bytes()
        _check(len(data) == listed["size"], f"size of {listed['content_id']}")
        _check(crc32c(data) == listed["crc32c"], f"checksum of {listed['content_id']}")
    return metadata, tasks


def _name(section: Section) -> str:
    _check(section.type in SECTIONS, f"section type {section.type}")
    return SECTIONS[section.type]["section"]


def _spec(name: str) -> str:
    (row,) = [row for row in SECTIONS.values() if row["section"] == name]
    return row["payload"]


def _description(cursor: Cursor) -> State:
    return State(*cursor.read_fields(page.definition("description")))


def _take(rest: list[Section], name: str) -> bytes:
    _check(bool(rest) and _name(rest[0]) == name, f"{name} is missing")
    return rest.pop(0).payload


def _begin_keyed_state(payload: bytes, name: str) -> tuple[State, list[int]]:
    cursor = Cursor(payload)
    state = _description(cursor)
    first, last, *more = cursor.read_fields(_spec(name).removeprefix("description, "))
    _check(cursor.at_end and KINDS[state.kind] == "keyed", "keyed state")
    state.key_groups = (first, last)
    return state, more


def _counted_keyed_state(payload: bytes, rest: list[Section]) -> State:
    state, (count,) = _begin_keyed_state(payload, "counted keyed state")
    groups = [_add_key_group(_take(rest, "key group"), state)[0] for _ in range(count)]
    _check(len(set(groups)) == count, "a key group comes twice")
    return state


def _keyed_state(payload: bytes, rest: list[Section]) -> State:
    state, _ = _begin_keyed_state(payload, "keyed state")
    groups = []
    while rest and _name(rest[0]) == "key group":
        groups.append(_add_key_group(rest.pop(0).payload, state))
    _check(groups == sorted(groups, key=lambda group: group[0]), "key groups ascend")
    end = read_fields(_take(rest, "end of keyed state"), _spec("end of keyed state"))
    _check(end == [len(groups), sum(size for _, size in groups)], "the end of a keyed state")
    return state


def _add_key_group(payload: bytes, state: State) -> tuple[int, int]:
    """The group and the bytes of its entries."""
    cursor = Cursor(payload)
    group = cursor.read("i32")
    size = len(payload) - cursor.at
    assert state.key_groups is not None
    _check(state.key_groups[0] <= group <= state.key_groups[1], f"key group {group}")
    while not cursor.at_end:
        key, namespace, value = cursor.read_fields(page.definition("entry"))
        state.entries.append((group, key, namespace, value))
    return group, size


def _native_state(payload: bytes, rest: list[Section]) -> NativeState:
    cursor = Cursor(payload)
    spec = _spec("native state").removesuffix(", states, files")
    backend, about, first, last = cursor.read_fields(spec)
    native = NativeState(backend, about, (first, last))
    native.states = [_description(cursor) for _ in range(cursor.read("u32"))]
    _, _, each = page.definition("files").partition("then each: ")
    native.files = [NativeFile(*cursor.read_fields(each)) for _ in range(cursor.read("u32"))]
    _check(cursor.at_end, "native state")
    for file in native.files:
        if not file.content_id:
            content = Cursor(_take(rest, "file"))
            _check(content.read("text") == file.name, "the order of the files")
            file.content = content.take_rest()
            _check(len(file.content) == file.size, f"size of {file.name}")
            _check(crc32c(file.content) == file.crc32c, f"checksum of {file.name}")
    return native


def _list_state(payload: bytes) -> State:
    cursor = Cursor(payload)
    state = _description(cursor)
    state.items = [cursor.read("bytes") for _ in range(cursor.read("u32"))]
    _check(cursor.at_end and KINDS[state.kind] == "list", "list state")
    return state


def _check(condition: bool, what: str) -> None:
    if not condition:
        raise DamagedError(what)
