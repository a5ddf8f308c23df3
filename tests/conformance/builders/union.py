"""Kind ``union``: several streams as one, then the operator of another kind."""

from dataclasses import replace

from conformance.builders.experiment import Experiment
from conformance.builders.process import build_process
from conformance.builders.window import build_window
from conformance.corpus import Scenario
from penstock.datastream import DataStream


def build_union(scenario: Scenario) -> Experiment:
    """The experiment of the operator, behind a union of all streams."""
    build = build_window if scenario["op"] == "window" else build_process
    experiment = build(scenario)

    def pipeline(first: DataStream, *others: DataStream) -> DataStream:
        return experiment.pipeline(first.union(*others))

    return replace(experiment, pipeline=pipeline)
