"""A scenario with one stream as a whole job: a scripted source, tasks on threads, results collected."""

from typing import Any

from conformance.builders import build
from conformance.corpus import Scenario
from penstock import StreamExecutionEnvironment, WatermarkStrategy
from penstock.testing import ScriptedSource, StreamRecord


def run_as_job(scenario: Scenario) -> list[list[Any]]:
    """The rows of channel ``out``, their record timestamps None."""
    experiment = build(scenario)
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
    source = env.from_source(_source(scenario), WatermarkStrategy.no_watermarks(), "script")
    with experiment.pipeline(source).execute_and_collect() as results:
        return [experiment.read(StreamRecord(value)) for value in results]


def _source(scenario: Scenario) -> ScriptedSource:
    source = ScriptedSource()
    seq = 0
    for kind, *rest in scenario["input"]:
        if kind == "e":
            source = source.element((*rest, seq), rest[2])
            seq += 1
        else:
            source = source.watermark(rest[0])
    return source
