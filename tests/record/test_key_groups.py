"""Key groups are dealt to subtasks in ranges, by the formula of Flink's KeyGroupRangeAssignment."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._core.record import (
    DEFAULT_MAX_PARALLELISM,
    UPPER_BOUND_MAX_PARALLELISM,
    hash_key,
    key_group,
    key_group_range,
    subtask_of,
)

pytestmark = pytest.mark.native


def ranges(max_parallelism: int, parallelism: int) -> list[range]:
    found = [key_group_range(i, max_parallelism, parallelism) for i in range(parallelism)]
    return [range(start, end + 1) for start, end in found]


def flink_operator_index(group: int, max_parallelism: int, parallelism: int) -> int:
    return group * parallelism // max_parallelism


def test_bounds_are_those_of_flink() -> None:
    assert (DEFAULT_MAX_PARALLELISM, UPPER_BOUND_MAX_PARALLELISM) == (128, 1 << 15)


@pytest.mark.parametrize("max_parallelism", [1, 2, 3, 7, 10, 127, 128, 200])
def test_every_group_belongs_to_the_subtask_that_flink_gives_it(max_parallelism: int) -> None:
    for parallelism in range(1, max_parallelism + 1):
        owners = [
            subtask
            for subtask, groups in enumerate(ranges(max_parallelism, parallelism))
            for _ in groups
        ]
        assert owners == [
            flink_operator_index(group, max_parallelism, parallelism)
            for group in range(max_parallelism)
        ]


@given(st.integers(1, 1 << 15), st.data())
def test_ranges_cover_all_groups_once_in_order_and_evenly(
    max_parallelism: int, data: st.DataObject
) -> None:
    parallelism = data.draw(st.integers(1, max_parallelism))
    found = ranges(max_parallelism, parallelism)
    assert [group for groups in found for group in groups] == list(range(max_parallelism))
    assert {len(groups) for groups in found} <= {
        max_parallelism // parallelism,
        -(-max_parallelism // parallelism),
    }


@given(st.text(), st.integers(1, 1 << 15), st.data())
def test_a_key_goes_to_the_subtask_whose_range_has_its_group(
    key: str, max_parallelism: int, data: st.DataObject
) -> None:
    parallelism = data.draw(st.integers(1, max_parallelism))
    group = key_group(key, max_parallelism)
    assert group == hash_key(key) % max_parallelism
    subtask = subtask_of(key, max_parallelism, parallelism)
    start, end = key_group_range(subtask, max_parallelism, parallelism)
    assert start <= group <= end


def test_keys_spread_over_all_groups() -> None:
    counts = Counter(key_group(i) for i in range(128 * 200))
    assert len(counts) == 128
    assert max(counts.values()) < 300


@pytest.mark.parametrize("wrong", [0, -1, (1 << 15) + 1])
def test_max_parallelism_out_of_bounds_is_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match=rf"max parallelism must be in \[1, 32768\], not {wrong}"):
        key_group("a", wrong)


@pytest.mark.parametrize("wrong", [0, 129])
def test_parallelism_beyond_max_parallelism_is_refused(wrong: int) -> None:
    message = rf"parallelism must be in \[1, max parallelism 128\], not {wrong}"
    with pytest.raises(ValueError, match=message):
        subtask_of("a", 128, wrong)


@pytest.mark.parametrize("wrong", [-1, 4])
def test_a_subtask_that_does_not_exist_has_no_range(wrong: int) -> None:
    with pytest.raises(ValueError, match=rf"subtask must be in \[0, 4\), not {wrong}"):
        key_group_range(wrong, 128, 4)
