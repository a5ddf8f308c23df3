"""Inputs that the fuzzing starts from, one folder per libFuzzer program: what the engine really writes."""

from __future__ import annotations

import json
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


def seeds_of(target: str) -> Iterable[bytes]:
    """What there is for this program; nothing is fine, libFuzzer then starts from nothing."""
    return {
        "container_fuzz": snapshots,
        "key_fuzz": keys,
        "metadata_fuzz": metadata,
        "task_state_fuzz": snapshots,
        "value_type_fuzz": value_types,
    }.get(target, list)()


def write_seeds(target: str, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    seeds = {f"seed-{zlib.crc32(seed):08x}": seed for seed in seeds_of(target)}
    for name, seed in seeds.items():
        (folder / name).write_bytes(seed)
    return len(seeds)
