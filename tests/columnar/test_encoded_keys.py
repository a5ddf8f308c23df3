"""Keys attached to rows stay with them, in both forms of a batch."""

import gc

import pyarrow as pa
import pytest

from penstock._core.columnar import Batch
from penstock._core.record import encode_columns, encode_key

pytestmark = pytest.mark.native

KEYS = [encode_key(key) for key in ("a", ("b", 2), None)]
SCHEMA = pa.schema([("x", pa.int64())])


def columns() -> Batch:
    return Batch.from_arrow(pa.record_batch([[1, 2, 3]], schema=SCHEMA))


def rows() -> Batch:
    return Batch.from_rows([(1,), (2,), (3,)])


@pytest.mark.parametrize("batch", [columns(), rows()], ids=["columns", "rows"])
def test_keys_are_attached_and_taken_away(batch: Batch) -> None:
    assert batch.encoded_keys is None
    keyed = batch.with_encoded_keys(KEYS)
    assert keyed.encoded_keys == KEYS
    assert batch.encoded_keys is None
    assert keyed.with_encoded_keys(None).encoded_keys is None


@pytest.mark.parametrize("batch", [columns(), rows()], ids=["columns", "rows"])
def test_keys_stay_with_their_rows(batch: Batch) -> None:
    keyed = batch.with_encoded_keys(KEYS)
    assert keyed.slice(1, 2).encoded_keys == KEYS[1:]
    assert keyed.slice(1, 2).slice(1, 1).encoded_keys == KEYS[2:]
    assert keyed.take([2, 0, 0]).encoded_keys == [KEYS[2], KEYS[0], KEYS[0]]
    assert keyed.with_timestamps([1, 2, 3]).encoded_keys == KEYS


def test_keys_survive_a_change_of_form_and_a_selection() -> None:
    assert rows().with_encoded_keys(KEYS).to_columns(SCHEMA).encoded_keys == KEYS
    assert columns().with_encoded_keys(KEYS).select(["x"]).encoded_keys == KEYS


def test_as_many_keys_as_rows_are_needed() -> None:
    with pytest.raises(ValueError, match="2 keys for 3 rows"):
        columns().with_encoded_keys(KEYS[:2])


def test_keys_of_columns_can_be_attached() -> None:
    batch = columns()
    keyed = batch.with_encoded_keys(encode_columns(batch, ["x"]))
    del batch
    gc.collect()
    assert keyed.encoded_keys == [encode_key(i) for i in (1, 2, 3)]
