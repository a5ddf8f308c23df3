"""The pipeline under test as a graph: a scripted source for each input, a collect sink for each output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from penstock.common.arrow_types import schema_of
from penstock.common.configuration import Configuration
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.data_stream import DataStream
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.graph.job_graph import JobGraph
from penstock.graph.specs import CollectSinkSpec, ScriptedSourceSpec
from penstock.graph.transformation import (
    OperatorTransformation,
    SideOutputTransformation,
    SourceTransformation,
    Transformation,
)

__all__ = ["OUTPUT", "build_pipeline", "input_uid"]

# The uid of the sink of the main output.
OUTPUT = "harness-output"


def input_uid(number: int) -> str:
    """The uid of the source of an input."""
    return f"harness-input-{number}"


def build_pipeline(
    pipeline: Callable[..., DataStream], inputs: Sequence[Any], configuration: Configuration | None
) -> tuple[JobGraph, dict[str, list[str]]]:
    """The graph, and the uids of the sinks of each side output by its tag."""
    if not callable(pipeline):
        raise TypeError(
            "the pipeline is a function of streams that returns a stream, such as "
            f"lambda stream: stream.map(function), not {pipeline!r}"
        )
    environment = StreamExecutionEnvironment(configuration).set_parallelism(1)
    streams = [_input_stream(environment, n, declared) for n, declared in enumerate(inputs)]
    result = pipeline(*streams)
    if not isinstance(result, DataStream):
        raise TypeError(f"the pipeline must return a DataStream, not {result!r}")
    _collect(environment, result._transformation, OUTPUT)
    sides: dict[str, list[str]] = {}
    for place, transformation in enumerate(_ancestors(result._transformation)):
        for tag, schema in transformation.sides.items():
            side = SideOutputTransformation(f"Side {tag}", (transformation,), schema, tag=tag)
            uid = f"{OUTPUT}-{place}-{tag}"
            _collect(environment, side, uid)
            sides.setdefault(tag, []).append(uid)
    return environment.get_job_graph("harness"), sides


def _input_stream(
    environment: StreamExecutionEnvironment, number: int, declared: Any
) -> DataStream:
    columnar = isinstance(declared, pa.Schema)
    if not (declared is None or columnar or isinstance(declared, TypeInformation)):
        raise TypeError(f"an input is one of Types, a pyarrow.Schema or None, not {declared!r}")
    source = SourceTransformation(
        f"Input {number}",
        (),
        declared if columnar else schema_of(declared),
        uid=input_uid(number),
        chaining="never",  # alone in its vertex, so that the driver can feed what is behind it
        spec=ScriptedSourceSpec(()),
        columnar=columnar,
    )
    return DataStream(environment, source)


def _collect(
    environment: StreamExecutionEnvironment, transformation: Transformation, uid: str
) -> None:
    sink = OperatorTransformation(
        "Output", (transformation,), None, uid=uid, chaining="never", spec=CollectSinkSpec(uid)
    )
    environment._add_operator(sink)


def _ancestors(transformation: Transformation) -> Iterator[Transformation]:
    """The transformation and all that feeds it, each once."""
    seen: set[int] = set()
    waiting = [transformation]
    while waiting:
        found = waiting.pop()
        if id(found) not in seen:
            seen.add(id(found))
            waiting.extend(found.inputs)
            yield found
