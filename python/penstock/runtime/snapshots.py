"""Snapshots outside of a job, for ``penstock.state``: the compiled core's part, with paths and URIs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from penstock._core import snapshot
from penstock._core.record import decode_key, encode_key
from penstock._core.state import UserKeyCodec, ValueCodec
from penstock.errors import CheckpointError
from penstock.runtime.file_systems import locate

__all__ = [
    "UserKeyCodec",
    "ValueCodec",
    "decode_key",
    "encode_key",
    "metadata_of",
    "open_snapshot",
    "write_savepoint",
]

NewState = tuple[str, int, str, str, list[tuple[bytes, bytes, bytes]]]


def open_snapshot(path: str) -> snapshot.SnapshotReader:
    """Reads and verifies a checkpoint or savepoint; CheckpointError names what is damaged."""
    local, file_system = locate(path)
    try:
        return snapshot.SnapshotReader.open(local, file_system)
    except (OSError, NotImplementedError) as error:
        raise CheckpointError(str(error)) from error


def metadata_of(reader: snapshot.SnapshotReader) -> dict[str, Any]:
    metadata: dict[str, Any] = json.loads(reader.metadata)
    return metadata


def write_savepoint(
    path: str, max_parallelism: int, operators: Sequence[tuple[str, list[NewState]]]
) -> None:
    local, file_system = locate(path)
    snapshot.write_savepoint(local, max_parallelism, operators, file_system)
