"""Tasks: a whole job on threads of this process, or one subtask driven by hand."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from penstock._core.operators import Operator
from penstock._core.source import Source

class Savepoint:
    """One that was asked for."""

    def wait(self, timeout_ms: int) -> bool:
        """Whether it is done, for good or ill."""

    def path(self) -> str:
        """Where it is; raises why there is none."""

class LocalJob:
    """A job on threads of this process. Build it, start it, wait for it."""

    def __init__(self, channel_capacity: int = 8) -> None: ...
    def add_vertex(self, name: str, parallelism: int, max_parallelism: int) -> int:
        """Vertices are numbered from 0 in the order they are added."""

    def add_source(self, vertex: int, subtask: int, source: Source, name: str, uid: str) -> None:
        """The head of a source vertex: operator 0 of the subtask."""

    def add_operator(
        self,
        vertex: int,
        subtask: int,
        operator: Operator,
        name: str,
        uid: str,
        upstream: int = -1,
        side: int | None = None,
    ) -> None:
        """The next operator of the subtask's chain; ``upstream`` -1: the head, fed by the input gate."""

    def add_edge(
        self,
        source_vertex: int,
        source_operator: int,
        side: int | None,
        target_vertex: int,
        kind: str,
        key_columns: Sequence[str] | None = None,
    ) -> None:
        """``kind``: forward, rebalance, broadcast, global or hash (without ``key_columns``: by attached keys)."""

    def set_state_backend(self, kind: str, options: dict[str, str]) -> None:
        """``hashmap`` (what it is without a call) or ``rocksdb``, options under Flink's keys."""

    def set_checkpointing(
        self,
        directory: str,
        job_id: str,
        job_name: str,
        interval_ms: int | None,
        retained: int,
        timeout_ms: int,
        min_pause_ms: int,
        tolerable_failures: int,
        discard_when_finished: bool = True,
        file_system: Any = None,
        local_directory: str = "",
    ) -> None:
        """Checkpoints go to ``directory`` (empty: there are none); ``interval_ms`` None: none are taken by time.
        ``file_system``: of a directory that is not on this machine. ``local_directory``: for copies that are."""

    def restore_newest(
        self, ignore_unclaimed: bool = False
    ) -> tuple[int | None, list[tuple[str, str]]]:
        """Starts from the newest complete checkpoint: its id (None: there is none), and (path, reason) of skipped ones."""

    def restore_from(
        self, path: str, file_system: Any = None, ignore_unclaimed: bool = False
    ) -> int:
        """Starts from the checkpoint or savepoint at ``path``; its id."""

    def start(self) -> None: ...
    def wait(self, timeout_ms: int) -> bool:
        """True when all tasks have ended."""

    def cancel(self) -> None:
        """Asks all tasks to end; returns at once."""

    def raise_failure(self) -> None:
        """Raises what failed the job; nothing when nothing did."""

    @property
    def state(self) -> str:
        """created, running, failing, cancelling, finished, failed or canceled."""

    def trigger_checkpoint(self) -> None: ...
    def trigger_savepoint(self, directory: str, after: str, file_system: Any = None) -> Savepoint:
        """``after``: "go on", "suspend" or "drain"."""

    @property
    def completed_checkpoints(self) -> list[int]:
        """Ids of all checkpoints completed in this run, oldest first."""

    def metrics(self) -> list[dict[str, Any]]:
        """Per operator and subtask: vertex, subtask, uid, name, records_in, records_out, late_records_dropped,
        windows_fired, current_watermark."""

Element: TypeAlias = tuple[Any, ...]

class TaskDriver:
    """One subtask without thread and channels: elements are fed by hand, what it sends is taken out.

    Elements: ("batch", Batch), ("watermark", ms), ("status", idle), ("barrier", id), ("end",).
    """

    def __init__(
        self,
        name: str,
        subtask: int,
        parallelism: int,
        max_parallelism: int,
        input_of_channel: Sequence[int] = (),
        now_ms: int | None = None,
    ) -> None:
        """``input_of_channel``: the logical input of each channel of the gate; empty for a source task.
        ``now_ms`` starts a clock that stands still until ``set_time``; None: the machine's clock."""

    def add_source(self, source: Source, name: str, uid: str) -> None: ...
    def add_operator(
        self,
        operator: Operator,
        name: str,
        uid: str,
        upstream: int = -1,
        side: int | None = None,
    ) -> None: ...
    def add_edge(
        self,
        source_operator: int,
        side: int | None,
        kind: str,
        num_targets: int,
        key_columns: Sequence[str] | None = None,
        max_parallelism: int = 128,
    ) -> None:
        """``max_parallelism`` is the target's: it says which key group, and so which target, a key belongs to."""

    def set_state_backend(self, kind: str, options: dict[str, str]) -> None:
        """Before ``open``: ``hashmap`` (what it is without a call) or ``rocksdb``, options under Flink's keys."""

    def open(self, state: bytes | None = None) -> None:
        """``state``: what ``snapshot`` of one subtask gave."""

    def open_rescaled(self, states: Sequence[bytes]) -> None:
        """``states``: what ``snapshot`` of every subtask gave, in their order; this one takes its part of them."""

    def poll(self) -> bool:
        """Lets the source emit once; False: it has ended (the end has been sent on)."""

    def feed(self, channel: int, element: Element) -> None:
        """Handles the next element of a channel. The last channel's end ends the task."""

    def set_time(self, now_ms: int) -> None:
        """Moves the clock and fires what is due."""

    def take_output(self) -> list[tuple[int, int, Element]]:
        """(edge, target, element) sent since the last call, in order."""

    def take_barriers(self) -> list[tuple[int, bytes]]:
        """(checkpoint, state) of the barriers aligned since the last call."""

    def snapshot(self) -> bytes: ...
    def close(self) -> None: ...
    @property
    def ended(self) -> bool: ...
    def metrics(self) -> list[dict[str, Any]]: ...
