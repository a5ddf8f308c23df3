"""The parts of a task's failure: the core gives them as text, ``PenstockError`` keeps them apart.

The text is ``operator 'Map' (uid u1), subtask 1/2: map function raised on record 7: KeyError: 'seven'``.
"""

from __future__ import annotations

import re

from penstock.errors import PenstockError

__all__ = ["keep_parts"]

_PLACE = re.compile(
    r"operator '(?P<name>.*?)' \(uid .*?\), subtask (?P<number>\d+)/\d+: ", re.DOTALL
)
_RECORD = " on record "


def keep_parts(error: PenstockError) -> None:
    """Sets ``operator``, ``subtask`` (from 0) and ``record`` of an error where its message has them.

    >>> error = PenstockError("operator 'Map' (uid u1), subtask 1/2: disk full")
    >>> keep_parts(error)
    >>> error.operator, error.subtask, error.record
    ('Map', 0, None)
    """
    message = str(error)
    place = _PLACE.match(message)
    if place is not None:
        error.operator = place["name"]
        error.subtask = int(place["number"]) - 1
    cause = error.__cause__
    if cause is not None and _RECORD in message:
        kind = type(cause).__name__
        text = message.removesuffix(f": {cause}").removesuffix(f": {kind}")
        error.record = text.split(_RECORD, 1)[1]
