"""Data as sources: collections of Python objects, and anything that speaks Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from penstock.common.arrow_types import schema_of
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.graph.specs import ArrowSourceSpec, CollectionSourceSpec
from penstock.graph.transformation import SourceTransformation

__all__ = ["arrow_source", "collection_source"]


def collection_source(
    collection: Iterable[Any], type_info: TypeInformation | None
) -> SourceTransformation:
    """A source of the elements of ``collection``, all checked against ``type_info``."""
    if hasattr(collection, "__arrow_c_stream__") and hasattr(collection, "columns"):
        kind = type(collection).__name__
        raise TypeError(f"from_collection() takes elements, not a {kind}; use from_arrow()")
    if isinstance(collection, (str, bytes)) or not isinstance(collection, Iterable):
        raise TypeError(f"from_collection() takes a collection of elements, not {collection!r}")
    items = list(collection)
    if type_info is not None:
        if not isinstance(type_info, TypeInformation):
            raise TypeError(
                f"type_info must be one of Types, such as Types.LONG(), not {type_info!r}"
            )
        for index, item in enumerate(items):
            wrong = type_info.mismatch(item)
            if wrong:
                raise TypeError(f"from_collection(): element {index}: {wrong}")
        if isinstance(type_info, RowTypeInfo):
            items = list(map(type_info.to_row, items))
    return SourceTransformation(
        "Source: Collection", (), schema_of(type_info), spec=CollectionSourceSpec(items)
    )


def arrow_source(data: Any) -> SourceTransformation:
    """A source of the rows of ``data``."""
    if not (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")):
        raise TypeError(
            f"from_arrow() takes Arrow data (pyarrow, pandas, Polars, DuckDB: anything with __arrow_c_stream__), "
            f"not {type(data).__name__}"
        )
    table = _with_plain_dictionaries(_table(data))
    names = table.schema.names
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"from_arrow(): the column {repeated[0]!r} is there twice")
    schema = pa.schema([_mapped_field(field, _without_views) for field in table.schema])
    if schema != table.schema:
        table = table.cast(schema)
    # The engine decodes dictionaries; its columns have the type of the values.
    fields = [_mapped_field(pa.field(f.name, f.type, f.nullable), _decoded) for f in schema]
    return SourceTransformation(
        "Source: Arrow", (), pa.schema(fields), spec=ArrowSourceSpec(table), columnar=True
    )


def _table(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    try:
        return pa.table(data)
    except pa.ArrowInvalid as error:
        if "non-struct" not in str(error):
            raise
        raise TypeError(
            f"from_arrow() takes rows, not a single column ({type(data).__name__}); put it into a table, "
            "or give its values to from_collection()"
        ) from error


def _with_plain_dictionaries(table: pa.Table) -> pa.Table:
    """The table with the values of dictionaries (of Polars' categories) in a plain layout, which Arrow can decode."""
    for number, field in enumerate(table.schema):
        if not pa.types.is_dictionary(field.type):
            continue
        values = _without_views(field.type.value_type)
        if values != field.type.value_type:
            chunks = [
                pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(values))
                for chunk in table.column(number).chunks
            ]
            kind = pa.dictionary(field.type.index_type, values)
            table = table.set_column(number, field.name, pa.chunked_array(chunks, kind))
    return table


def _decoded(data_type: pa.DataType) -> pa.DataType:
    return data_type.value_type if pa.types.is_dictionary(data_type) else data_type


def _without_views(data_type: pa.DataType) -> pa.DataType:
    """The type with Arrow's view layouts (Polars exports them) replaced by the plain ones."""
    kinds = pa.types
    if kinds.is_string_view(data_type):
        return pa.large_string()
    if kinds.is_binary_view(data_type):
        return pa.large_binary()
    if kinds.is_dictionary(data_type):
        values = _without_views(data_type.value_type)
        return data_type if values == data_type.value_type else values
    if (
        kinds.is_run_end_encoded(data_type)
        or kinds.is_list_view(data_type)
        or kinds.is_large_list_view(data_type)
    ):
        raise TypeError(f"the type {data_type} is not supported; cast it to a plain type first")
    return data_type


def _mapped_field(field: pa.Field, function: Callable[[pa.DataType], pa.DataType]) -> pa.Field:
    try:
        return field.with_type(_mapped(field.type, function))
    except TypeError as error:
        raise TypeError(f"column {field.name!r}: {error}") from None


def _mapped(data_type: pa.DataType, function: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """The type with ``function`` applied to it and to all types inside."""
    kinds = pa.types
    if kinds.is_struct(data_type):
        fields = [data_type.field(i) for i in range(data_type.num_fields)]
        return pa.struct([_mapped_field(field, function) for field in fields])
    if kinds.is_map(data_type):
        key, item = data_type.key_field, data_type.item_field
        return pa.map_(_mapped_field(key, function), _mapped_field(item, function))
    if kinds.is_fixed_size_list(data_type):
        return pa.list_(_mapped_field(data_type.value_field, function), data_type.list_size)
    if kinds.is_large_list(data_type):
        return pa.large_list(_mapped_field(data_type.value_field, function))
    if kinds.is_list(data_type):
        return pa.list_(_mapped_field(data_type.value_field, function))
    return function(data_type)
