"""Time and Duration, and everything that says how long."""

from datetime import timedelta
from typing import Any

import pytest

from penstock.common import Duration, Time
from penstock.common.time import to_milliseconds


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (Time.milliseconds(7), 7),
        (Time.seconds(2), 2_000),
        (Time.minutes(2), 120_000),
        (Time.hours(-8), -28_800_000),
        (Time.days(1), 86_400_000),
        (Duration.of_millis(7), 7),
        (Duration.of_seconds(2), 2_000),
        (Duration.of_seconds(2, 500_000_000), 2_500),
        (Duration.of_minutes(2), 120_000),
        (Duration.of_hours(1), 3_600_000),
        (Duration.of_days(2), 172_800_000),
        (timedelta(minutes=1, microseconds=999), 60_000),
        (0, 0),
        ("200 ms", 200),
        ("200", 200),
        ("10s", 10_000),
        ("10 Sec", 10_000),
        ("5 min", 300_000),
        ("1 h", 3_600_000),
        ("-2 days", -172_800_000),
    ],
)
def test_lengths_in_milliseconds(length: Any, expected: int) -> None:
    assert to_milliseconds(length) == expected


@pytest.mark.parametrize("wrong", ["", "ten", "10 parsecs", "1.5 s", "s"])
def test_texts_that_are_no_duration_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"size: .* is not a duration such as '200 ms'"):
        to_milliseconds(wrong, "size")


@pytest.mark.parametrize("wrong", [None, 1.5, True, [1]])
def test_other_objects_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="size must be a Time, a Duration, a timedelta or millisec"):
        to_milliseconds(wrong, "size")


@pytest.mark.parametrize("wrong", [1.5, "1", True, None])
def test_milliseconds_are_whole_numbers(wrong: Any) -> None:
    with pytest.raises(TypeError, match="milliseconds must be an int"):
        Time.milliseconds(wrong)
    with pytest.raises(TypeError, match="milliseconds must be an int"):
        Duration.of_millis(wrong)


def test_lengths_compare_and_hash_by_their_length() -> None:
    assert Time.minutes(1) == Time.seconds(60) != Time.seconds(61)
    assert Time.seconds(1) < Time.minutes(1) <= Time.seconds(60)
    assert len({Time.minutes(1), Time.seconds(60)}) == 1
    assert Time.seconds(1) != Duration.of_seconds(1)
    with pytest.raises(TypeError):
        _ = Time.seconds(1) < Duration.of_seconds(2)
    assert repr(Duration.of_seconds(1)) == "Duration(1000 ms)"


@pytest.mark.parametrize("wrong", [0.5, "5", True, None])
@pytest.mark.parametrize("unit", ["seconds", "minutes", "hours", "days"])
def test_units_are_counted_in_whole_numbers(unit: str, wrong: Any) -> None:
    for make in (getattr(Time, unit), getattr(Duration, f"of_{unit}")):
        with pytest.raises(TypeError, match=f"{unit} must be an int, not {wrong!r}; use a smaller"):
            make(wrong)
