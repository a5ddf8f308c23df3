"""What a program has built so far: a tree of transformations, each knowing its inputs and its columns.

A transformation is *virtual* when it stands for no operator of its own but changes what its input means to the
next one: a partitioning, a union, a side output. Everything else becomes one or more operators of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.common.checkpointed_function import CheckpointedFunction
from penstock.graph.specs import AggregateCall, OperatorSpec, SourceSpec

__all__ = [
    "KeyedTransformation",
    "Keys",
    "OperatorTransformation",
    "PartitionTransformation",
    "ProcessTransformation",
    "RollingTransformation",
    "SideOutputTransformation",
    "SourceTransformation",
    "Transformation",
    "UnionTransformation",
    "WindowTransformation",
]


@dataclass(eq=False)
class Transformation:
    """Base. ``schema`` is a pyarrow.Schema, or None for a stream of Python objects.

    ``chaining`` is always, head (starts a chain) or never. ``sides`` are the ids of its side outputs, in the
    order of their numbers, with the schema of each.
    """

    name: str
    inputs: tuple[Transformation, ...]
    schema: Any
    parallelism: int | None = None
    max_parallelism: int | None = None
    uid: str | None = None
    description: str | None = None
    chaining: str = "always"
    non_parallel: bool = False
    sides: dict[str, Any] = field(default_factory=dict)

    @property
    def is_virtual(self) -> bool:
        return False

    @property
    def is_stateful(self) -> bool:
        """Whether a checkpoint holds something of it, beside the positions of sources."""
        return False


@dataclass(eq=False)
class SourceTransformation(Transformation):
    """Where rows come from. ``columnar``: it emits columns, not Python objects."""

    spec: SourceSpec = field(default_factory=SourceSpec)
    columnar: bool = False


@dataclass(eq=False)
class OperatorTransformation(Transformation):
    """One operator with one input, sinks too.

    ``needs_columns``: it cannot read rows of Python objects. ``output`` says in which form it emits: ``rows``,
    ``columns``, or ``same`` as it received.
    """

    spec: OperatorSpec = field(default_factory=OperatorSpec)
    needs_columns: bool = False
    output: str = "rows"

    @property
    def is_stateful(self) -> bool:
        return isinstance(getattr(self.spec, "lifecycle", None), CheckpointedFunction)


@dataclass(frozen=True)
class Keys:
    """What a stream is keyed by: the names of ``columns``, or ``function(value)``."""

    columns: tuple[str, ...] | None = None
    function: Callable[[Any], Any] | None = None
    lifecycle: Any = None


class _Virtual(Transformation):
    @property
    def is_virtual(self) -> bool:
        return True


@dataclass(eq=False)
class PartitionTransformation(_Virtual):
    """The next operator gets the rows by ``kind``: forward, rebalance, broadcast or global."""

    kind: str = "forward"


@dataclass(eq=False)
class KeyedTransformation(_Virtual):
    """The next operator gets the rows by key group."""

    keys: Keys = field(default_factory=Keys)


@dataclass(eq=False)
class UnionTransformation(_Virtual):
    """The rows of all inputs, in no order between them."""


@dataclass(eq=False)
class SideOutputTransformation(_Virtual):
    """What its input sent to the side output ``tag``."""

    tag: str = ""


@dataclass(eq=False)
class ProcessTransformation(Transformation):
    """A process function: with ``keys`` one that has state and timers. Its side outputs are those that were asked for."""

    function: Any = None
    keys: Keys | None = None

    @property
    def is_stateful(self) -> bool:
        return self.keys is not None or isinstance(self.function, CheckpointedFunction)


@dataclass(eq=False)
class RollingTransformation(Transformation):
    """A reduce function over all rows of a key so far; emits a result for each."""

    function: Callable[[Any, Any], Any] | None = None
    lifecycle: Any = None
    keys: Keys = field(default_factory=Keys)

    @property
    def is_stateful(self) -> bool:
        return True


@dataclass(eq=False)
class WindowTransformation(Transformation):
    """Tumbling event-time windows, per key or (``keys`` None) over all rows.

    Either ``aggregates`` (built in, over columns) or ``aggregator`` (with Python functions) is set; which operators
    that becomes is the planner's choice.
    """

    keys: Keys | None = None
    size_ms: int = 0
    offset_ms: int = 0
    allowed_lateness_ms: int = 0
    late_tag: str | None = None
    aggregates: tuple[AggregateCall, ...] = ()
    aggregator: tuple[str, Any] | None = None
    window_function: Any = None
    lifecycles: tuple[Any, ...] = ()

    @property
    def is_stateful(self) -> bool:
        return True
