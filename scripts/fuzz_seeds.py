"""Inputs that the fuzzing starts from, one folder per libFuzzer program: what the engine really writes."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"


def snapshots() -> list[bytes]:
    """Every file of the kept snapshots of all format versions."""
    return [path.read_bytes() for path in sorted((DATA / "snapshots").rglob("*")) if path.is_file()]


def metadata() -> Iterator[bytes]:
    for path in sorted((DATA / "snapshots").rglob("_metadata")):
        container = path.read_bytes()
        yield container
        yield container[container.index(b"{") : container.rindex(b"}") + 1]


def keys() -> Iterator[bytes]:
    vectors = json.loads((DATA / "key_vectors.json").read_text("utf-8"))
    for number, vector in enumerate(vectors):
        yield bytes([number % 256]) + bytes.fromhex(vector["bytes"])


def value_types() -> Iterator[bytes]:
    for basic in (
        *("BOOLEAN", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "STRING", "CHAR", "BINARY"),
        *("BIG_INT", "BIG_DEC", "INSTANT", "SQL_TIMESTAMP", "SQL_DATE", "SQL_TIME"),
        "PICKLED_BYTE_ARRAY",
    ):
        yield basic.encode()
        yield f"LIST<{basic}>".encode()
        yield f"MAP<STRING, TUPLE<{basic}, LONG>>".encode()
    yield b"ROW<a LONG, unit price MAP<STRING, LIST<TUPLE<INT, DOUBLE>>>>"
    yield b"ROW<>"


def groups_of_entries() -> Iterator[bytes]:
    """What the kept snapshots have of each key group (docs/snapshot-format.md), for each kind of state."""
    for container in snapshots():
        at = 20
        while at + 12 <= len(container):
            kind, length = struct.unpack_from("<IQ", container, at)
            if kind == 4:
                for choice in range(5):
                    yield bytes([choice]) + container[at + 16 : at + 12 + length]
            at += 16 + length
    for choice in range(5):  # one entry: key 5, no namespace, a list or a map's entry of "x"
        yield (
            bytes([choice])
            + struct.pack("<I", 9)
            + bytes.fromhex("048000000000000005")
            + (struct.pack("<IIIc", 0, 5, 1, b"x"))
        )


def stored_state() -> Iterator[bytes]:
    key = bytes.fromhex("048000000000000005")
    yield b"\0\x08\x09" + key + b"\x02ns" + b"user key"
    yield b"\0\x08" + bytes(8) + key.replace(b"\0", b"\0\xff") + b"\0\x01ns"
    yield struct.pack("<I3scI2s", 3, b"one", b",", 2, b"to")
    yield struct.pack("<IQ3sIQ2s", 11, 7, b"one", 10, 9, b"to")


def seeds_of(target: str) -> Iterable[bytes]:
    """What there is for this program; nothing is fine, libFuzzer then starts from nothing."""
    return {
        "backend_restore_fuzz": groups_of_entries,
        "container_fuzz": snapshots,
        "key_fuzz": keys,
        "metadata_fuzz": metadata,
        "stored_state_fuzz": stored_state,
        "task_state_fuzz": snapshots,
        "value_type_fuzz": value_types,
        "window_restore_fuzz": groups_of_entries,
    }.get(target, list)()


def write_seeds(target: str, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    seeds = {f"seed-{zlib.crc32(seed):08x}": seed for seed in seeds_of(target)}
    for name, seed in seeds.items():
        (folder / name).write_bytes(seed)
    return len(seeds)
