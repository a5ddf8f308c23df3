"""Settings as key/value pairs, under Flink's keys where Flink has one."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from penstock.common.time import to_milliseconds

__all__ = ["Configuration"]

_TRUE = {"true": True, "false": False}

T = TypeVar("T")


def _to_int(value: Any) -> int:
    if isinstance(value, (bool, float)):
        raise TypeError(value)
    return int(value)


class Configuration:
    """Key/value pairs; a value is kept as it was given and converted by the getter.

    >>> configuration = Configuration()
    >>> configuration.set_integer("parallelism.default", 4).get_integer("parallelism.default", 1)
    4
    >>> configuration.set_string("execution.checkpointing.interval", "10 s").get_duration_ms(
    ...     "execution.checkpointing.interval", 0)
    10000
    """

    def __init__(self, other: Configuration | Mapping[str, Any] | None = None) -> None:
        self._values: dict[str, Any] = {}
        if other is not None:
            self.add_all(other)

    def set(self, key: str, value: Any) -> Configuration:
        """Sets a value of any type."""
        if not isinstance(key, str):
            raise TypeError(f"a configuration key is a str, not {key!r}")
        self._values[key] = value
        return self

    def get(self, key: str, default_value: Any = None) -> Any:
        """The value as it was set."""
        return self._values.get(key, default_value)

    @overload
    def get_string(self, key: str, default_value: str) -> str: ...
    @overload
    def get_string(self, key: str, default_value: None) -> str | None: ...
    def get_string(self, key: str, default_value: str | None) -> str | None:
        return str(self._values[key]) if key in self._values else default_value

    def set_string(self, key: str, value: str) -> Configuration:
        return self.set(key, value)

    def get_integer(self, key: str, default_value: int) -> int:
        return self._converted(key, default_value, _to_int, "an integer")

    def set_integer(self, key: str, value: int) -> Configuration:
        return self.set(key, value)

    def get_boolean(self, key: str, default_value: bool) -> bool:
        value = self._values.get(key, default_value)
        found = value if isinstance(value, bool) else _TRUE.get(str(value).strip().lower())
        if found is None:
            raise ValueError(f"{key}: {value!r} is not true or false")
        return found

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self.set(key, value)

    def get_float(self, key: str, default_value: float) -> float:
        return self._converted(key, default_value, float, "a number")

    def set_float(self, key: str, value: float) -> Configuration:
        return self.set(key, value)

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        return bytearray(self._values.get(key, default_value))

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        return self.set(key, bytes(value))

    def get_duration_ms(self, key: str, default_value: int) -> int:
        """A duration in milliseconds; the value may be a number or a text such as ``"10 s"``."""
        return to_milliseconds(self._values.get(key, default_value), key)

    def key_set(self) -> builtins.set[str]:
        """All keys."""
        return set(self._values)

    def contains_key(self, key: str) -> bool:
        return key in self._values

    def add_all(
        self, other: Configuration | Mapping[str, Any], prefix: str | None = None
    ) -> Configuration:
        """Takes over all of ``other``, its keys behind ``prefix`` if there is one."""
        if not isinstance(other, (Configuration, Mapping)):
            raise TypeError(f"a Configuration or a dict is needed, not {other!r}")
        values = other._values if isinstance(other, Configuration) else other
        for key, value in values.items():
            self.set(f"{prefix}{key}" if prefix else key, value)
        return self

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        target_dict.update(self._values)

    def remove_config(self, key: str) -> bool:
        """Removes a key; says whether it was there."""
        return self._values.pop(key, self) is not self

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dict."""
        return dict(self._values)

    def _converted(self, key: str, default_value: T, convert: Callable[[Any], T], what: str) -> T:
        value = self._values.get(key, default_value)
        try:
            return convert(value)
        except (TypeError, ValueError):
            raise ValueError(f"{key}: {value!r} is not {what}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Configuration({self._values})"
