"""Process functions as transformations, with the checks that are possible when a job is built."""

from __future__ import annotations

from typing import Any

from penstock.common.arrow_types import schema_of
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.column_operations import declared_type
from penstock.datastream.functions import Function, KeyedProcessFunction, ProcessFunction
from penstock.datastream.output_tag import OutputTag
from penstock.graph.transformation import Keys, ProcessTransformation, Transformation

__all__ = ["keyed_process_transformation", "process_transformation", "request_side_output"]


def process_transformation(
    source: Transformation, function: Any, output_type: TypeInformation | None
) -> ProcessTransformation:
    """A ProcessFunction over a stream without keys."""
    _check(function, ProcessFunction, KeyedProcessFunction, "a keyed stream: key_by(...).process()")
    if hasattr(function, "on_timer"):
        raise TypeError(
            f"process(): {type(function).__name__} has on_timer(), but without a key there are no timers; "
            "make it a KeyedProcessFunction, for key_by(...).process()"
        )
    return ProcessTransformation("Process", (source,), _schema(output_type), function=function)


def keyed_process_transformation(
    source: Transformation,
    keys: Keys,
    function: Any,
    output_type: TypeInformation | None,
) -> ProcessTransformation:
    """A KeyedProcessFunction over a keyed stream; ``source`` is the stream before it was keyed."""
    _check(function, KeyedProcessFunction, ProcessFunction, "a stream without keys")
    return ProcessTransformation(
        "Keyed Process", (source,), _schema(output_type), function=function, keys=keys
    )


def request_side_output(transformation: ProcessTransformation, tag: OutputTag) -> None:
    """Makes ``tag`` one of the side outputs of a process function."""
    schema = schema_of(tag.type_info)
    known = transformation.sides.setdefault(tag.tag_id, schema)
    if (known is None) != (schema is None) or (
        known is not None and not known.equals(schema, check_metadata=True)
    ):
        raise ValueError(
            f"{transformation.name!r} has a side output {tag.tag_id!r} of another type; "
            "the ids of its side outputs must be unique"
        )


def _schema(output_type: TypeInformation | None) -> Any:
    return schema_of(declared_type((), output_type, "process()"))


def _check(function: Any, kind: type[Function], other: type[Function], home: str) -> None:
    if isinstance(function, kind):
        return
    if isinstance(function, other):
        raise TypeError(
            f"process() takes a {kind.__name__} here; {type(function).__name__} is a {other.__name__}, for {home}"
        )
    raise TypeError(f"process() takes a {kind.__name__} object, not {function!r}")
