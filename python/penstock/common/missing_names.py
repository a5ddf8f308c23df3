"""Names that PyFlink has and Penstock has not: asking for one says so, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["SaysWhatIsMissing"]


class SaysWhatIsMissing:
    """Base of classes whose AttributeErrors give advice. ``_missing``: name -> advice; '': none but to wait.

    >>> class Stream(SaysWhatIsMissing):
    ...     _missing = {"shuffle": "use rebalance()"}
    >>> Stream().shuffle
    Traceback (most recent call last):
    AttributeError: Stream.shuffle is not there yet: use rebalance()
    """

    _missing: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # A type checker is to find these names missing.

        def __getattr__(self, name: str) -> Any:
            """Reached only by names that are no attribute."""
            kind = type(self)
            advice = next((c._missing[name] for c in kind.__mro__ if name in _own(c)), None)
            if advice is None:
                text = f"{kind.__name__!r} object has no attribute {name!r}"
            else:
                text = f"{kind.__name__}.{name} is not there yet{': ' if advice else ''}{advice}"
            # With the name and the object, tracebacks suggest a name that is alike.
            raise AttributeError(text, name=name, obj=self)


def _own(kind: type) -> Mapping[str, str]:
    found: Mapping[str, str] = vars(kind).get("_missing", {})
    return found
