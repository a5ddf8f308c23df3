"""Names of side outputs."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.typeinfo import TypeInformation

__all__ = ["OutputTag"]


@dataclass(frozen=True)
class OutputTag:
    """A side output, known by its id.

    >>> OutputTag("late-data").tag_id
    'late-data'
    """

    tag_id: str
    type_info: TypeInformation | None = None

    def __post_init__(self) -> None:
        if not self.tag_id or not isinstance(self.tag_id, str):
            raise ValueError(
                f"the id of an OutputTag must be a text that is not empty: {self.tag_id!r}"
            )
