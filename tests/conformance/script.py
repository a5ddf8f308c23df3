"""Plays a scenario's input script into a harness, cut into batches of at most so many rows."""

from typing import Any

from conformance.corpus import Scenario
from penstock.testing import MultiInputStreamOperatorTestHarness


def play(harness: MultiInputStreamOperatorTestHarness, scenario: Scenario, rows: int) -> None:
    """The script, and behind it the end of every stream. A record is the tuple (key, value, ts, seq)."""
    play_items(harness, scenario["input"], rows)
    for stream in range(scenario.get("streams", 1)):
        harness.end_input(stream)


def play_items(
    harness: MultiInputStreamOperatorTestHarness, items: list[list[Any]], rows: int, seq: int = 0
) -> None:
    """Part of a script, whose first record has the number ``seq``."""
    player = _Player(harness, rows, seq)
    for item in items:
        player.play(item)
    player.flush()


class _Player:
    """``waiting`` are records of ``stream`` that go into one batch: the interleaving of streams stays exact."""

    def __init__(self, harness: MultiInputStreamOperatorTestHarness, rows: int, seq: int) -> None:
        self._harness = harness
        self._rows = rows
        self._waiting: list[tuple[Any, ...]] = []
        self._stream = 0
        self._idle: set[int] = set()
        self._seq = seq

    def play(self, item: list[Any]) -> None:
        kind, *rest = item
        if kind == "e":
            key, value, timestamp, *stream = rest
            self._turn_to(*stream)
            self._waiting.append((key, value, timestamp, self._seq))
            self._seq += 1
            if len(self._waiting) == self._rows:
                self.flush()
        elif kind == "w":
            timestamp, *stream = rest
            self.flush()
            self._turn_to(*stream)
            self._harness.process_watermark(self._stream, timestamp)
        else:
            self.flush()
            self._idle.add(rest[0])
            self._harness.process_watermark_status(rest[0], True)

    def flush(self) -> None:
        if self._waiting:
            timestamps = [record[2] for record in self._waiting]
            self._harness.process_elements(self._stream, self._waiting, timestamps)
            self._waiting = []

    def _turn_to(self, stream: int = 0) -> None:
        if stream != self._stream:
            self.flush()
            self._stream = stream
        if stream in self._idle:
            self._idle.remove(stream)
            self._harness.process_watermark_status(stream, False)
