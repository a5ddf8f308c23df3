"""Storage that is not the machine's own, through ``pyarrow.fs``: what a URI like ``s3://bucket/checkpoints`` says."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["ArrowFileSystem", "Location", "locate"]

# (path, file system); None: the machine's own.
Location = tuple[str, "ArrowFileSystem | None"]


def locate(uri: str | os.PathLike[str], what: str = "path") -> Location:
    """Where ``uri`` is. ``what`` names the setting in messages.

    >>> locate("file:///tmp/checkpoints")
    ('/tmp/checkpoints', None)
    """
    uri = os.fspath(uri)
    if not isinstance(uri, str):
        raise TypeError(f"{what}: a path is a str, not {uri!r}")
    parts = urlsplit(uri)
    if parts.scheme == "file" and parts.netloc in {"", "localhost"}:
        return unquote(parts.path), None
    if "://" not in uri:
        return os.path.abspath(uri), None
    try:
        file_system, path = _open(uri)
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        raise ValueError(f"{what}: {uri!r} cannot be used as storage: {error}") from error
    return path, ArrowFileSystem(file_system)


def _open(uri: str) -> tuple[Any, str]:
    from pyarrow import fs

    file_system, path = fs.FileSystem.from_uri(uri)
    return file_system, path


class ArrowFileSystem:
    """What the core asks of storage, by a ``pyarrow.fs.FileSystem``. A file appears when it is closed."""

    def __init__(self, file_system: Any) -> None:
        self._files = file_system

    def create(self, path: str) -> Any:
        from pyarrow import fs

        parent, _, _ = path.rpartition("/")
        # Object stores have no directories; a bucket is not for us to make.
        if not isinstance(self._files, (fs.S3FileSystem, fs.GcsFileSystem)):
            self._files.create_dir(parent, recursive=True)
        return self._files.open_output_stream(path, compression=None)

    def read(self, path: str) -> bytes | None:
        try:
            with self._files.open_input_stream(path, compression=None) as stream:
                return bytes(stream.read())
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        except OSError:
            if not self._is_file(path):
                return None
            raise

    def remove_all(self, path: str) -> None:
        from pyarrow import fs

        kind = self._files.get_file_info(path).type
        if kind == fs.FileType.Directory:
            self._files.delete_dir(path)
        elif kind != fs.FileType.NotFound:
            self._files.delete_file(path)

    def list(self, path: str) -> list[str]:
        from pyarrow import fs

        selector = fs.FileSelector(path, allow_not_found=True)
        return [info.base_name for info in self._files.get_file_info(selector)]

    def exists(self, path: str) -> bool:
        from pyarrow import fs

        return bool(self._files.get_file_info(path).type != fs.FileType.NotFound)

    def _is_file(self, path: str) -> bool:
        return bool(self._files.get_file_info(path).is_file)
