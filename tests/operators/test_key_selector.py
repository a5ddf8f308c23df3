"""Key selectors: the encoded key of each row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock._core.columnar import Batch
from penstock._core.operators import key_selector
from penstock._core.record import encode_key
from penstock.common.row import Row
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native

keys = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda parts: st.tuples(parts, parts),
    max_leaves=4,
)


@given(values=st.lists(keys, min_size=1, max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_function_key_is_encoded_like_the_bare_value(chain: Any, values: list[Any]) -> None:
    rows = list(enumerate(values))
    (out,) = chain(key_selector(None, lambda row: row[1])).rows(rows).batches()
    assert out.encoded_keys == [encode_key(value) for value in values]
    assert out.to_rows() == rows


def test_rows_keep_their_timestamps(chain: Any) -> None:
    out = chain(key_selector(None, lambda row: row)).rows([5, 6], [50, 60])
    assert (out.values(), out.timestamps()) == ([5, 6], [50, 60])


def test_a_function_gets_columns_as_rows(chain: Any) -> None:
    data = {"a": [1, None], "b": ["x", "y"]}
    (out,) = chain(key_selector(None, lambda row: (row.b, row.a))).columns(data).batches()
    assert out.encoded_keys == [encode_key(("x", 1)), encode_key(("y", None))]
    assert out.to_rows() == [(1, "x"), (None, "y")]


def test_one_column_is_the_bare_key_and_several_are_a_tuple(chain: Any) -> None:
    data = {"a": [1, None], "b": ["x", "y"], "c": [0.5, 1.5]}
    (one,) = chain(key_selector(["b"], None)).columns(data, [1, 2]).batches()
    assert one.encoded_keys == [encode_key("x"), encode_key("y")]
    assert one.is_columnar
    assert one.timestamps == [1, 2]
    (two,) = chain(key_selector(["c", "a"], None)).columns(data).batches()
    assert two.encoded_keys == [encode_key((0.5, 1)), encode_key((1.5, None))]


def test_columns_of_rows_are_their_fields(chain: Any) -> None:
    rows = [Row(a=1, b="x"), {"a": 2, "b": "y"}]
    (one,) = chain(key_selector(["b"], None)).rows(rows).batches()
    assert one.encoded_keys == [encode_key("x"), encode_key("y")]
    (two,) = chain(key_selector(["b", "a"], None)).rows(rows).batches()
    assert two.encoded_keys == [encode_key(("x", 1)), encode_key(("y", 2))]


def test_keys_attached_before_are_replaced(chain: Any) -> None:
    batch = Batch.from_rows([1]).with_encoded_keys([b"old"])
    (out,) = chain(key_selector(None, lambda row: row)).batch(batch).batches()
    assert out.encoded_keys == [encode_key(1)]


def test_an_error_of_the_function_names_the_record(chain: Any) -> None:
    with pytest.raises(UserCodeError, match=r"key selector raised on record \(1,\): IndexError"):
        chain(key_selector(None, lambda row: row[1])).rows([(1,)])


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ([1], "use tuple"),
        ({"a": 1}, "a dict cannot be a key"),
        ({1}, "use tuple(sorted"),
        (object(), "object"),
    ],
    ids=["list", "dict", "set", "object"],
)
def test_a_key_that_cannot_be_encoded_names_the_record(chain: Any, key: Any, advice: str) -> None:
    with pytest.raises(TypeError) as caught:
        chain(key_selector(None, lambda _: key)).rows(["the record"])
    assert "the key of record 'the record': " in str(caught.value)
    assert advice in str(caught.value)


def test_an_unknown_column_is_named(chain: Any) -> None:
    with pytest.raises(KeyError, match="no column 'z'"):
        chain(key_selector(["z"], None)).columns({"a": [1]})
    with pytest.raises(UserCodeError, match=r"looking up the key raised on record Row\(a=1\)"):
        chain(key_selector(["z"], None)).rows([Row(a=1)])


def test_a_column_that_cannot_be_a_key_is_refused(chain: Any) -> None:
    with pytest.raises(TypeError, match="list"):
        chain(key_selector(["a"], None)).columns({"a": pa.array([[1]])})


@pytest.mark.parametrize("arguments", [(None, None), (["a"], len), ([], None)])
def test_either_columns_or_a_function_are_needed(arguments: Any) -> None:
    with pytest.raises(ValueError, match="key selector needs"):
        key_selector(*arguments)
