"""Copies of user functions: one for each subtask.

A Function object has state of its own (it is opened and closed), so each subtask gets a copy, as it would on a
cluster. A plain callable is shared. What belongs together is copied together: a bound method and its object stay one.
"""

from __future__ import annotations

import pickle
from typing import Any, TypeVar

from penstock.graph.job_graph import ChainedOperator

__all__ = ["FunctionCopies"]

T = TypeVar("T", bound=tuple[Any, ...])


class FunctionCopies:
    """Makes the copies of one job; each operator's functions are pickled once."""

    def __init__(self) -> None:
        self._pickles: dict[str, bytes] = {}

    def copy(self, operator: ChainedOperator, parts: T, *lifecycles: Any) -> T:
        """``parts`` for one subtask: a copy if there is a Function among ``lifecycles``, else themselves."""
        if all(lifecycle is None for lifecycle in lifecycles):
            return parts
        if operator.uid not in self._pickles:
            self._pickles[operator.uid] = _pickled(operator, parts, lifecycles)
        copied: T = pickle.loads(self._pickles[operator.uid])
        return copied


def _pickled(
    operator: ChainedOperator, parts: tuple[Any, ...], lifecycles: tuple[Any, ...]
) -> bytes:
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps(parts)
    except Exception as error:
        kinds = ", ".join(type(one).__name__ for one in lifecycles if one is not None)
        raise TypeError(
            f"operator {operator.name!r} ({operator.uid}): its function ({kinds}) cannot be copied for the subtasks, "
            f"because it does not pickle: {error}; make connections, locks and open files in open(), "
            "not in __init__()"
        ) from error
    return pickled
