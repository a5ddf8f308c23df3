"""Kind ``rolling``: aggregates over all records of a key so far."""

from typing import Any

from conformance.builders.experiment import Experiment
from conformance.corpus import Scenario
from penstock.datastream import DataStream
from penstock.testing import StreamRecord

_BY = {"minBy": "min_by", "maxBy": "max_by"}


def build_rolling(scenario: Scenario) -> Experiment:
    """The experiment of a rolling aggregate over position 1."""

    def pipeline(records: DataStream) -> DataStream:
        keyed = records.key_by(lambda record: record[0])
        function, _, last = scenario["function"].partition("_")
        if function == "reduce":
            return keyed.reduce(_reduce)
        if function in _BY:
            return getattr(keyed, _BY[function])(1, first=not last)
        return getattr(keyed, function)(1)

    return Experiment(scenario, pipeline, _read)


def _reduce(a: Any, b: Any) -> Any:
    return a[0], a[1] + b[1], max(a[2], b[2]), b[3]


def _read(record: StreamRecord) -> list[Any]:
    return [*record.value, record.timestamp]
