"""Golden vectors of keys. They decide where state lies: a change here breaks every checkpoint."""

import datetime as dt
import json
import math
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import mmh3
import pytest

from penstock._core import record

pytestmark = pytest.mark.native

FILE = Path(__file__).parents[1] / "data" / "key_vectors.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))


def _enum_member(path: str) -> Any:
    module, _, names = path.partition(":")
    return reduce(getattr, names.split("."), import_module(module))


MAKERS: dict[str, Callable[[Any], Any]] = {
    "none": lambda _: None,
    "bool": bool,
    "int": int,
    "float": float.fromhex,
    "str": str,
    "bytes": bytes.fromhex,
    "decimal": Decimal,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda parts: dt.timedelta(*parts),
    "uuid": UUID,
    "enum": _enum_member,
    "tuple": lambda parts: tuple(make(part) for part in parts),
}


def make(described: dict[str, Any]) -> Any:
    ((kind, value),) = described.items()
    return MAKERS[kind](value)


def label(vector: Any) -> str:
    return json.dumps(vector["value"])[:40]


@pytest.mark.parametrize("vector", VECTORS, ids=label)
def test_bytes_hash_and_key_group_never_change(vector: dict[str, Any]) -> None:
    key = make(vector["value"])
    assert record.encode_key(key).hex() == vector["bytes"]
    assert record.hash_key(key) == vector["murmur"]
    assert record.key_group(key) == record.key_group(key, 128) == vector["key_group_128"]


@pytest.mark.parametrize("vector", VECTORS, ids=label)
def test_hash_is_murmur3_of_the_bytes(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["bytes"])
    assert mmh3.hash(data, 0, signed=False) == vector["murmur"]
    assert vector["murmur"] % 128 == vector["key_group_128"]


@pytest.mark.parametrize("vector", VECTORS, ids=label)
def test_bytes_decode_to_the_key(vector: dict[str, Any]) -> None:
    key = make(vector["value"])
    found = record.decode_key(bytes.fromhex(vector["bytes"]))
    assert found == key or (math.isnan(found) and math.isnan(key))
    assert type(found) is type(key)


def test_vectors_cover_every_kind_of_key() -> None:
    tags = {bytes.fromhex(vector["bytes"])[0] for vector in VECTORS}
    assert tags == set(range(0x01, 0x12))


def test_different_keys_have_different_bytes() -> None:
    by_bytes: dict[str, list[Any]] = {}
    for vector in VECTORS:
        by_bytes.setdefault(vector["bytes"], []).append(make(vector["value"]))
    for keys in by_bytes.values():
        assert all(key == keys[0] for key in keys) or len(keys) == 1
