"""Process functions and rolling aggregates: their operators read rows that have their keys attached."""

from __future__ import annotations

from penstock.graph.specs import KeyedProcessSpec, KeyedReduceSpec, ProcessSpec
from penstock.graph.stream_graph_generator import (
    Output,
    StreamGraphGenerator,
    keyed_outputs,
    translator,
)
from penstock.graph.transformation import ProcessTransformation, RollingTransformation

__all__: list[str] = []


@translator(ProcessTransformation)
def _process(
    generator: StreamGraphGenerator, transformation: ProcessTransformation
) -> tuple[Output, ...]:
    function, sides = transformation.function, tuple(transformation.sides)
    inputs = list(generator.translate(transformation.inputs[0]))
    if transformation.keys is None:
        node = generator.add_node(transformation, ProcessSpec(function, sides), inputs)
    else:
        inputs = keyed_outputs(generator, inputs, transformation.keys, attach=True)
        node = generator.add_node(transformation, KeyedProcessSpec(function, sides), inputs)
    return (Output(node, None, transformation.schema, columnar=False),)


@translator(RollingTransformation)
def _rolling(
    generator: StreamGraphGenerator, transformation: RollingTransformation
) -> tuple[Output, ...]:
    assert transformation.function is not None, "a rolling aggregate has a function"
    inputs = keyed_outputs(
        generator,
        generator.translate(transformation.inputs[0]),
        transformation.keys,
        attach=True,
    )
    spec = KeyedReduceSpec(transformation.function, transformation.lifecycle)
    node = generator.add_node(transformation, spec, inputs)
    return (Output(node, None, transformation.schema, columnar=False),)
