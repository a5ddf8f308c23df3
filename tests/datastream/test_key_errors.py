"""key_by: which keys are taken, and what is said about the others."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from penstock import StreamExecutionEnvironment, Types, col
from penstock.datastream import DataStream, KeySelector


class ByUser(KeySelector):
    def get_key(self, value: Any) -> Any:
        return value.user


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def stream(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_arrow(pa.table({"user": ["a"], "city": ["b"], "price": [1.5]}))


GOOD_TYPES = [
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    pa.binary(4),
    pa.date32(),
    pa.date64(),
    pa.time32("s"),
    pa.time64("ns"),
    pa.timestamp("ms"),
    pa.timestamp("us", "UTC"),
    pa.duration("s"),
    pa.decimal128(10, 2),
]
BAD_TYPES = [
    pa.list_(pa.int64()),
    pa.large_list(pa.int64()),
    pa.list_(pa.int64(), 2),
    pa.struct([("a", pa.int64())]),
    pa.map_(pa.string(), pa.int64()),
    pa.float16(),
    pa.decimal256(50, 2),
    pa.month_day_nano_interval(),
    pa.uuid(),
]


@pytest.mark.parametrize("kind", GOOD_TYPES, ids=str)
def test_columns_of_plain_types_can_be_keys(
    env: StreamExecutionEnvironment, kind: pa.DataType
) -> None:
    stream = env.from_arrow(pa.schema([("k", kind)]).empty_table())
    assert repr(stream.key_by("k")) == "<KeyedStream by columns k>"


@pytest.mark.native
@pytest.mark.parametrize("kind", [*GOOD_TYPES, *BAD_TYPES], ids=str)
def test_the_core_agrees_on_what_can_be_a_key(
    env: StreamExecutionEnvironment, kind: pa.DataType
) -> None:
    from penstock._core.columnar import batches_from_stream
    from penstock._core.record import hash_columns

    if kind == pa.uuid():
        return  # to the core its bytes; the API refuses it, because its objects are no bytes
    empty, _ = batches_from_stream(pa.schema([("k", kind)]).empty_table())
    if kind in GOOD_TYPES:
        assert hash_columns(empty, ["k"]) == b""
    else:
        with pytest.raises(TypeError, match="cannot be a key"):
            hash_columns(empty, ["k"])


@pytest.mark.parametrize("kind", BAD_TYPES, ids=str)
def test_columns_of_other_types_are_refused_with_advice(
    env: StreamExecutionEnvironment, kind: pa.DataType
) -> None:
    stream = env.from_arrow(pa.schema([("k", kind)]).empty_table())
    message = r"column 'k' of type .* cannot be a key; key by columns of plain types .*function"
    with pytest.raises(TypeError, match=message):
        stream.key_by("k")


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda s: s.key_by("user"), "columns user"),
        (lambda s: s.key_by("user", "city"), "columns user, city"),
        (lambda s: s.key_by(["city", "user"]), "columns city, user"),
        (lambda s: s.key_by(("user",)), "columns user"),
        (lambda s: s.key_by(col("user")), "columns user"),
        (lambda s: s.key_by("user").key_by("city"), "columns city"),
        (lambda s: s.key_by(len, Types.INT()), "<built-in function len>"),
        (lambda s: s.key_by(len, key_type=Types.INT()), "<built-in function len>"),
    ],
)
def test_keys_are_columns_or_a_function(
    stream: DataStream, build: Callable[[DataStream], Any], text: str
) -> None:
    assert repr(build(stream)) == f"<KeyedStream by {text}>"


def test_a_key_selector_is_a_function(stream: DataStream) -> None:
    keyed = stream.key_by(ByUser())
    assert keyed._keys.function is not None
    assert isinstance(keyed._keys.lifecycle, ByUser)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s: s.key_by(), "it was called without any"),
        (lambda s: s.key_by([]), "the list of names is empty"),
        (lambda s: s.key_by(5), r"takes a KeySelector, a callable, or names of columns, not 5"),
        (lambda s: s.key_by(None), "names of columns, not None"),
        (lambda s: s.key_by("user", 5), "5 is not the name of a column"),
        (lambda s: s.key_by(["user", len]), "is not the name of a column"),
        (lambda s: s.key_by(len, str), "return a tuple from one function for a key of several"),
        (lambda s: s.key_by("user", "user"), "got a column twice"),
        (lambda s: s.key_by(col("price") * 2), r"not the expression price \* 2.*with_columns"),
        (lambda s: s.key_by(ByUser), "takes a KeySelector object or a callable"),
        (lambda s: s.key_by(len, key_type=int), "key_type must be one of Types"),
    ],
)
def test_what_is_no_key_is_refused(
    stream: DataStream, build: Callable[[DataStream], Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        build(stream)


def test_a_keyed_stream_is_no_operator(stream: DataStream) -> None:
    keyed = stream.key_by("user")
    for method, argument in [("name", "x"), ("uid", "x"), ("set_parallelism", 2)]:
        with pytest.raises(ValueError, match=rf"{method}\(\) belongs to an operator, and Keyed is"):
            getattr(keyed, method)(argument)


def test_a_key_selector_can_be_given_by_name_as_in_pyflink(stream: DataStream) -> None:
    keyed = stream.key_by(key_selector=ByUser(), key_type=Types.STRING())
    assert keyed.key_by(key_selector="city")._keys.columns == ("city",)
    assert keyed._keys.columns is None
