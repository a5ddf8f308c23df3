"""The same windows by built-in aggregates over columns: the sliced operator.

Its rows have no watermark and no first element, so they are compared by [key, start, end, value, record timestamp].
"""

from typing import Any

from conformance.builders.experiment import Experiment
from conformance.builders.window import LATE, tumbling
from conformance.corpus import Scenario
from penstock import Types, col
from penstock import functions as F
from penstock.datastream import DataStream
from penstock.testing import StreamRecord

RECORD = Types.ROW_NAMED(
    ["key", "value", "ts", "seq"], [Types.STRING(), Types.LONG(), Types.LONG(), Types.LONG()]
)
_AGGREGATES = {"reduce_sum": F.sum, "sum": F.sum, "min": F.min, "max": F.max, "avg": F.avg}


def applies(scenario: Scenario) -> bool:
    """Whether the sliced operator can answer."""
    return scenario["allowed_lateness"] == 0 and scenario["function"] in _AGGREGATES


def build_sliced(scenario: Scenario, late_output: bool) -> Experiment:
    """``late_output``: with a side output for late rows, and so without pre-aggregation."""

    def pipeline(records: DataStream) -> DataStream:
        aggregate = _AGGREGATES[scenario["function"]]("value").alias("result")
        assigner = tumbling(scenario)
        keyed = not scenario["all"]
        windowed: Any = (
            records.key_by("key").window(assigner) if keyed else records.window_all(assigner)
        )
        if late_output:
            windowed.side_output_late_data(LATE)
        bounds = [col(name).cast("int64").alias(name) for name in ("window_start", "window_end")]
        keys = ["key"] if keyed else []
        return windowed.aggregate(aggregate).select(*keys, *bounds, "result")

    def read(record: StreamRecord) -> list[Any]:
        *key, start, end, result = record.value
        return [key[0] if key else None, start, end, result, record.timestamp]

    sides = {"late": (LATE, _read_late)} if late_output else {}
    return Experiment(scenario, pipeline, read, sides, input_type=RECORD)


def expected_rows(scenario: Scenario, rows: list[list[Any]]) -> list[list[Any]]:
    """``rows`` of the sliced operator with what Flink's answer does not show blanked out."""
    keyless = scenario["function"] == "avg" and not scenario["window_info"]
    return [
        [
            None if keyless else key,
            *((start, end) if scenario["window_info"] else (None, None)),
            result,
            time,
        ]
        for key, start, end, result, time in rows
    ]


def flinks_rows(scenario: Scenario) -> list[list[Any]]:
    """Flink's answer without what the sliced operator does not emit."""
    return [
        [key, start, end, result[0] if isinstance(result, list) else result, time]
        for key, start, end, result, time, _ in scenario["expected"]["out"]
    ]


def _read_late(record: StreamRecord) -> list[Any]:
    return list(record.value[:3])
