"""Chooses the operators of a window and says why.

========================================  ==========================================================
built-in aggregates                       sliced, pre-aggregated before the exchange by key columns
... with late records to a side output    sliced, without pre-aggregation: late rows must stay rows
... keyed by a function                   not possible: there is no key column to emit
reduce, aggregate, sum/min/max(field)     general, one Python accumulator per key and window
========================================  ==========================================================
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.graph.job_graph import Partitioning
from penstock.graph.specs import GeneralWindowSpec, LocalWindowSpec, SlicedWindowSpec
from penstock.graph.stream_graph_generator import (
    Output,
    StreamGraphGenerator,
    keyed_outputs,
    translator,
)
from penstock.graph.transformation import WindowTransformation

__all__: list[str] = []


@translator(WindowTransformation)
def _window(
    generator: StreamGraphGenerator, transformation: WindowTransformation
) -> tuple[Output, ...]:
    if not transformation.aggregates:
        return _general(generator, transformation)
    if transformation.late_tag is None:
        return _sliced_in_two_phases(generator, transformation)
    return _sliced(generator, transformation)


def _common(generator: StreamGraphGenerator, window: WindowTransformation) -> dict[str, Any]:
    """The fields that the local and the final operator share."""
    return {
        "keys": _key_columns(window),
        "size_ms": window.size_ms,
        "offset_ms": window.offset_ms,
        "aggregates": window.aggregates,
        "schema": window.inputs[0].schema,
        "overflow": generator.settings.sum_overflow,
    }


def _sliced_in_two_phases(
    generator: StreamGraphGenerator, window: WindowTransformation
) -> tuple[Output, ...]:
    common = _common(generator, window)
    partials = [
        replace(
            generator.add_helper(output, LocalWindowSpec(**common), f"Local {window.name}"),
            partitioning=_exchange(window),
        )
        for output in generator.as_columns(generator.translate(window.inputs[0]))
    ]
    reason = "built-in aggregates, default trigger, no lateness; pre-aggregated before the exchange"
    spec = SlicedWindowSpec(**common, partial=True)
    node = generator.add_node(window, spec, partials, facts=_facts("sliced", reason))
    return (Output(node, None, window.schema, columnar=True),)


def _sliced(generator: StreamGraphGenerator, window: WindowTransformation) -> tuple[Output, ...]:
    inputs = [
        replace(output, partitioning=_exchange(window))
        for output in generator.as_columns(generator.translate(window.inputs[0]))
    ]
    reason = (
        "built-in aggregates, default trigger, no lateness; "
        "not pre-aggregated: late rows go to a side output as they are"
    )
    spec = SlicedWindowSpec(**_common(generator, window), late_side=0)
    node = generator.add_node(window, spec, inputs, facts=_facts("sliced", reason))
    return (Output(node, None, window.schema, columnar=True),)


def _general(generator: StreamGraphGenerator, window: WindowTransformation) -> tuple[Output, ...]:
    inputs = list(generator.translate(window.inputs[0]))
    if window.keys is None:
        inputs = [replace(output, partitioning=_exchange(window)) for output in inputs]
    else:
        inputs = keyed_outputs(generator, inputs, window.keys, attach=True)
    assert window.aggregator is not None, "a window without built-in aggregates has an aggregator"
    spec = GeneralWindowSpec(
        size_ms=window.size_ms,
        offset_ms=window.offset_ms,
        allowed_lateness_ms=window.allowed_lateness_ms,
        aggregator=window.aggregator,
        window_function=window.window_function,
        window_all=window.keys is None,
        late_side=None if window.late_tag is None else 0,
        lifecycles=window.lifecycles,
    )
    reason = f"{window.aggregator[0]} with a Python function"
    node = generator.add_node(window, spec, inputs, facts=_facts("general", reason))
    return (Output(node, None, window.schema, columnar=False),)


def _exchange(window: WindowTransformation) -> Partitioning:
    if window.keys is None:
        return Partitioning("global")
    return Partitioning("hash", _key_columns(window))


def _key_columns(window: WindowTransformation) -> tuple[str, ...]:
    if window.keys is None:
        return ()
    assert window.keys.columns is not None, "built-in aggregates are checked to have key columns"
    return window.keys.columns


def _facts(operator: str, reason: str) -> dict[str, Any]:
    return {"window_operator": operator, "reason": reason}
