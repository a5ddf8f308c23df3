"""Snapshots from outside of a job."""

from collections.abc import Sequence
from typing import Any

class SnapshotReader:
    """A checkpoint or savepoint, read whole and verified."""

    @staticmethod
    def open(path: str, file_system: Any = None) -> SnapshotReader: ...
    @property
    def metadata(self) -> str:
        """The JSON of ``_metadata``."""

    def states(self) -> list[tuple[str, str, int, str, str, str, str, str, int, int]]:
        """Per operator and state: uid, name, kind (number and text), types of key, namespace and value, the backend
        whose files hold it (else empty), number of entries or items, bytes."""

    def entries(self, uid: str, name: str) -> tuple[list[bytes], list[bytes], list[bytes]]:
        """Keys, namespaces and values of a keyed state."""

    def items(self, uid: str, name: str) -> list[list[bytes]]:
        """The items of a list state, per subtask that wrote some."""

def write_savepoint(
    path: str,
    max_parallelism: int,
    operators: Sequence[
        tuple[str, list[tuple[str, int, str, str, list[tuple[bytes, bytes, bytes]]]]]
    ],
    file_system: Any = None,
) -> None:
    """Per operator its uid and states: name, kind, type of namespace and value, entries (key, namespace, value)."""
