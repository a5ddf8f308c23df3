"""Arrow's types and Spark's: what a DataFrame's columns are to a stream, and a stream's to a DataFrame.

Spark has fewer types than Arrow. On the way to Spark unsigned integers become the next wider signed ones (uint64: a
decimal), all times have microseconds (time of day: nanoseconds), dictionaries and views become plain. A value that
Spark cannot hold, such as a timestamp with nanoseconds, is an error and not cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

__all__ = ["cast_batch", "schema_of_dataframe", "spark_columns", "spark_schema"]

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
}


def schema_of_dataframe(dataframe: DataFrame) -> pa.Schema:
    """The columns of a stream over the DataFrame's rows; TypeError for a type that Arrow does not have."""
    from pyspark.sql.pandas.types import to_arrow_schema

    for field in dataframe.schema.fields:
        _check_known(field.name, field.dataType)
    zone = dataframe.sparkSession.conf.get("spark.sql.session.timeZone")
    schema = to_arrow_schema(dataframe.schema, timezone=zone)
    return pa.schema([field.remove_metadata() for field in schema])


def spark_columns(schema: pa.Schema) -> pa.Schema:
    """The columns of a stream in the types that Spark takes; TypeError where there is none."""
    return pa.schema([pa.field(f.name, _spark_type(f.name, f.type), f.nullable) for f in schema])


def spark_schema(columns: pa.Schema) -> StructType:
    """The schema of a DataFrame with these columns, as ``spark_columns`` gave them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(columns)


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch in exactly these types; TypeError naming the column that has a value that does not fit."""
    if batch.schema.equals(schema):
        return batch
    arrays = [_cast(array, field) for array, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cast(array: pa.Array, field: pa.Field) -> pa.Array:
    if array.type == field.type:
        return array
    try:
        return array.cast(field.type)
    except pa.ArrowException as error:
        raise TypeError(
            f"column {field.name!r} of type {array.type} does not fit Spark's {field.type}: {error}"
        ) from error


def _check_known(name: str, data_type: DataType) -> None:
    from pyspark.sql import types

    strange = {"VariantType", "GeometryType", "GeographyType", "YearMonthIntervalType"}
    if isinstance(data_type, types.UserDefinedType) or type(data_type).__name__ in strange:
        raise TypeError(
            f"column {name!r} of type {data_type.simpleString()} cannot be read into a stream; "
            "leave it out or cast it to another type first"
        )
    for child in _children(data_type):
        _check_known(name, child)


def _children(data_type: Any) -> list[Any]:
    names = ("elementType", "keyType", "valueType")
    found = [getattr(data_type, name) for name in names if hasattr(data_type, name)]
    return found + [field.dataType for field in getattr(data_type, "fields", ())]


def _spark_type(name: str, data_type: pa.DataType) -> pa.DataType:
    kinds = pa.types
    if data_type in _WIDER:
        return _WIDER[data_type]
    if kinds.is_timestamp(data_type):
        return pa.timestamp("us", data_type.tz)
    if kinds.is_duration(data_type):
        return pa.duration("us")
    if kinds.is_time(data_type):
        return _time_of_day(name, data_type)
    if kinds.is_decimal(data_type):
        if data_type.precision > 38:
            raise TypeError(f"column {name!r} of type {data_type}: Spark's decimals have 38 digits")
        return pa.decimal128(data_type.precision, data_type.scale)
    if kinds.is_fixed_size_binary(data_type):
        return pa.binary()
    if kinds.is_dictionary(data_type):
        return _spark_type(name, data_type.value_type)
    if kinds.is_nested(data_type):
        return _nested(name, data_type)
    return data_type


def _nested(name: str, data_type: pa.DataType) -> pa.DataType:
    kinds = pa.types

    def field(of: pa.Field) -> pa.Field:
        return of.with_type(_spark_type(name, of.type))

    if kinds.is_struct(data_type):
        return pa.struct([field(data_type.field(i)) for i in range(data_type.num_fields)])
    if kinds.is_map(data_type):
        return pa.map_(field(data_type.key_field), field(data_type.item_field))
    if (
        kinds.is_list(data_type)
        or kinds.is_large_list(data_type)
        or kinds.is_fixed_size_list(data_type)
    ):
        return pa.list_(field(data_type.value_field))
    raise TypeError(f"column {name!r} of type {data_type} has no counterpart in Spark")


def _time_of_day(name: str, data_type: pa.DataType) -> pa.DataType:
    from pyspark.sql import types

    if not hasattr(types, "TimeType"):
        raise TypeError(f"column {name!r} of type {data_type}: this Spark has no times of day")
    return pa.time64("ns")
