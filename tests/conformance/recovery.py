"""A scenario played with a snapshot in the middle: the operators are replaced by restored ones, and the answer is the same.

A watermark is no state. The sources send theirs again, here each stream's last one, right after the restore. That is the
same as if nothing had happened unless

* a timer waits that was set to a time already past: it fires with the next watermark, and so with the repeated one. Where the
  next item of the script is a greater watermark, it is not repeated; elsewhere the snapshot has to be taken at another place;
* streams have been idle: what the gate made of that is not in the repeated watermarks. Snapshots are taken before.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from conformance.builders.experiment import Experiment
from conformance.compare import Answer
from conformance.script import play_items
from penstock.testing import MultiInputStreamOperatorTestHarness, OperatorSnapshot, Watermark

Items = list[list[Any]]


def run_across_a_snapshot(
    experiment: Experiment, rows: int, backend: str, next_backend: str
) -> Answer:
    """The answer of ``backend`` up to a place that the scenario's id decides, and of ``next_backend`` from there on."""
    script = experiment.scenario["input"]
    for cut in _places(experiment.scenario):
        with experiment.harness(backend) as first:
            play_items(first, script[:cut], rows)
            snapshot = first.snapshot()
            before = experiment.answer(first)
            watermark = _watermark(first)
        after = _go_on(experiment, snapshot, cut, rows, next_backend, watermark)
        if after is not None:
            return {channel: before[channel] + after[channel] for channel in before}
    raise AssertionError("before the first item there is always a place")


def _places(scenario: dict[str, Any]) -> Iterator[int]:
    """All places in an order by chance; the one before the first item, where there is no state, last."""
    script = scenario["input"]
    idle = next((n for n, item in enumerate(script) if item[0] == "i"), len(script))
    places = list(range(1, idle + 1))
    random.Random(scenario["id"]).shuffle(places)
    yield from places
    yield 0


def _go_on(
    experiment: Experiment,
    snapshot: OperatorSnapshot,
    cut: int,
    rows: int,
    backend: str,
    watermark: int | None,
) -> Answer | None:
    """What comes after the snapshot; None where the repeated watermarks make a difference."""
    script, streams = experiment.scenario["input"], experiment.scenario.get("streams", 1)
    harness = experiment.harness(backend)
    harness.initialize_state(snapshot)
    with harness:
        if streams > 1 or not _rises(script, cut):
            _repeat_watermarks(harness, script[:cut])
            unchanged = _watermark(harness) == watermark
            if not unchanged or any(experiment.answer(harness).values()):
                return None
        play_items(harness, script[cut:], rows, sum(item[0] == "e" for item in script[:cut]))
        for stream in range(streams):
            harness.end_input(stream)
        return experiment.answer(harness)


def _rises(script: Items, cut: int) -> bool:
    """Whether the next thing that happens to the one stream is a greater watermark; the end is the greatest."""
    if cut == len(script):
        return True
    seen = [item[1] for item in script[:cut] if item[0] == "w"]
    return script[cut][0] == "w" and (not seen or script[cut][1] > max(seen))


def _repeat_watermarks(harness: MultiInputStreamOperatorTestHarness, played: Items) -> None:
    last: dict[int, int] = {}
    for kind, timestamp, *stream in played:
        if kind == "w":
            number = stream[0] if stream else 0
            last[number] = max(timestamp, last.get(number, timestamp))
    for number, timestamp in last.items():
        harness.process_watermark(number, timestamp)


def _watermark(harness: MultiInputStreamOperatorTestHarness) -> int | None:
    """The last one that came out."""
    found = [e.timestamp for e in harness.get_output() if isinstance(e, Watermark)]
    return found[-1] if found else None
