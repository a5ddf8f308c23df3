"""Answers against Flink's: as multisets always, and per key in order where Flink's own order is stable."""

from collections import Counter, defaultdict
from typing import Any

from conformance.corpus import Scenario

Rows = list[list[Any]]
Answer = dict[str, Rows]


def assert_same(answer: Answer, scenario: Scenario) -> None:
    """Raises AssertionError unless ``answer`` is what Flink gave, in every channel."""
    expected = scenario["expected"]
    assert answer.keys() == expected.keys()
    for channel, rows in expected.items():
        assert_same_rows(answer[channel], rows)
        if scenario.get("order_stable", True):
            assert _by_key(answer[channel]) == _by_key(rows)


def assert_same_rows(rows: Rows, expected: Rows) -> None:
    """The same rows, in any order."""
    assert _multiset(rows) == _multiset(expected)


def _multiset(rows: Rows) -> Counter[Any]:
    return Counter(map(_hashable, rows))


def _hashable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_hashable, value))
    # The type is part of the answer: 1, 1.0 and True are equal in Python.
    return type(value).__name__, value


def _by_key(rows: Rows) -> dict[Any, list[Any]]:
    """The rows of each key; rows without a key stand in one order."""
    found = defaultdict(list)
    for row in rows:
        found[row[0]].append(_hashable(row))
    return found
