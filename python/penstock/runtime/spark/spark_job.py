"""One run of a job on Spark: builds the stages, runs the one action, proves the result complete.

When an executor was lost and its subtasks ran again, the proof may fail because two attempts got mixed. Then everything
runs again, from the sources; sinks see the rows once more (at least once).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock._core.columnar import Batch
from penstock.errors import PenstockError
from penstock.runtime.spark.acknowledgements import Acknowledgement, MixedAttemptsError, verify
from penstock.runtime.spark.channels import ChannelId, FrameGate, Receipt
from penstock.runtime.spark.frames import ACKNOWLEDGEMENT, Frame, read_frames
from penstock.runtime.spark.plan import InputEdge, SparkPlan
from penstock.runtime.spark.remote_errors import original_error
from penstock.runtime.spark.stage_builder import StageBuilder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkResult", "run_plan"]

_LOGGER = logging.getLogger("penstock")
_RUNS = 3


@dataclass(frozen=True)
class SparkResult:
    """What came back: the batches of each collector, and the metrics of all subtasks."""

    collected: Mapping[str, list[Batch]]
    metrics: list[dict[str, Any]]


def run_plan(plan: SparkPlan, session: SparkSession) -> SparkResult:
    """Runs the plan to its end; raises what failed it."""
    for run in range(1, _RUNS + 1):
        try:
            return _run_once(plan, session)
        except MixedAttemptsError as error:
            if run == _RUNS:
                raise
            _LOGGER.warning("job %r runs again: %s", plan.name, error)
    raise AssertionError("the last run returns or raises")


def _run_once(plan: SparkPlan, session: SparkSession) -> SparkResult:
    builder = StageBuilder(plan, session)
    try:
        rows = builder.build()
        table = rows.toArrow()
    except Exception as error:
        failure = _failure(error, plan)
        if failure is error:
            raise
        raise failure from failure.__cause__
    finally:
        for dataframe in builder.persisted:
            dataframe.unpersist()
    frames = list(read_frames(iter(table.to_batches())))
    collected: dict[str, list[Batch]] = {}
    receipts: dict[ChannelId, Receipt] = {}
    for name, tap in plan.taps.items():
        gate = FrameGate(0, tap.channels(0))
        collected[name] = list(_batches(gate, tap, frames))
        receipts.update(gate.receipts())
    acknowledgements = [Acknowledgement.of(f) for f in frames if f.edge == ACKNOWLEDGEMENT]
    return SparkResult(collected, verify(plan, acknowledgements, receipts))


def _batches(gate: FrameGate, tap: InputEdge, frames: list[Frame]) -> Iterator[Batch]:
    own = [frame for frame in frames if frame.edge == tap.edge]
    own.sort(key=lambda frame: (frame.sequence, frame.channel))
    for _, element in gate.elements(own):
        if element[0] == "batch":
            yield element[1]


def _failure(error: Exception, plan: SparkPlan) -> Exception:
    """What the executor raised, or Spark's own error in our words."""
    text = str(error)
    carried = original_error(text)
    if carried is not None:
        return carried
    if "spark.driver.maxResultSize" in text:
        return PenstockError(
            f"job {plan.name!r}: the collected results are larger than spark.driver.maxResultSize; write them with a "
            "sink or to_dataframe(), or raise the limit"
        )
    if not _is_of_spark(error):
        return error
    failure = PenstockError(f"job {plan.name!r} failed on Spark: {text}")
    failure.__cause__ = error
    return failure


def _is_of_spark(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in {"pyspark", "py4j"}
