"""One builder per kind: a scenario as a pipeline of the public API.

``BUILDERS[kind](scenario)`` gives an ``Experiment``, or raises NotYet or NotImplementedError.
"""

from collections.abc import Callable

from conformance.builders.experiment import Experiment
from conformance.builders.missing import MISSING
from conformance.builders.process import build_process
from conformance.builders.rolling import build_rolling
from conformance.builders.union import build_union
from conformance.builders.window import build_window
from conformance.corpus import Scenario
from conformance.not_yet import NotYet

BUILDERS: dict[str, Callable[[Scenario], Experiment]] = {
    "window": build_window,
    "union": build_union,
    "process": build_process,
    "rolling": build_rolling,
    **MISSING,
}


def build(scenario: Scenario) -> Experiment:
    """The experiment of a scenario of any kind."""
    builder = BUILDERS.get(scenario["kind"])
    if builder is None:
        raise NotYet(f"no builder for scenarios of kind {scenario['kind']!r}")
    return builder(scenario)
