"""Acknowledgements: what each subtask says it did, and the proof that all of it fits together.

Every attempt of a subtask that runs to its end sends one. Spark may run a subtask again, when an executor is lost for
example, and then some consumers may have read the first attempt and some the second. That does no harm when both sent
the same bytes. Otherwise the results of the job would come from two histories: the job has to run again.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import PenstockError
from penstock.runtime.spark.channels import ChannelId, Receipt
from penstock.runtime.spark.frames import ACKNOWLEDGEMENT, UNNAMED, Frame, FrameError
from penstock.runtime.spark.plan import InputEdge, SparkPlan
from penstock.runtime.spark.routes import routes

__all__ = ["Acknowledgement", "MixedAttemptsError", "verify"]

# Before all frames, behind the seed.
_SEQUENCE = -1


class MixedAttemptsError(PenstockError):
    """Consumers read different attempts of one subtask, and the attempts differ."""


@dataclass(frozen=True)
class Acknowledgement:
    """One subtask's. ``sent`` is by (edge, target), ``subtask`` UNNAMED for one without rows."""

    vertex: int
    subtask: int
    attempt: int
    sent: Mapping[tuple[int, int], Receipt] = field(default_factory=dict)
    received: Mapping[ChannelId, Receipt] = field(default_factory=dict)
    metrics: tuple[dict[str, Any], ...] = ()

    def frame(self, partitions: int) -> Frame:
        """As a row on its way to the first partition of ``partitions``."""
        payload = pickle.dumps(self)
        return Frame(routes(partitions)[0], ACKNOWLEDGEMENT, self.vertex, _SEQUENCE, payload)

    @staticmethod
    def of(frame: Frame) -> Acknowledgement:
        found: Acknowledgement = pickle.loads(frame.payload)
        return found


def verify(
    plan: SparkPlan,
    acknowledgements: Iterable[Acknowledgement],
    driver_received: Mapping[ChannelId, Receipt],
) -> list[dict[str, Any]]:
    """The metrics of all subtasks, when there is one acknowledgement of each and all fit together.

    ``driver_received`` are the receipts of the taps.
    """
    by_vertex: dict[int, list[Acknowledgement]] = {item.vertex.id: [] for item in plan.vertices}
    for acknowledgement in acknowledgements:
        by_vertex[acknowledgement.vertex].append(acknowledgement)
    producers: dict[int, dict[int, Acknowledgement]] = {}
    for item in plan.vertices:
        producers[item.vertex.id] = _by_subtask(item.vertex, by_vertex[item.vertex.id])
    for item in plan.vertices:
        for acknowledgement in by_vertex[item.vertex.id]:
            _check_received(
                item.inputs, producers, acknowledgement.subtask, acknowledgement.received
            )
    _check_received(tuple(plan.taps.values()), producers, 0, driver_received)
    return [entry for found in by_vertex.values() for one in found for entry in one.metrics]


def _by_subtask(vertex: Any, found: list[Acknowledgement]) -> dict[int, Acknowledgement]:
    """The named ones by subtask; together with the unnamed there must be one of each subtask."""
    named = {one.subtask: one for one in found if one.subtask != UNNAMED}
    unnamed = {one.attempt for one in found if one.subtask == UNNAMED}
    if not len(found) == len(named) + len(unnamed) == vertex.parallelism:
        raise FrameError(
            f"{vertex.name!r} has {vertex.parallelism} subtasks, but {len(found)} acknowledgements "
            f"of {len(named) + len(unnamed)} subtasks arrived"
        )
    return named


def _check_received(
    inputs: tuple[InputEdge, ...],
    producers: Mapping[int, Mapping[int, Acknowledgement]],
    subtask: int,
    received: Mapping[ChannelId, Receipt],
) -> None:
    source_of = {edge.edge: edge.source for edge in inputs}
    for channel, receipt in received.items():
        producer = producers[source_of[channel.edge]].get(channel.subtask)
        if producer is None and receipt.attempt is None:
            continue  # nothing was sent by one without rows
        sent = None if producer is None else producer.sent.get((channel.edge, subtask))
        if sent is not None and receipt.attempt is not None:
            if (sent.frames, sent.digest) == (receipt.frames, receipt.digest):
                continue
            if sent.attempt != receipt.attempt:
                raise MixedAttemptsError(
                    f"subtask {subtask} read attempt {receipt.attempt} of subtask {channel.subtask} along edge "
                    f"{channel.edge}, but attempt {sent.attempt} is the one that counts, and they differ"
                )
        raise FrameError(
            f"subtask {subtask} received {receipt} from subtask {channel.subtask} along edge {channel.edge}, "
            f"but what was sent is {sent}"
        )
