"""A brute-force model of tumbling windows by the rules of FORMAT.md: scenarios that nobody recorded get an answer."""

import itertools
from typing import Any

from conformance.compare import Answer
from conformance.corpus import Scenario

MIN, MAX = -(1 << 63), (1 << 63) - 1
_FIELDS = {"sum": sum, "min": min, "max": max}


def answer_of(scenario: Scenario) -> Answer:
    """What Flink would answer."""
    model = _Model(scenario)
    numbers = itertools.count()
    for kind, *rest in scenario["input"]:
        if kind == "w":
            model.advance(rest[0])
        else:
            model.add((*rest, next(numbers)))
    model.advance(MAX)
    return {"out": model.out, "late": model.late} if scenario["late_output"] else {"out": model.out}


class _Model:
    """``windows`` holds the records of each (key, start) that is not past its cleanup time."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.size = scenario["assigner"]["size"]
        self.offset = scenario["assigner"]["offset"]
        self.watermark = MIN
        self.windows: dict[tuple[Any, int], list[tuple[Any, ...]]] = {}
        self.out: list[list[Any]] = []
        self.late: list[list[Any]] = []

    def add(self, record: tuple[Any, ...]) -> None:
        key, value, timestamp, _ = record
        start = timestamp - (timestamp - self.offset) % self.size
        if self._is_over(start):
            self.late.append([key, value, timestamp])
            return
        place = (None if self.scenario["all"] else key, start)
        self.windows.setdefault(place, []).append(record)
        if start + self.size - 1 <= self.watermark:
            self._fire(place)

    def advance(self, watermark: int) -> None:
        if watermark <= self.watermark:
            return
        before, self.watermark = self.watermark, watermark
        for place in sorted(self.windows, key=lambda place: place[1]):
            if before < place[1] + self.size - 1 <= watermark:
                self._fire(place)
        self.windows = {
            p: records for p, records in self.windows.items() if not self._is_over(p[1])
        }

    def _is_over(self, start: int) -> bool:
        return start + self.size - 1 + self.scenario["allowed_lateness"] <= self.watermark

    def _fire(self, place: tuple[Any, int]) -> None:
        key, start = place
        end = start + self.size
        result = self._result(self.windows[place])
        if self.scenario["window_info"]:
            watermark = None if self.scenario["all"] else self.watermark
            self.out.append([key, start, end, result, end - 1, watermark])
        else:
            key = None if self.scenario["function"] == "avg" else key
            self.out.append([key, None, None, result, end - 1, None])

    def _result(self, records: list[tuple[Any, ...]]) -> Any:
        function = self.scenario["function"]
        values = [record[1] for record in records]
        if function == "reduce_sum":
            return sum(values)
        if function == "avg":
            return sum(values) / len(values)
        return [_FIELDS[function](values), *records[0][2:]]
