"""JobExecutionResult: what is known of a job that has finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["JobExecutionResult"]


@dataclass(frozen=True)
class JobExecutionResult:
    """The outcome of a finished job.

    >>> result = JobExecutionResult("0a1b", "Clicks", 1500, metrics=[{"name": "Map", "records_in": 3}])
    >>> result.get_net_runtime(), result.total("records_in")
    (1500, 3)

    Attributes:
        metrics: per operator and subtask, as ``JobClient.metrics()``.
        restored_checkpoint: the number of the checkpoint that the job started from; None: from nothing.
        completed_checkpoints: the numbers of all checkpoints taken, oldest first.
    """

    job_id: str
    job_name: str
    net_runtime_ms: int
    metrics: Sequence[dict[str, Any]] = ()
    restored_checkpoint: int | None = None
    completed_checkpoints: Sequence[int] = ()
    accumulators: dict[str, Any] = field(default_factory=dict)

    def get_job_id(self) -> str:
        return self.job_id

    def is_job_execution_result(self) -> bool:
        """Always True: it is of a job that ran to its end."""
        return True

    def get_net_runtime(self) -> int:
        """Milliseconds from start to end."""
        return self.net_runtime_ms

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """The value of an accumulator; None: there is no such."""
        return self.accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        return dict(self.accumulators)

    def total(self, metric: str) -> int:
        """A metric summed over all operators and subtasks, such as ``late_records_dropped``."""
        return sum(entry.get(metric, 0) for entry in self.metrics)

    def __str__(self) -> str:
        text = f"Program execution finished\nJob with JobID {self.job_id} has finished.\n"
        return f"{text}Job Runtime: {self.net_runtime_ms} ms"
