"""A scenario played with a snapshot in the middle: the operators are replaced by restored ones, and the answer is the same.

After a restore the sources send their watermarks again, here each stream's last one. Operators keep theirs in the snapshot, so
nothing fires twice, nothing fires early, and nothing is late that was not.
"""

from __future__ import annotations

import random
from typing import Any

from conformance.builders.experiment import Experiment
from conformance.compare import Answer
from conformance.corpus import Scenario
from conformance.script import play_items
from penstock.testing import MultiInputStreamOperatorTestHarness, OperatorSnapshot


def run_across_a_snapshot(
    experiment: Experiment, rows: int, backend: str, next_backend: str
) -> Answer:
    """The answer of ``backend`` up to a place by chance, and of ``next_backend`` from there on."""
    cut = place_of_snapshot(experiment.scenario)
    with experiment.harness(backend) as harness:
        play_items(harness, experiment.scenario["input"][:cut], rows)
        snapshot = harness.snapshot()
        before = experiment.answer(harness)
    after = _go_on(experiment, snapshot, cut, rows, next_backend)
    return {channel: before[channel] + after[channel] for channel in before}


def place_of_snapshot(scenario: Scenario) -> int:
    """How many items come before the snapshot: by chance, the same in every run.

    None of them says that a stream is idle: what the gate made of that is not in the watermarks that are sent again.
    """
    script = scenario["input"]
    idle = next((n for n, item in enumerate(script) if item[0] == "i"), len(script))
    return random.Random(scenario["id"]).randint(min(1, idle), idle)


def _go_on(
    experiment: Experiment, snapshot: OperatorSnapshot, cut: int, rows: int, backend: str
) -> Answer:
    script = experiment.scenario["input"]
    harness = experiment.harness(backend)
    harness.initialize_state(snapshot)
    with harness:
        _repeat_watermarks(harness, script[:cut])
        play_items(harness, script[cut:], rows, sum(item[0] == "e" for item in script[:cut]))
        for stream in range(experiment.scenario.get("streams", 1)):
            harness.end_input(stream)
        return experiment.answer(harness)


def _repeat_watermarks(
    harness: MultiInputStreamOperatorTestHarness, played: list[list[Any]]
) -> None:
    last: dict[int, int] = {}
    for kind, timestamp, *stream in played:
        if kind == "w":
            number = stream[0] if stream else 0
            last[number] = max(timestamp, last.get(number, timestamp))
    for number, timestamp in last.items():
        harness.process_watermark(number, timestamp)
