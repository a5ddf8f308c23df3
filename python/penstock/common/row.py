"""Row: a tuple whose fields can have names."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, SupportsIndex, cast, overload

__all__ = ["Row"]


class Row(tuple[Any, ...]):
    """An immutable record; fields are reached by position, by name, or as attributes.

    >>> row = Row(name="Alice", age=11)
    >>> row
    Row(name='Alice', age=11)
    >>> row.name, row["age"], row[0]
    ('Alice', 11, 'Alice')

    Without names it is a plain tuple of values:

    >>> Row("Alice", 11)
    Row('Alice', 11)
    >>> Row("Alice", 11) == ("Alice", 11)
    True

    A row of names makes rows that have these names, as in PyFlink:

    >>> Person = Row("name", "age")
    >>> Person("Alice", 11)
    Row(name='Alice', age=11)

    Rows are tuples: names do not take part in comparison, and a row can be a key.
    """

    __slots__ = ()

    # Each combination of names has its own subclass (see _row_type); None: no names.
    _fields: Final[tuple[str, ...] | None] = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Row:  # noqa: PYI034 (the subclass with these names)
        if args and kwargs:
            raise ValueError("a Row takes either positional or named values, not both")
        if kwargs:
            return tuple.__new__(_row_type(tuple(kwargs)), kwargs.values())
        return tuple.__new__(Row, args)

    def __call__(self, *args: Any) -> Row:
        """A row of these values, named by this row's own values."""
        names = tuple(self)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"only a Row of field names can make rows, {self!r} is none")
        if len(args) != len(names):
            raise ValueError(f"expected {len(names)} values for {names}, got {len(args)}: {args}")
        return tuple.__new__(_row_type(names), args)

    @overload
    def __getitem__(self, key: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> Any:
        if isinstance(key, str):
            return tuple.__getitem__(self, self._index_of(key))
        return tuple.__getitem__(self, key)

    def __getattr__(self, name: str) -> Any:
        # Reached only by names that are no attribute of the row's type.
        if self._fields is not None and name in self._fields:
            return tuple.__getitem__(self, self._fields.index(name))
        raise AttributeError(f"Row has no field {name!r}; {self._describe_fields()}")

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The fields by name; with ``recursive`` also those of rows inside.

        >>> Row(key=1, value=Row(name="a", age=2)).as_dict(recursive=True)
        {'key': 1, 'value': {'name': 'a', 'age': 2}}
        """
        if self._fields is None:
            raise TypeError(f"{self!r} has no field names")
        values = (_to_dict(value) for value in self) if recursive else iter(self)
        return dict(zip(self._fields, values, strict=True))

    def get_fields_by_names(self, names: Sequence[str]) -> tuple[Any, ...]:
        """The values of the named fields, in the order asked for."""
        return tuple(self[name] for name in names)

    def set_field_names(self, field_names: Iterable[str]) -> None:
        """Gives the fields names; the values stay.

        >>> row = Row("Alice", 11)
        >>> row.set_field_names(["name", "age"])
        >>> row
        Row(name='Alice', age=11)
        """
        names = tuple(field_names)
        if len(names) != len(self):
            raise ValueError(f"{len(names)} names for {len(self)} fields: {names}")
        self.__class__ = _row_type(names)

    def set_field(self, position: int, value: Any) -> None:
        """Refused: rows are immutable."""
        raise TypeError(_IMMUTABLE)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(_IMMUTABLE)

    def __reduce__(self) -> tuple[Callable[..., Row], tuple[Any, ...]]:
        return _make_row, (self._fields, tuple(self))

    def __repr__(self) -> str:
        if self._fields is None:
            return f"Row({', '.join(map(repr, self))})"
        pairs = zip(self._fields, self, strict=True)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    @classmethod
    def _is_read_by_name(cls, names: Sequence[str]) -> bool:
        """Whether rows of this type are read by name where rows of ``names`` are declared.

        They are unless the names stand in that order, or are all different: then positions count.
        """
        fields = cls._fields
        if fields is None or fields == tuple(names):
            return False
        return not set(fields).isdisjoint(names)

    def _index_of(self, name: str) -> int:
        if self._fields is None or name not in self._fields:
            raise KeyError(f"Row has no field {name!r}; {self._describe_fields()}")
        return self._fields.index(name)

    def _describe_fields(self) -> str:
        if self._fields is None:
            return "its fields have no names"
        return f"its fields are {', '.join(self._fields)}"


_IMMUTABLE = "a Row is immutable; make a new one, for example Row(**{**row.as_dict(), 'x': 1})"

# Fields of these names are reached by row["name"] only. `count` and `index` of tuple give way.
_RESERVED = frozenset(vars(Row)) - {"count", "index"}


def _field_getter(position: int) -> Any:
    """A descriptor for the field at this position."""
    native = getattr(collections, "_tuplegetter", None)  # what namedtuple uses, ten times as fast
    if native is not None:
        return native(position, f"Field {position}.")
    return property(lambda row: tuple.__getitem__(row, position))


@lru_cache(maxsize=4096)
def _row_type(names: tuple[str, ...]) -> type[Row]:
    """The subclass of Row for these field names; the compiled core makes rows of it directly."""
    namespace: dict[str, Any] = {"__slots__": (), "_fields": names, "__module__": Row.__module__}
    for position, name in reversed(list(enumerate(names))):
        if name not in _RESERVED and not name.startswith("__"):
            namespace[name] = _field_getter(position)
    return cast("type[Row]", type("Row", (Row,), namespace))


def _make_row(names: tuple[str, ...] | None, values: Iterable[Any]) -> Row:
    return tuple.__new__(Row if names is None else _row_type(names), values)


def _to_dict(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(recursive=True)
    if isinstance(value, list):
        return [_to_dict(item) for item in value]
    if isinstance(value, dict):
        return {key: _to_dict(item) for key, item in value.items()}
    return value
