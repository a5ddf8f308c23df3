"""Declared types of a stream's elements: ``Types`` makes them, ``TypeInformation`` is what they are.

A stream with a declared type can be worked on by columns; one without carries any Python objects.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from penstock.common.row import Row

__all__ = [
    "BasicTypeInfo",
    "ListTypeInfo",
    "MapTypeInfo",
    "PickledBytesTypeInfo",
    "RowTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
]


class TypeInformation(ABC):
    """The type of an element. Equal when written equally.

    >>> Types.ROW_NAMED(["id", "price"], [Types.LONG(), Types.DOUBLE()])
    ROW<id LONG, price DOUBLE>
    """

    @abstractmethod
    def mismatch(self, value: Any) -> str | None:
        """What is wrong with ``value`` as an element of this type; None: nothing. None fits every type."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeInformation) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class PickledBytesTypeInfo(TypeInformation):
    """Any Python object: what a stream has when no type is declared."""

    def mismatch(self, value: Any) -> str | None:
        return None

    def __repr__(self) -> str:
        return "PICKLED_BYTE_ARRAY"


_INT_BITS = {"BYTE": 8, "SHORT": 16, "INT": 32, "LONG": 64}
_CLASSES: dict[str, tuple[Any, ...]] = {
    "BOOLEAN": (bool,),
    "STRING": (str,),
    "CHAR": (str,),
    "FLOAT": (numbers.Real,),
    "DOUBLE": (numbers.Real,),
    "BIG_INT": (numbers.Integral,),
    "BIG_DEC": (decimal.Decimal, numbers.Integral),
    "INSTANT": (datetime.datetime,),
    "SQL_TIMESTAMP": (datetime.datetime,),
    "SQL_DATE": (datetime.date,),
    "SQL_TIME": (datetime.time,),
    "BINARY": (bytes, bytearray, memoryview),
    **dict.fromkeys(_INT_BITS, (numbers.Integral,)),
}


class BasicTypeInfo(TypeInformation):
    """A type of single values, known by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def mismatch(self, value: Any) -> str | None:
        if value is None:
            return None
        fits = isinstance(value, _CLASSES[self.name])
        if isinstance(value, bool) and self.name != "BOOLEAN":
            fits = False  # Python's bool is an int, a BOOLEAN is not.
        if isinstance(value, datetime.datetime) and self.name == "SQL_DATE":
            fits = False
        if not fits:
            return f"{_shown(value)} is of type {type(value).__name__}, declared is {self}"
        bits = _INT_BITS.get(self.name)
        if bits and not -(1 << (bits - 1)) <= int(value) < 1 << (bits - 1):
            return f"{_shown(value)} does not fit into {self} ({bits} bits)"
        return None

    def __repr__(self) -> str:
        return self.name


class _ProductTypeInfo(TypeInformation):
    """Fields side by side, with names (f0, f1, ... unless given)."""

    _label = ""

    def __init__(
        self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None
    ) -> None:
        names = list(field_names or [f"f{i}" for i in range(len(field_types))])
        for field_type in field_types:
            if not isinstance(field_type, TypeInformation):
                raise TypeError(
                    f"a field type is one of Types, such as Types.LONG(): {field_type!r}"
                )
        if len(names) != len(field_types):
            raise ValueError(f"{len(names)} field names for {len(field_types)} field types")
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"field names must be unique, but these repeat: {repeated}")
        self.field_types = list(field_types)
        self.field_names = names

    def get_field_names(self) -> list[str]:
        return list(self.field_names)

    def get_field_types(self) -> list[TypeInformation]:
        return list(self.field_types)

    def mismatch(self, value: Any) -> str | None:
        if value is None:
            return f"None is not a {self._label}"
        values = self._values(value)
        if isinstance(values, str):
            return values
        for name, field_type, field in zip(self.field_names, self.field_types, values, strict=True):
            wrong = field_type.mismatch(field)
            if wrong:
                return f"field {name!r}: {wrong}"
        return None

    def _values(self, value: Any) -> Sequence[Any] | str:
        """The fields of ``value`` in order, or what is wrong."""
        if isinstance(value, dict):
            return self._values_by_name(value)
        if not isinstance(value, (tuple, list, Row)):
            return f"{_shown(value)} is of type {type(value).__name__}, declared is {self}"
        values = list(value)
        if len(values) != len(self.field_types):
            return f"{_shown(value)} has {len(values)} fields, declared is {self}"
        return values

    def _values_by_name(self, value: dict[str, Any]) -> Sequence[Any] | str:
        missing = [name for name in self.field_names if name not in value]
        if missing:
            return f"{_shown(value)} has no field {missing[0]!r}, declared is {self}"
        unknown = [name for name in value if name not in self.field_names]
        if unknown:
            return f"{_shown(value)} has an undeclared field {unknown[0]!r}, declared is {self}"
        return [value[name] for name in self.field_names]


class RowTypeInfo(_ProductTypeInfo):
    """Rows: elements are Row, tuple, list or (by name) dict. A Row with these names is read by name too."""

    _label = "ROW"

    def __init__(
        self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None
    ) -> None:
        super().__init__(field_types, field_names)
        self._make_row = Row(*self.field_names)

    def to_row(self, value: Any) -> Row:
        """An element without a mismatch as a Row of this type.

        >>> Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.LONG()]).to_row(Row(b=2, a=1))
        Row(a=1, b=2)
        """
        if isinstance(value, (dict, Row)):
            value = self._values(value)
        return self._make_row(*value)

    def _values(self, value: Any) -> Sequence[Any] | str:
        if isinstance(value, Row) and value._is_read_by_name(self.field_names):
            return self._values_by_name(value.as_dict())
        return super()._values(value)

    def __repr__(self) -> str:
        pairs = zip(self.field_names, self.field_types, strict=True)
        return f"ROW<{', '.join(f'{name} {field_type}' for name, field_type in pairs)}>"


class TupleTypeInfo(_ProductTypeInfo):
    """Tuples."""

    _label = "TUPLE"

    def __repr__(self) -> str:
        return f"TUPLE<{', '.join(map(repr, self.field_types))}>"


class ListTypeInfo(TypeInformation):
    """Lists (Flink's primitive, basic and object arrays too) of one element type."""

    def __init__(self, element_type: TypeInformation) -> None:
        self.element_type = element_type

    def mismatch(self, value: Any) -> str | None:
        if value is None:
            return None
        if isinstance(value, (str, bytes, dict)) or not isinstance(value, Sequence):
            return f"{_shown(value)} is of type {type(value).__name__}, declared is {self}"
        found = ((i, self.element_type.mismatch(item)) for i, item in enumerate(value))
        return next((f"item {i}: {wrong}" for i, wrong in found if wrong), None)

    def __repr__(self) -> str:
        return f"LIST<{self.element_type}>"


class MapTypeInfo(TypeInformation):
    """Dicts of one key type and one value type."""

    def __init__(self, key_type: TypeInformation, value_type: TypeInformation) -> None:
        self.key_type = key_type
        self.value_type = value_type

    def mismatch(self, value: Any) -> str | None:
        if value is None:
            return None
        if not isinstance(value, dict):
            return f"{_shown(value)} is of type {type(value).__name__}, declared is {self}"
        for key, item in value.items():
            wrong = self.key_type.mismatch(key) or self.value_type.mismatch(item)
            if wrong:
                return f"entry {_shown(key)}: {wrong}"
        return None

    def __repr__(self) -> str:
        return f"MAP<{self.key_type}, {self.value_type}>"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _basic(name: str) -> Callable[[], BasicTypeInfo]:
    def make() -> BasicTypeInfo:
        return BasicTypeInfo(name)

    make.__name__ = name
    return make


class Types:
    """Makes type information; the names are PyFlink's.

    >>> Types.TUPLE([Types.STRING(), Types.INT()])
    TUPLE<STRING, INT>
    """

    STRING = staticmethod(_basic("STRING"))
    BYTE = staticmethod(_basic("BYTE"))
    BOOLEAN = staticmethod(_basic("BOOLEAN"))
    SHORT = staticmethod(_basic("SHORT"))
    INT = staticmethod(_basic("INT"))
    LONG = staticmethod(_basic("LONG"))
    FLOAT = staticmethod(_basic("FLOAT"))
    DOUBLE = staticmethod(_basic("DOUBLE"))
    CHAR = staticmethod(_basic("CHAR"))
    BIG_INT = staticmethod(_basic("BIG_INT"))
    BIG_DEC = staticmethod(_basic("BIG_DEC"))
    INSTANT = staticmethod(_basic("INSTANT"))
    SQL_DATE = staticmethod(_basic("SQL_DATE"))
    SQL_TIME = staticmethod(_basic("SQL_TIME"))
    SQL_TIMESTAMP = staticmethod(_basic("SQL_TIMESTAMP"))

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:  # noqa: N802
        """Any Python object; the default."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:  # noqa: N802
        """Rows whose fields are called f0, f1, ..."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(  # noqa: N802
        field_names: Sequence[str], field_types: Sequence[TypeInformation]
    ) -> RowTypeInfo:
        """Rows with named fields."""
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:  # noqa: N802
        """Tuples; as columns their fields are called f0, f1, ..."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation:  # noqa: N802
        """Numbers in a list; of BYTE: bytes."""
        if element_type == Types.BYTE():
            return BasicTypeInfo("BINARY")
        return ListTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:  # noqa: N802
        return ListTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:  # noqa: N802
        return ListTypeInfo(element_type)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:  # noqa: N802
        return ListTypeInfo(element_type_info)

    @staticmethod
    def MAP(  # noqa: N802
        key_type_info: TypeInformation, value_type_info: TypeInformation
    ) -> TypeInformation:
        return MapTypeInfo(key_type_info, value_type_info)
