"""An experiment: a scenario's pipeline in a harness, and how to read its outputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.compare import Answer
from conformance.corpus import Scenario
from conformance.not_yet import NotYet
from conformance.script import play
from penstock import Configuration
from penstock.datastream import DataStream, OutputTag
from penstock.testing import MultiInputStreamOperatorTestHarness, StreamRecord

ReadRecord = Callable[[StreamRecord], list[Any]]


@dataclass(frozen=True)
class Experiment:
    """``read`` makes a row of channel ``out`` of each record; ``sides`` does so for channels that are side outputs.

    ``settings``: of the job, beside the state backend.
    """

    scenario: Scenario
    pipeline: Callable[..., DataStream]
    read: ReadRecord
    sides: Mapping[str, tuple[OutputTag, ReadRecord]] = field(default_factory=dict)
    input_type: Any = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def harness(self, backend: str = "hashmap") -> MultiInputStreamOperatorTestHarness:
        """The pipeline on a state backend, built and not yet opened."""
        streams = self.scenario.get("streams", 1)
        return MultiInputStreamOperatorTestHarness(
            self.pipeline,
            [self.input_type] * streams,
            configuration=Configuration({**self.settings, "state.backend.type": backend}),
        )

    def run(self, rows: int, backend: str = "hashmap") -> Answer:
        """The answer, with the input in batches of at most ``rows`` rows."""
        with self.harness(backend) as harness:
            play(harness, self.scenario, rows)
            return self.answer(harness)

    def answer(self, harness: MultiInputStreamOperatorTestHarness) -> Answer:
        """What has come out of ``harness`` so far."""
        found = {"out": [self.read(record) for record in harness.get_record_output()]}
        for channel, (tag, read) in self.sides.items():
            found[channel] = [read(record) for record in harness.get_side_output(tag)]
        return found


def require(owner: Any, name: str) -> None:
    """Raises NotYet while the API lacks ``name``; once it is there, a builder has to be written."""
    where = getattr(owner, "__name__", owner)
    if not hasattr(owner, name):
        raise NotYet(f"{where} has no {name}")
    raise AssertionError(
        f"{where} has {name} now: let the builder use it and take the feature out of not_yet.toml"
    )
