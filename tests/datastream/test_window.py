"""Time windows by Flink's rules, against a plain search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.datastream import TimeWindow

TIMES = st.integers(-(10**6), 10**6)


@given(TIMES, st.integers(1, 500), st.data())
def test_a_window_starts_at_the_last_boundary_before_the_timestamp(
    timestamp: int, size: int, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(-size + 1, size - 1))
    start = TimeWindow.get_window_start_with_offset(timestamp, offset, size)
    expected = next(t for t in range(timestamp, timestamp - size, -1) if (t - offset) % size == 0)
    assert start == expected
    assert start <= timestamp < start + size


def test_a_window_ends_before_its_end() -> None:
    assert TimeWindow(0, 10).max_timestamp() == 9


@given(TIMES, st.integers(1, 100), TIMES, st.integers(1, 100))
def test_windows_that_intersect_are_covered_without_a_gap(
    start: int, size: int, other_start: int, other_size: int
) -> None:
    one, other = TimeWindow(start, start + size), TimeWindow(other_start, other_start + other_size)
    touching = max(one.start, other.start) <= min(one.end, other.end)
    assert one.intersects(other) == other.intersects(one) == touching
    cover = one.cover(other)
    assert cover == other.cover(one)
    assert (cover.end - cover.start <= size + other_size) or not touching


@pytest.mark.parametrize(("one", "other"), [(TimeWindow(0, 5), TimeWindow(5, 9))])
def test_windows_that_touch_intersect(one: TimeWindow, other: TimeWindow) -> None:
    assert one.intersects(other)
    assert one < other
