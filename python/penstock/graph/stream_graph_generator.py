"""Transformations to a stream graph, one translator per kind of transformation.

A translator returns the *outputs* of its transformation: the places where a next operator can tap it. A virtual
transformation adds no node, it only changes outputs. For ``source -> key_by -> map``:

1. source: adds node 1, outputs [node 1];
2. key_by("k"): adds nothing, outputs [node 1, by hash of k];
3. map: adds node 2 and, from the output it was given, the edge 1 -> 2 by hash of k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.graph.job_graph import Partitioning
from penstock.graph.specs import KeySelectorSpec, OperatorSpec, RowsToColumnsSpec
from penstock.graph.stream_graph import StreamEdge, StreamGraph, StreamNode
from penstock.graph.transformation import (
    KeyedTransformation,
    Keys,
    OperatorTransformation,
    PartitionTransformation,
    SideOutputTransformation,
    SourceTransformation,
    Transformation,
    UnionTransformation,
)
from penstock.graph.uids import UidAssigner

__all__ = ["Output", "PlanSettings", "StreamGraphGenerator", "translator"]


@dataclass(frozen=True)
class PlanSettings:
    """What applies to the whole job."""

    parallelism: int = 1
    max_parallelism: int = 128
    chaining: bool = True
    sum_overflow: str = "error"
    configuration: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Output:
    """Where rows can be tapped. ``partitioning`` None: forward, or rebalance where the parallelism changes.

    ``columnar`` false: rows of Python objects.
    """

    node: int
    side: int | None
    schema: Any
    columnar: bool
    partitioning: Partitioning | None = None


Translator = Callable[["StreamGraphGenerator", Any], tuple[Output, ...]]
_TRANSLATORS: dict[type[Transformation], Translator] = {}


def translator(kind: type[Transformation]) -> Callable[[Translator], Translator]:
    """Registers the function that translates transformations of ``kind``."""

    def register(function: Translator) -> Translator:
        _TRANSLATORS[kind] = function
        return function

    return register


class StreamGraphGenerator:
    """Translates the transformations of one program; use once."""

    def __init__(self, settings: PlanSettings) -> None:
        self.settings = settings
        self._graph = StreamGraph("", configuration=dict(settings.configuration))
        self._outputs: dict[int, tuple[Output, ...]] = {}
        self._uids = UidAssigner()

    def generate(self, transformations: Iterable[Transformation], name: str) -> StreamGraph:
        """The graph of everything that the transformations need."""
        for transformation in transformations:
            self.translate(transformation)
        self._graph.name = name
        return self._graph

    def translate(self, transformation: Transformation) -> tuple[Output, ...]:
        """The outputs of a transformation, translated when met first."""
        known = self._outputs.get(id(transformation))
        if known is None:
            known = _TRANSLATORS[type(transformation)](self, transformation)
            self._outputs[id(transformation)] = known
        return known

    def add_node(
        self,
        transformation: Transformation,
        spec: OperatorSpec,
        inputs: Iterable[Output],
        *,
        facts: dict[str, Any] | None = None,
    ) -> int:
        """Adds the operator that stands for ``transformation`` itself and connects its inputs."""
        parallelism, max_parallelism = self._parallelism(transformation)
        inputs = list(inputs)
        node = StreamNode(
            id=len(self._graph.nodes) + 1,
            uid=self._uids.assign(transformation.uid, spec, [self._origin(o) for o in inputs]),
            name=transformation.name,
            spec=spec,
            parallelism=parallelism,
            max_parallelism=max_parallelism,
            chaining=transformation.chaining if self.settings.chaining else "never",
            description=transformation.description,
            facts=facts or {},
        )
        self._connect(node, inputs)
        return node.id

    def add_helper(
        self,
        output: Output,
        spec: OperatorSpec,
        name: str,
        facts: dict[str, Any] | None = None,
    ) -> Output:
        """Adds an operator of the planner's own directly behind ``output``, in the same chain if possible."""
        source = self._graph.nodes[output.node]
        forward = replace(output, partitioning=None)
        node = StreamNode(
            id=len(self._graph.nodes) + 1,
            uid=self._uids.assign(None, spec, [self._origin(forward)]),
            name=name,
            spec=spec,
            parallelism=source.parallelism,
            max_parallelism=source.max_parallelism,
            chaining="always" if self.settings.chaining else "never",
            facts=facts or {},
        )
        self._connect(node, [forward])
        return replace(output, node=node.id, side=None)

    def as_columns(self, outputs: Iterable[Output]) -> list[Output]:
        """The same outputs in columns; where one carries rows a conversion is put behind it."""
        return [
            output
            if output.columnar
            else replace(
                self.add_helper(output, RowsToColumnsSpec(output.schema), "Rows To Columns"),
                columnar=True,
            )
            for output in outputs
        ]

    def _connect(self, node: StreamNode, inputs: list[Output]) -> None:
        self._graph.nodes[node.id] = node
        for output in inputs:
            source = self._graph.nodes[output.node]
            partitioning = output.partitioning
            if partitioning is None:
                same = source.parallelism == node.parallelism
                partitioning = Partitioning("forward" if same else "rebalance")
            elif partitioning.kind == "forward" and source.parallelism != node.parallelism:
                raise ValueError(
                    f"forward() does not allow a change of parallelism: {source.name!r} has {source.parallelism}, "
                    f"{node.name!r} has {node.parallelism}; use rebalance() or the same parallelism"
                )
            self._graph.edges.append(StreamEdge(source.id, node.id, output.side, partitioning))

    def _origin(self, output: Output) -> str:
        partitioning = output.partitioning
        exchange = "" if partitioning is None else f"{partitioning.kind}{partitioning.key_columns}"
        return f"{self._graph.nodes[output.node].uid}/{output.side}/{exchange}"

    def _parallelism(self, transformation: Transformation) -> tuple[int, int]:
        maximum = transformation.max_parallelism or self.settings.max_parallelism
        if transformation.non_parallel:
            return 1, maximum
        parallelism = transformation.parallelism or self.settings.parallelism
        if parallelism > maximum:
            raise ValueError(
                f"the parallelism of {transformation.name!r} is {parallelism}, but its max parallelism is {maximum}"
            )
        return parallelism, maximum


def keyed_outputs(
    generator: StreamGraphGenerator, outputs: Iterable[Output], keys: Keys, *, attach: bool = False
) -> list[Output]:
    """The outputs partitioned by key; ``attach``: with each row's encoded key, as the general window needs it."""
    if keys.columns is not None:
        outputs = generator.as_columns(outputs)
        if not attach:
            hashed = Partitioning("hash", keys.columns)
            return [replace(output, partitioning=hashed) for output in outputs]
    spec = KeySelectorSpec(keys.columns, keys.function, keys.lifecycle)
    return [
        replace(
            generator.add_helper(output, spec, "Key Selector"),
            partitioning=Partitioning("hash"),
            columnar=output.columnar and keys.columns is not None,
        )
        for output in outputs
    ]


@translator(SourceTransformation)
def _source(
    generator: StreamGraphGenerator, transformation: SourceTransformation
) -> tuple[Output, ...]:
    node = generator.add_node(transformation, transformation.spec, ())
    return (Output(node, None, transformation.schema, transformation.columnar),)


@translator(OperatorTransformation)
def _operator(
    generator: StreamGraphGenerator, transformation: OperatorTransformation
) -> tuple[Output, ...]:
    inputs: Iterable[Output] = generator.translate(transformation.inputs[0])
    if transformation.needs_columns:
        inputs = generator.as_columns(inputs)
    columnar = transformation.output == "columns"
    if transformation.output == "same":
        columnar = all(output.columnar for output in inputs)
    node = generator.add_node(transformation, transformation.spec, inputs)
    return (Output(node, None, transformation.schema, columnar),)


@translator(PartitionTransformation)
def _partition(
    generator: StreamGraphGenerator, transformation: PartitionTransformation
) -> tuple[Output, ...]:
    partitioning = Partitioning(transformation.kind)
    outputs = generator.translate(transformation.inputs[0])
    return tuple(replace(output, partitioning=partitioning) for output in outputs)


@translator(KeyedTransformation)
def _keyed(
    generator: StreamGraphGenerator, transformation: KeyedTransformation
) -> tuple[Output, ...]:
    outputs = generator.translate(transformation.inputs[0])
    return tuple(keyed_outputs(generator, outputs, transformation.keys))


@translator(UnionTransformation)
def _union(
    generator: StreamGraphGenerator, transformation: UnionTransformation
) -> tuple[Output, ...]:
    return tuple(o for part in transformation.inputs for o in generator.translate(part))


@translator(SideOutputTransformation)
def _side_output(
    generator: StreamGraphGenerator, transformation: SideOutputTransformation
) -> tuple[Output, ...]:
    origin = transformation.inputs[0]
    side = list(origin.sides).index(transformation.tag)
    (output,) = generator.translate(origin)
    # What an operator sends aside has the form of what it emits: the native window columns, the general one rows.
    return (replace(output, side=side, schema=transformation.schema),)
