"""Declared types as Arrow types, and back."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa

from penstock.common.typeinfo import (
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)

__all__ = ["SCALAR_METADATA", "arrow_type", "is_scalar_schema", "schema_of", "type_info_of"]

# On the only field of a stream of bare values: its elements are not rows.
SCALAR_METADATA = {b"penstock.scalar": b"1"}


@cache
def _basic_types() -> dict[str, pa.DataType]:
    return {
        "STRING": pa.string(),
        "CHAR": pa.string(),
        "BYTE": pa.int8(),
        "BOOLEAN": pa.bool_(),
        "SHORT": pa.int16(),
        "INT": pa.int32(),
        "LONG": pa.int64(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "BIG_INT": pa.decimal128(38, 0),
        "BIG_DEC": pa.decimal128(38, 18),
        "INSTANT": pa.timestamp("us", tz="UTC"),
        "SQL_DATE": pa.date32(),
        "SQL_TIME": pa.time64("us"),
        "SQL_TIMESTAMP": pa.timestamp("us"),
        "BINARY": pa.binary(),
    }


def arrow_type(type_info: TypeInformation) -> pa.DataType | None:
    """The Arrow type of one value; None when it holds arbitrary Python objects.

    >>> arrow_type(Types.LIST(Types.LONG()))
    ListType(list<item: int64>)
    """
    if isinstance(type_info, BasicTypeInfo):
        return _basic_types()[type_info.name]
    if isinstance(type_info, ListTypeInfo):
        item = arrow_type(type_info.element_type)
        return None if item is None else pa.list_(item)
    if isinstance(type_info, MapTypeInfo):
        key, value = arrow_type(type_info.key_type), arrow_type(type_info.value_type)
        return None if key is None or value is None else pa.map_(key, value)
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        fields = _fields(type_info)
        return None if fields is None else pa.struct(fields)
    if isinstance(type_info, PickledBytesTypeInfo):
        return None
    raise TypeError(f"not a type of penstock.common.Types: {type_info!r}")


def schema_of(type_info: TypeInformation | None) -> pa.Schema | None:
    """The columns of a stream of ``type_info``; None: a stream of Python objects.

    >>> schema_of(Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])).names
    ['id', 'name']
    """
    if type_info is None:
        return None
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        fields = _fields(type_info)
        return None if fields is None else pa.schema(fields)
    value_type = arrow_type(type_info)
    if value_type is None:
        return None
    return pa.schema([pa.field("f0", value_type, metadata=SCALAR_METADATA)])


def is_scalar_schema(schema: pa.Schema | None) -> bool:
    """Whether the stream's elements are bare values rather than rows."""
    if schema is None or len(schema) != 1:
        return False
    return (schema.field(0).metadata or {}).get(b"penstock.scalar") == b"1"


def type_info_of(schema: pa.Schema | None) -> TypeInformation:
    """The type information that describes a stream with these columns.

    >>> type_info_of(pa.schema([("id", pa.int64()), ("tags", pa.list_(pa.string()))]))
    ROW<id LONG, tags LIST<STRING>>
    """
    if schema is None:
        return Types.PICKLED_BYTE_ARRAY()
    if is_scalar_schema(schema):
        return _type_info(schema.field(0).type)
    return Types.ROW_NAMED(schema.names, [_type_info(field.type) for field in schema])


def _fields(type_info: RowTypeInfo | TupleTypeInfo) -> list[tuple[str, Any]] | None:
    types = [arrow_type(field_type) for field_type in type_info.field_types]
    if any(field_type is None for field_type in types):
        return None
    return list(zip(type_info.field_names, types, strict=True))


def _type_info(data_type: pa.DataType) -> TypeInformation:
    for name, basic in _basic_types().items():
        if basic == data_type:
            return BasicTypeInfo(name)
    if pa.types.is_struct(data_type):
        fields = [data_type.field(i) for i in range(data_type.num_fields)]
        return Types.ROW_NAMED([f.name for f in fields], [_type_info(f.type) for f in fields])
    if pa.types.is_map(data_type):
        return Types.MAP(_type_info(data_type.key_type), _type_info(data_type.item_type))
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        return Types.LIST(_type_info(data_type.value_type))
    for is_kind, name in (
        (pa.types.is_large_string, "STRING"),
        (pa.types.is_large_binary, "BINARY"),
        (pa.types.is_integer, "LONG"),
        (pa.types.is_floating, "DOUBLE"),
        (pa.types.is_decimal, "BIG_DEC"),
        (pa.types.is_date, "SQL_DATE"),
        (pa.types.is_time, "SQL_TIME"),
    ):
        if is_kind(data_type):
            return BasicTypeInfo(name)
    if pa.types.is_timestamp(data_type):
        return Types.INSTANT() if data_type.tz else Types.SQL_TIMESTAMP()
    return Types.PICKLED_BYTE_ARRAY()
