"""Process functions: the checks that are possible when a job is built, and their side outputs."""

from __future__ import annotations

from typing import Any

from penstock.common.arrow_types import schema_of
from penstock.datastream.functions import KeyedProcessFunction, ProcessFunction
from penstock.datastream.output_tag import OutputTag
from penstock.graph.transformation import ProcessTransformation

__all__ = ["check_process_function", "request_side_output"]

_HOMES: dict[type, str] = {
    KeyedProcessFunction: "a keyed stream: key_by(...).process(...)",
    ProcessFunction: "a stream without keys",
}


def check_process_function(function: Any, kind: type) -> None:
    """Raises TypeError unless ``function`` is of ``kind``, one of the two kinds of process function."""
    if not isinstance(function, kind):
        advice = next(
            (f", for {home}" for k, home in _HOMES.items() if isinstance(function, k)), ""
        )
        raise TypeError(f"process() takes a {kind.__name__} object here, not {function!r}{advice}")
    if kind is ProcessFunction and hasattr(function, "on_timer"):
        raise TypeError(
            f"process(): {type(function).__name__} has on_timer(), but without a key there are no timers; "
            f"make it a KeyedProcessFunction, for {_HOMES[KeyedProcessFunction]}"
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
