"""Lengths of time, in milliseconds: ``Time`` for windows, ``Duration`` for strategies and settings."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import total_ordering

__all__ = ["Duration", "Time", "to_milliseconds"]

_UNITS = {
    **dict.fromkeys(["ms", "milli", "millis", "millisecond", "milliseconds", ""], 1),
    **dict.fromkeys(["s", "sec", "secs", "second", "seconds"], 1000),
    **dict.fromkeys(["m", "min", "minute", "minutes"], 60_000),
    **dict.fromkeys(["h", "hour", "hours"], 3_600_000),
    **dict.fromkeys(["d", "day", "days"], 86_400_000),
}


@total_ordering
class _Milliseconds:
    """A whole number of milliseconds that compares, hashes and prints by its length."""

    __slots__ = ("_milliseconds",)

    def __init__(self, milliseconds: int) -> None:
        if isinstance(milliseconds, bool) or not isinstance(milliseconds, int):
            raise TypeError(f"milliseconds must be an int, not {milliseconds!r}")
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        """The length in milliseconds."""
        return self._milliseconds

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._milliseconds == other._milliseconds

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._milliseconds < other._milliseconds

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._milliseconds))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._milliseconds} ms)"


def _in_milliseconds(number: int, unit: str, length: int) -> int:
    """So many units of ``length`` milliseconds; the error speaks of the unit that was asked for."""
    if isinstance(number, bool) or not isinstance(number, int):
        smaller = "" if length == 1 else "; use a smaller unit for parts of it"
        raise TypeError(f"{unit} must be an int, not {number!r}{smaller}")
    return number * length


class Time(_Milliseconds):
    """A window's size or offset.

    >>> Time.seconds(10).to_milliseconds()
    10000
    """

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        return Time(_in_milliseconds(seconds, "seconds", 1000))

    @staticmethod
    def minutes(minutes: int) -> Time:
        return Time(_in_milliseconds(minutes, "minutes", 60_000))

    @staticmethod
    def hours(hours: int) -> Time:
        return Time(_in_milliseconds(hours, "hours", 3_600_000))

    @staticmethod
    def days(days: int) -> Time:
        return Time(_in_milliseconds(days, "days", 86_400_000))


class Duration(_Milliseconds):
    """A length of time in strategies and settings.

    >>> Duration.of_minutes(1) == Duration.of_seconds(60)
    True
    """

    @staticmethod
    def of_millis(milliseconds: int) -> Duration:
        return Duration(milliseconds)

    @staticmethod
    def of_seconds(seconds: int, nano_adjustment: int | None = None) -> Duration:
        milliseconds = _in_milliseconds(seconds, "seconds", 1000)
        return Duration(milliseconds + (nano_adjustment or 0) // 1_000_000)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        return Duration(_in_milliseconds(minutes, "minutes", 60_000))

    @staticmethod
    def of_hours(hours: int) -> Duration:
        return Duration(_in_milliseconds(hours, "hours", 3_600_000))

    @staticmethod
    def of_days(days: int) -> Duration:
        return Duration(_in_milliseconds(days, "days", 86_400_000))


def to_milliseconds(value: Time | Duration | timedelta | int | str, what: str = "duration") -> int:
    """Milliseconds of anything that says how long; ``what`` names it in errors.

    >>> to_milliseconds("10 s"), to_milliseconds(timedelta(minutes=1)), to_milliseconds(250)
    (10000, 60000, 250)
    """
    if isinstance(value, _Milliseconds):
        return value.to_milliseconds()
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(-?\d+)\s*([a-z]*)\s*", value.lower())
        if found and found[2] in _UNITS:
            return int(found[1]) * _UNITS[found[2]]
        raise ValueError(f"{what}: {value!r} is not a duration such as '200 ms', '10 s' or '5 min'")
    raise TypeError(
        f"{what} must be a Time, a Duration, a timedelta or milliseconds, not {value!r}"
    )
