"""Kinds that the engine has no API for: what each needs first."""

import importlib.util
from collections.abc import Callable

from conformance.builders.experiment import Experiment, require
from conformance.corpus import Scenario
from conformance.not_yet import NotYet
from penstock.datastream import DataStream, KeyedStream, WindowedStream


def _needs(owner: type, name: str) -> Callable[[Scenario], Experiment]:
    def build(scenario: Scenario) -> Experiment:
        require(owner, name)
        raise AssertionError("require() always raises")

    return build


def _chain(scenario: Scenario) -> Experiment:
    # The method is there and says that it cannot run.
    WindowedStream.process(None, None)  # type: ignore[arg-type]
    raise AssertionError("WindowedStream.process runs now: write the builder of chains")


def _sql(scenario: Scenario) -> Experiment:
    if importlib.util.find_spec("penstock.table") is None:
        raise NotYet("there is no penstock.table")
    raise AssertionError("penstock.table is there now: write the builder of SQL scenarios")


MISSING: dict[str, Callable[[Scenario], Experiment]] = {
    "coprocess": _needs(DataStream, "connect"),
    "broadcast": _needs(DataStream, "connect"),
    "interval_join": _needs(KeyedStream, "interval_join"),
    "window_join": _needs(DataStream, "join"),
    "cogroup": _needs(DataStream, "co_group"),
    "chain": _chain,
    "sql": _sql,
}
