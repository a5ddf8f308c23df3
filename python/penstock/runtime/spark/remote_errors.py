"""Errors on their way from an executor to the driver.

Spark hands the text of a Python exception on, wrapped several times. Ours carries the exception itself in that text, so
that the driver can raise what a job in one process would have raised.
"""

from __future__ import annotations

import base64
import pickle
import re
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.errors import PenstockError, UserCodeError
from penstock.runtime.failures import keep_parts

__all__ = ["StageError", "carried_errors", "original_error"]

_MARK = "penstock-error:"
_PATTERN = re.compile(_MARK + r"([A-Za-z0-9_=-]+)")


class StageError(Exception):
    """A stage failed; its text is readable, and carries the original exception when the driver is to raise it."""


@contextmanager
def carried_errors(*, readable_only: bool) -> Iterator[None]:
    """Turns any exception into a StageError; ``readable_only`` where no driver of ours will look at it."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 (everything travels)
        if isinstance(error, PenstockError):
            keep_parts(error)
        text = _text(error)
        raise StageError(text if readable_only else f"{text}\n{_MARK}{_packed(error)}") from None


def original_error(text: str) -> Exception | None:
    """The exception that the text of Spark's exception carries."""
    found = _PATTERN.search(text)
    if found is None:
        return None
    kind, message, packed = pickle.loads(zlib.decompress(base64.urlsafe_b64decode(found[1])))
    try:
        error, cause, remote = pickle.loads(packed)
    except Exception:  # noqa: BLE001 (unpickling runs any code)
        # A class that is not here: its name and text have to do.
        return PenstockError(f"{kind}: {message}")
    if isinstance(error, UserCodeError):
        error.args = (f"{error}\n\nOn the executor:\n{remote}",)
    else:
        error.add_note(f"On the executor:\n{remote}")
    error.__cause__ = cause
    return error  # type: ignore[no-any-return]


def _text(error: Exception) -> str:
    """What a person needs: the error, and the traceback of the user's code where that failed."""
    text = f"{type(error).__name__}: {error}"
    if error.__cause__ is not None:
        text = f"{text}\n{_trace(error.__cause__)}"
    return text


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).rstrip()


def _packed(error: Exception) -> str:
    import cloudpickle

    remote = _trace(error if error.__cause__ is None else error.__cause__)
    try:
        packed = cloudpickle.dumps((error, error.__cause__, remote))
    except Exception:  # noqa: BLE001 (pickle raises anything)
        packed = b""
    outer = pickle.dumps((type(error).__name__, str(error), packed))
    return base64.urlsafe_b64encode(zlib.compress(outer)).decode()
