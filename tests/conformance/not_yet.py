"""The list of what the engine cannot run yet, and how many scenarios that leaves out."""

import tomllib
from pathlib import Path
from typing import NamedTuple

from conformance.corpus import Scenario, features, load


class NotYet(Exception):
    """The engine has no API for what a scenario needs."""


class Item(NamedTuple):
    """A feature that cannot run."""

    kind: str
    feature: str
    value: str


def listed() -> list[Item]:
    """All features of not_yet.toml."""
    with (Path(__file__).parent / "not_yet.toml").open("rb") as file:
        table = tomllib.load(file)
    return [
        Item(kind, feature, value)
        for kind, entry in table.items()
        for feature, values in entry.items()
        for value in values
    ]


def blockers(scenario: Scenario, items: list[Item]) -> list[Item]:
    """The listed features that the scenario needs."""
    asked = features(scenario)
    return [i for i in items if i.kind == scenario["kind"] and asked.get(i.feature) == i.value]


def summary() -> str:
    """How many scenarios are not run."""
    items = listed()
    scenarios = load()
    left_out = sum(bool(blockers(scenario, items)) for scenario in scenarios)
    return (
        f"{left_out} of {len(scenarios)} scenarios are not run yet "
        f"({len(items)} features in tests/conformance/not_yet.toml)"
    )
