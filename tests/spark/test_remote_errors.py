"""Errors that travel as text and arrive as they were."""

from __future__ import annotations

import threading

import pytest

from penstock.errors import PenstockError, UserCodeError
from penstock.runtime.spark.remote_errors import StageError, carried_errors, original_error

pytestmark = pytest.mark.native

MESSAGE = "operator 'Map' (uid u), subtask 2/3: map function raised on record 7: KeyError: 'k'"


def carried(
    error: Exception, cause: Exception | None = None, *, readable_only: bool = False
) -> str:
    """The text that Spark would hand on."""
    with pytest.raises(StageError) as failure, carried_errors(readable_only=readable_only):
        raise error from cause
    return f"Job aborted.\n  File x.py\nStageError: {failure.value}\n\tat org.apache.spark\n"


def test_a_user_code_error_keeps_its_parts_its_cause_and_the_traceback() -> None:
    found = original_error(carried(UserCodeError(MESSAGE), KeyError("k")))
    assert isinstance(found, UserCodeError)
    assert (found.operator, found.subtask, found.record) == ("Map", 1, "7")
    assert str(found).startswith(MESSAGE)
    assert "KeyError: 'k'" in str(found)
    assert isinstance(found.__cause__, KeyError)


def test_any_other_error_keeps_its_type_and_text() -> None:
    found = original_error(carried(OverflowError("too large")))
    assert type(found) is OverflowError
    assert found.args == ("too large",)
    assert "OverflowError: too large" in found.__notes__[0]


def test_an_error_that_does_not_pickle_keeps_its_text() -> None:
    class Locked(Exception):
        def __init__(self) -> None:
            super().__init__("locked")
            self.lock = threading.Lock()

    found = original_error(carried(Locked()))
    assert type(found) is PenstockError
    assert str(found) == "Locked: locked"


def test_a_text_of_others_carries_nothing() -> None:
    assert original_error("java.lang.OutOfMemoryError: Java heap space") is None
    assert original_error(carried(ValueError("x"), readable_only=True)) is None
