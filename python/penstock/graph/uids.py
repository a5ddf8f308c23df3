"""Operator uids: the user's, or one that the same program gets again in every run.

A generated uid depends on the kind of operator, on the uids of what feeds it, and on how many operators with the
same kind and inputs were met before. Operators elsewhere in the job do not change it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from penstock.graph.specs import OperatorSpec

__all__ = ["UidAssigner"]


class UidAssigner:
    """Assigns the uids of one graph."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._taken: set[str] = set()

    def assign(self, uid: str | None, spec: OperatorSpec, origins: Sequence[str]) -> str:
        """``uid`` itself, checked to be unique, or a generated one. ``origins`` identify the inputs."""
        if uid is None:
            uid = self._generate(type(spec).__name__.removesuffix("Spec"), origins)
        if uid in self._taken:
            raise ValueError(
                f"the uid {uid!r} is used by two operators; a uid must be unique in a job"
            )
        self._taken.add(uid)
        return uid

    def _generate(self, kind: str, origins: Sequence[str]) -> str:
        position = "\n".join([kind, *origins])
        ordinal = self._seen[position]
        self._seen[position] += 1
        digest = hashlib.sha256(f"{position}\n{ordinal}".encode()).hexdigest()
        return f"{kind}-{digest[:16]}"
