"""What the configuration and the backend classes say about state, and what is wrong with it."""

import re
from pathlib import Path
from typing import Any

import pytest

from penstock import Configuration, StreamExecutionEnvironment
from penstock.datastream import (
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    KeyedProcessFunction,
    PredefinedOptions,
    StateBackend,
)
from penstock.datastream.known_settings import KNOWN_SETTINGS
from penstock.runtime.state_backend_settings import StateBackendSettings, local_directories
from penstock.testing import OneInputStreamOperatorTestHarness


def of(values: dict[str, Any]) -> StateBackendSettings:
    return StateBackendSettings.of(Configuration(values))


def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


def test_state_is_in_memory_by_default() -> None:
    assert of({}) == StateBackendSettings("hashmap", {})
    assert isinstance(env().get_state_backend(), HashMapStateBackend)


def test_options_are_texts_under_their_keys(tmp_path: Path) -> None:
    found = of(
        {
            "state.backend.type": "rocksdb",
            "state.backend.rocksdb.memory.managed": True,
            "state.backend.rocksdb.thread.num": 3,
            "state.backend.rocksdb.localdir": [tmp_path / "a", tmp_path / "b"],
            "state.latency-track.keyed-state-enabled": "true",
            "penstock.state.write-back-tier": "64 mb",
            "taskmanager.memory.managed.size": "1 gb",
            "execution.checkpointing.incremental": False,
            "execution.checkpointing.interval": "10 s",
            "penstock.batch-size": 7,
        }
    )
    assert found.kind == "rocksdb"
    assert found.options == {
        "state.backend.rocksdb.memory.managed": "true",
        "state.backend.rocksdb.thread.num": "3",
        "state.backend.rocksdb.localdir": f"{tmp_path}/a,{tmp_path}/b",
        "state.latency-track.keyed-state-enabled": "true",
        "penstock.state.write-back-tier": "64 mb",
        "taskmanager.memory.managed.size": "1 gb",
        "execution.checkpointing.incremental": "false",
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        ("/a", ["/a"]),
        ("/a, /b:/c,", ["/a", "/b", "/c"]),
        (["/a", Path("/b")], ["/a", "/b"]),
    ],
)
def test_local_directories_are_a_list_or_a_text(value: Any, expected: list[str]) -> None:
    assert local_directories(Configuration({"state.backend.rocksdb.localdir": value})) == expected


def test_what_a_backend_says_is_in_the_configuration() -> None:
    backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    backend.set_db_storage_paths("/fast", "/faster")
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_number_of_transfer_threads(7)
    job = env().set_state_backend(backend)
    assert job.get_configuration().to_dict() == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": True,
        "state.backend.rocksdb.localdir": "/fast,/faster",
        "state.backend.rocksdb.predefined-options": "FLASH_SSD_OPTIMIZED",
        "state.backend.rocksdb.checkpoint.transfer.thread.num": 7,
    }
    found = job.get_state_backend()
    assert isinstance(found, EmbeddedRocksDBStateBackend)
    assert found.get_db_storage_paths() == ["/fast", "/faster"]
    assert found.get_predefined_options() is PredefinedOptions.FLASH_SSD_OPTIMIZED
    assert found.get_number_of_transfer_threads() == 7
    assert found.is_incremental_checkpoints_enabled()
    assert repr(found) == "EmbeddedRocksDBStateBackend(FLASH_SSD_OPTIMIZED, incremental)"


def test_a_backend_that_says_nothing_leaves_other_settings_alone() -> None:
    settings = {"state.backend.rocksdb.localdir": "/fast"}
    job = StreamExecutionEnvironment(settings).set_state_backend(EmbeddedRocksDBStateBackend())
    assert job.get_configuration().to_dict() == {**settings, "state.backend.type": "rocksdb"}


def test_defaults_of_the_rocksdb_backend() -> None:
    backend = EmbeddedRocksDBStateBackend()
    assert backend.get_db_storage_paths() is None
    assert backend.get_predefined_options() is PredefinedOptions.DEFAULT
    assert backend.get_number_of_transfer_threads() == 4
    assert not backend.is_incremental_checkpoints_enabled()
    assert backend.get_options() is None


def test_all_keys_that_backends_write_are_known_settings() -> None:
    backend = EmbeddedRocksDBStateBackend(True)
    backend.set_db_storage_paths("/a")
    backend.set_predefined_options(PredefinedOptions.DEFAULT)
    backend.set_number_of_transfer_threads(1)
    assert backend._settings().keys() <= KNOWN_SETTINGS
    assert HashMapStateBackend()._settings().keys() <= KNOWN_SETTINGS


class Nothing(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any: ...


def keyed_state(settings: dict[str, Any]) -> OneInputStreamOperatorTestHarness:
    return OneInputStreamOperatorTestHarness(
        lambda stream: stream.key_by(str).process(Nothing()),
        configuration=Configuration({"state.backend.type": "rocksdb", **settings}),
    )


# Texts that are right whatever they say, one that the builder checks, and one for who ships checkpoints.
UNCHECKED = {
    "state.backend.rocksdb.localdir",
    "state.backend.rocksdb.predefined-options",
    "state.backend.rocksdb.checkpoint.transfer.thread.num",
    "state.backend.type",
}


@pytest.mark.native
@pytest.mark.parametrize(
    "key",
    sorted(
        key
        for key in KNOWN_SETTINGS - UNCHECKED
        if key.startswith(("state.", "penstock.state.", "taskmanager."))
    ),
)
def test_every_setting_reaches_the_core_which_names_the_key_of_a_bad_value(key: str) -> None:
    with pytest.raises(ValueError, match=rf"option '{re.escape(key)}': 'no such value' is not all"):
        keyed_state({key: "no such value"}).open()


@pytest.mark.native
def test_a_setting_of_rocksdb_that_is_none_is_refused() -> None:
    key = "state.backend.rocksdb.no-such-key"
    with pytest.raises(
        ValueError,
        match=f"option '{key}' .* is not known; known are .*state.backend.rocksdb.thread.num",
    ):
        keyed_state({key: "1"}).open()


@pytest.mark.native
def test_databases_are_in_the_local_directory_and_leave_nothing_behind(tmp_path: Path) -> None:
    with keyed_state({"state.backend.rocksdb.localdir": tmp_path}) as harness:
        harness.process_element("a")
        assert list(tmp_path.rglob("CURRENT"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"state.backend.type": "heap"},
            "state.backend.type must be hashmap or rocksdb, but is 'heap'",
        ),
        (
            {"state.backend.rocksdb.predefined-options": "FAST"},
            "state.backend.rocksdb.predefined-options must be one of DEFAULT, SPINNING_DISK_OPTIM",
        ),
    ],
)
def test_bad_settings_show_when_the_job_is_built(settings: dict[str, Any], message: str) -> None:
    job = StreamExecutionEnvironment(settings)
    job.from_collection([1]).map(str)
    with pytest.raises(ValueError, match=message):
        job.get_job_graph()


@pytest.mark.parametrize(
    ("mistake", "kind", "message"),
    [
        (
            lambda: env().set_state_backend("rocksdb"),
            TypeError,
            r"takes a HashMapStateBackend or an EmbeddedRocksDBStateBackend, not 'rocksdb'",
        ),
        (lambda: EmbeddedRocksDBStateBackend("yes"), TypeError, "is True, False or None, not 'yes"),
        (
            lambda: EmbeddedRocksDBStateBackend().set_db_storage_paths(""),
            TypeError,
            "a storage path is a str that is not empty, not ''",
        ),
        (
            lambda: EmbeddedRocksDBStateBackend().set_predefined_options("DEFAULT"),
            TypeError,
            "a member of PredefinedOptions is needed, not 'DEFAULT'",
        ),
        (
            lambda: EmbeddedRocksDBStateBackend().set_number_of_transfer_threads(0),
            ValueError,
            "at least one thread is needed, not 0",
        ),
        (
            lambda: EmbeddedRocksDBStateBackend().set_number_of_transfer_threads(True),
            TypeError,
            "a number of threads is an int, not True",
        ),
        (
            lambda: EmbeddedRocksDBStateBackend().set_options("my.Factory"),
            NotImplementedError,
            r"takes the name of a Java class; set state.backend.rocksdb.\*",
        ),
        (StateBackend, TypeError, "abstract"),
    ],
)
def test_mistakes_are_named(mistake: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        mistake()
