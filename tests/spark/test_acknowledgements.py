"""The driver's proof: one acknowledgement per subtask, and everybody read what was sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock import StreamExecutionEnvironment
from penstock.graph.specs import CollectSinkSpec
from penstock.runtime.spark.acknowledgements import Acknowledgement, MixedAttemptsError, verify
from penstock.runtime.spark.channels import ChannelId, Receipt
from penstock.runtime.spark.frames import UNNAMED, FrameError
from penstock.runtime.spark.plan import SparkPlan, plan_stages

pytestmark = pytest.mark.native

# Two subtasks send to two subtasks along edge 0; those send to the driver along edge 1.
ATTEMPTS = {(1, 0): 10, (1, 1): 11, (2, 0): 20, (2, 1): 21}


def plan() -> SparkPlan:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    stream = env.from_collection([1]).rebalance().map(lambda x: x)
    stream._end("Collect", CollectSinkSpec("c"))
    return plan_stages(env.get_job_graph(), {})


def sent(vertex: int, subtask: int) -> dict[tuple[int, int], Receipt]:
    edge, targets = (0, 2) if vertex == 1 else (1, 1)
    attempt = ATTEMPTS[vertex, subtask]
    return {(edge, t): Receipt(attempt, 3, 100 * subtask + t) for t in range(targets)}


def acknowledgements() -> list[Acknowledgement]:
    found = []
    for (vertex, subtask), attempt in ATTEMPTS.items():
        received = {}
        if vertex == 2:
            received = {ChannelId(0, s): sent(1, s)[0, subtask] for s in range(2)}
        metrics = ({"vertex": vertex, "subtask": subtask},)
        found.append(
            Acknowledgement(vertex, subtask, attempt, sent(vertex, subtask), received, metrics)
        )
    return found


def driver() -> dict[ChannelId, Receipt]:
    return {ChannelId(1, s): sent(2, s)[1, 0] for s in range(2)}


def with_received(entry: Acknowledgement, channel: ChannelId, receipt: Receipt) -> Acknowledgement:
    return replace(entry, received={**entry.received, channel: receipt})


def test_what_fits_together_gives_the_metrics_of_all_subtasks() -> None:
    metrics = verify(plan(), acknowledgements(), driver())
    assert [(m["vertex"], m["subtask"]) for m in metrics] == list(ATTEMPTS)


def test_a_missing_acknowledgement_is_noticed() -> None:
    for missing in range(4):
        found = acknowledgements()
        del found[missing]
        with pytest.raises(FrameError, match="2 subtasks, but 1 acknowledgements"):
            verify(plan(), found, driver())


def test_a_doubled_acknowledgement_is_noticed() -> None:
    found = acknowledgements()
    with pytest.raises(FrameError, match="3 acknowledgements of 2 subtasks"):
        verify(plan(), [*found, found[3]], driver())


def test_a_consumer_that_read_another_attempt_with_other_content_is_noticed() -> None:
    found = acknowledgements()
    found[3] = with_received(found[3], ChannelId(0, 1), Receipt(attempt=99, frames=3, digest=7))
    with pytest.raises(MixedAttemptsError, match="read attempt 99"):
        verify(plan(), found, driver())


def test_another_attempt_with_the_same_content_does_no_harm() -> None:
    found = acknowledgements()
    same = replace(found[3].received[ChannelId(0, 1)], attempt=99)
    found[3] = with_received(found[3], ChannelId(0, 1), same)
    assert len(verify(plan(), found, driver())) == 4


@pytest.mark.parametrize("receipt", [Receipt(11, 2, 101), Receipt(11, 3, 5), Receipt(None, 0, 0)])
def test_a_consumer_that_read_less_or_something_else_is_noticed(receipt: Receipt) -> None:
    found = acknowledgements()
    found[3] = with_received(found[3], ChannelId(0, 1), receipt)
    with pytest.raises(FrameError, match="but what was sent is"):
        verify(plan(), found, driver())


def test_the_driver_is_a_consumer_too() -> None:
    receipts: dict[ChannelId, Any] = driver()
    receipts[ChannelId(1, 0)] = Receipt(20, 1, 0)
    with pytest.raises(FrameError, match="but what was sent is"):
        verify(plan(), acknowledgements(), receipts)


def test_a_subtask_without_rows_acknowledges_unnamed() -> None:
    found = acknowledgements()
    found[1] = Acknowledgement(1, UNNAMED, 11)
    for position in (2, 3):
        nothing = Receipt(None, 0, 0)
        found[position] = with_received(found[position], ChannelId(0, 1), nothing)
    assert len(verify(plan(), found, driver())) == 3
