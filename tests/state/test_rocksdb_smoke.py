"""What the core writes to RocksDB, an independent reader finds."""

from pathlib import Path

import pytest
from rocksdict import AccessType, Options, Rdict

from penstock._core.state import RocksDatabase

pytestmark = pytest.mark.native

FAMILIES = ["counts", "names"]


def read_back(path: Path, family: str) -> dict[bytes, bytes]:
    options = Options(raw_mode=True)
    families = {name: Options(raw_mode=True) for name in [*FAMILIES, "default"]}
    reader = Rdict(
        str(path), options, column_families=families, access_type=AccessType.read_only(False)
    )
    try:
        return dict(reader.get_column_family(family).items())
    finally:
        reader.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "db"


def test_independent_reader_finds_what_the_core_wrote(path: Path) -> None:
    written = {
        family: {b"%s-%04d" % (family.encode(), i): b"\x00\xff%d" % i for i in range(1000)}
        for family in [*FAMILIES, "default"]
    }
    db = RocksDatabase.open(str(path), FAMILIES)
    for family, entries in written.items():
        for key, value in entries.items():
            db.put(family, key, value)
    db.flush()
    db.close()

    for family, entries in written.items():
        assert read_back(path, family) == entries


def test_unflushed_writes_survive_close(path: Path) -> None:
    db = RocksDatabase.open(str(path), FAMILIES)
    db.put("names", b"\x00key", b"")
    db.close()
    assert read_back(path, "names") == {b"\x00key": b""}


def test_absent_key_is_none_and_not_an_error(path: Path) -> None:
    db = RocksDatabase.open(str(path), FAMILIES)
    db.put("names", b"empty", b"")
    assert db.get("names", b"empty") == b""
    assert db.get("names", b"absent") is None


def test_mistakes_become_the_matching_python_exceptions(path: Path) -> None:
    db = RocksDatabase.open(str(path), FAMILIES)
    with pytest.raises(KeyError, match="no column family 'other'"):
        db.put("other", b"k", b"v")
    with pytest.raises(OSError, match="lock"):
        RocksDatabase.open(str(path), FAMILIES)
    db.close()
    with pytest.raises(ValueError, match="closed"):
        db.get("names", b"k")
