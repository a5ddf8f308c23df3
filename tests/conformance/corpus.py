"""The scenarios, and what they ask of an engine.

``CONFORMANCE_DIR`` points at another folder of the same format (data/FORMAT.md). Nothing here looks at ids.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("CONFORMANCE_DIR") or Path(__file__).parent / "data")

Scenario = dict[str, Any]

_TRIGGERS = ["default", "event_time", "count", "continuous", "delta", "purging"]
_WINDOW = {
    "assigner": [
        "tumbling",
        "sliding",
        "session",
        "dynamic_session",
        "global",
        "global_eos",
        "count_tumbling",
        "count_sliding",
    ],
    "trigger": _TRIGGERS,
    "evictor": ["none", "count", "time", "delta"],
    "function": [
        "reduce_sum",
        "sum",
        "min",
        "max",
        "minBy",
        "maxBy",
        "minBy_last",
        "maxBy_last",
        "avg",
        "process",
        "process_elements",
        "process_state",
    ],
}
_JOIN = {"assigner": _WINDOW["assigner"], "trigger": _TRIGGERS}
_ALL = {"everything": ["true"]}

# The features of each kind and the values that FORMAT.md gives them; "everything" stands for the kind as a whole.
VOCABULARY: dict[str, dict[str, list[str]]] = {
    "window": _WINDOW,
    "chain": {"assigner": _WINDOW["assigner"], "assigner2": _WINDOW["assigner"], **_ALL},
    "process": _ALL,
    "rolling": _ALL,
    "coprocess": _ALL,
    "union": {"op": ["window", "process"], **_WINDOW},
    "broadcast": _ALL,
    "interval_join": _ALL,
    "window_join": {**_JOIN, **_ALL},
    "cogroup": {**_JOIN, **_ALL},
    "sql": _ALL,
}


def load() -> list[Scenario]:
    """All scenarios of the folder."""
    return [scenario for path in sorted(FOLDER.glob("*.jsonl")) for scenario in _read(path)]


def _read(path: Path) -> Iterator[Scenario]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def features(scenario: Scenario) -> dict[str, str]:
    """What the scenario asks for, in the words of ``VOCABULARY``."""
    known = VOCABULARY.get(scenario["kind"], {})
    return {name: _value(name, scenario) for name in known if name in {*scenario, "everything"}}


def _value(name: str, scenario: Scenario) -> str:
    if name == "everything":
        return "true"
    value = scenario[name]
    if isinstance(value, str):
        return value
    if value is None:
        return "default" if name == "trigger" else "none"
    return str(value["type"])
