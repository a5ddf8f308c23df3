"""Damages of snapshots: each does something to the files of one, says what, and can be undone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["DAMAGES", "Files", "damaged"]


class Files:
    """The files that a snapshot consists of, with their bytes; ``others`` are those of another one of the same job."""

    def __init__(self, path: Path, others: Path | None) -> None:
        shared = path.parent / "shared"
        folders = [path, *([shared] if shared.is_dir() else [])]
        self.path = path
        self.bytes = {file: file.read_bytes() for folder in folders for file in folder.iterdir()}
        self.names = sorted(self.bytes)
        self.others = sorted(others.iterdir()) if others else []

    def pick(self, rng: random.Random) -> Path:
        """Small files as often as large ones, but never an empty one."""
        return rng.choice([name for name in self.names if self.bytes[name]])

    def restore(self) -> None:
        for folder in {file.parent for file in self.names}:
            for file in folder.iterdir():
                if file not in self.bytes:
                    file.unlink()
        for file, data in self.bytes.items():
            if not file.exists() or file.read_bytes() != data:
                file.write_bytes(data)


Damage = Callable[[Files, random.Random], str]


def flip_a_byte(files: Files, rng: random.Random) -> str:
    file = files.pick(rng)
    data = bytearray(files.bytes[file])
    at = rng.randrange(len(data))
    data[at] ^= rng.randrange(1, 256)
    file.write_bytes(data)
    return f"byte {at} of {file.name} became {data[at]}"


def truncate(files: Files, rng: random.Random) -> str:
    file = files.pick(rng)
    size = rng.randrange(len(files.bytes[file]))
    file.write_bytes(files.bytes[file][:size])
    return f"{file.name} was cut to {size} bytes"


def lengthen(files: Files, rng: random.Random) -> str:
    file = files.pick(rng)
    more = rng.choice([b"\0" * rng.randrange(1, 100), rng.randbytes(rng.randrange(1, 100))])
    file.write_bytes(files.bytes[file] + more)
    return f"{len(more)} bytes were added to {file.name}"


def zero_a_range(files: Files, rng: random.Random) -> str:
    file = files.pick(rng)
    data = bytearray(files.bytes[file])
    first = rng.randrange(len(data))
    size = min(rng.choice([16, 512, 4096]), len(data) - first)
    data[first : first + size] = bytes(size)
    file.write_bytes(data)
    return f"{size} bytes of {file.name} from {first} on became 0"


def exchange_ranges(files: Files, rng: random.Random) -> str:
    file = files.pick(rng)
    data = files.bytes[file]
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    a, b, c = cuts
    file.write_bytes(data[:a] + data[b:c] + data[a:b] + data[c:])
    return f"[{a}, {b}) and [{b}, {c}) of {file.name} were exchanged"


def double_a_range(files: Files, rng: random.Random) -> str:
    file = files.pick(rng)
    data = files.bytes[file]
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    file.write_bytes(data[:last] + data[first:])
    return f"[{first}, {last}) of {file.name} came twice"


def exchange_files(files: Files, rng: random.Random) -> str:
    one, other = rng.sample(files.names, 2)
    one.write_bytes(files.bytes[other])
    other.write_bytes(files.bytes[one])
    return f"{one.name} and {other.name} were exchanged"


def copy_over_another(files: Files, rng: random.Random) -> str:
    one, other = rng.sample(files.names, 2)
    other.write_bytes(files.bytes[one])
    return f"{one.name} was copied over {other.name}"


def take_from_another_snapshot(files: Files, rng: random.Random) -> str:
    if not files.others:
        return lose_a_file(files, rng)
    other = rng.choice(files.others)
    (files.path / other.name).write_bytes(other.read_bytes())
    return f"{other.name} was taken from {other.parent.name}"


def lose_a_file(files: Files, rng: random.Random) -> str:
    file = rng.choice(files.names)
    file.unlink()
    return f"{file.name} was lost"


def add_a_file(files: Files, rng: random.Random) -> str:
    file = files.pick(rng)
    added = file.with_name(rng.choice([f"{file.name}.tmp", f"{file.name}-0", f"x{file.name}"]))
    added.write_bytes(files.bytes[file])
    return f"{added.name} was added"


DAMAGES: list[Damage] = [
    *[flip_a_byte] * 6,
    *[truncate] * 2,
    lengthen,
    zero_a_range,
    exchange_ranges,
    double_a_range,
    exchange_files,
    copy_over_another,
    take_from_another_snapshot,
    lose_a_file,
    add_a_file,
]


@contextmanager
def damaged(files: Files, seed: str) -> Iterator[str]:
    """Some damage, chosen by ``seed``; what it was. Undone at the end."""
    rng = random.Random(seed)
    try:
        yield rng.choice(DAMAGES)(files, rng)
    finally:
        files.restore()
