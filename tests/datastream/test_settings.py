"""Settings of the environment and of operators, and what they refuse."""

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import penstock
from penstock import Configuration, Duration, StreamExecutionEnvironment, Time
from penstock import functions as F
from penstock.datastream import (
    CheckpointingMode,
    DataStream,
    RuntimeExecutionMode,
    TumblingEventTimeWindows,
)
from penstock.datastream.known_settings import KNOWN_SETTINGS, warn_of_settings_without_effect


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def stream(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([1]).map(lambda value: value)


@pytest.mark.parametrize("wrong", [0, -1, 32769])
def test_parallelism_has_bounds(
    env: StreamExecutionEnvironment, stream: DataStream, wrong: int
) -> None:
    for setter in (env.set_parallelism, stream.set_parallelism):
        with pytest.raises(ValueError, match=f"must be between 1 and 32768, but is {wrong}"):
            setter(wrong)
    for setter in (env.set_max_parallelism, stream.set_max_parallelism):
        with pytest.raises(ValueError, match="max parallelism must be between 1 and 32768, but is"):
            setter(wrong)


@pytest.mark.parametrize("wrong", [2.0, "2", True, None])
def test_parallelism_is_a_whole_number(
    env: StreamExecutionEnvironment, stream: DataStream, wrong: Any
) -> None:
    for setter in (env.set_parallelism, stream.set_parallelism):
        with pytest.raises(TypeError, match="parallelism must be an int, not"):
            setter(wrong)


def test_parallelism_in_a_bad_configuration_is_found_at_once() -> None:
    for value in (0, "many"):
        configuration = Configuration().set("parallelism.default", value)
        with pytest.raises(ValueError, match=r"parallelism\.default"):
            StreamExecutionEnvironment.get_execution_environment(configuration)


def test_parallelism_stays_below_max_parallelism(
    env: StreamExecutionEnvironment, stream: DataStream
) -> None:
    with pytest.raises(ValueError, match="parallelism 9 is greater than max parallelism 8"):
        stream.set_max_parallelism(8).set_parallelism(9)
    with pytest.raises(ValueError, match="max parallelism 2 is less than parallelism 4"):
        stream.set_parallelism(4).set_max_parallelism(2)
    env.set_parallelism(200)
    stream.discard()
    message = "the parallelism of 'Source: Collection' is 200, but its max parallelism is 128"
    with pytest.raises(ValueError, match=message):
        env.get_job_graph()


def test_operators_that_are_not_parallel_stay_so(
    env: StreamExecutionEnvironment, stream: DataStream
) -> None:
    stream.force_non_parallel().set_parallelism(1)
    with pytest.raises(ValueError, match="'Map' is not parallel: its parallelism must be 1, not 2"):
        stream.set_parallelism(2)
    window = TumblingEventTimeWindows.of(Time.seconds(1))
    table = env.from_arrow(pa.table({"x": [1]}))
    with pytest.raises(ValueError, match="is not parallel"):
        table.window_all(window).aggregate(F.count()).set_parallelism(2)


@pytest.mark.parametrize("method", ["name", "uid", "set_parallelism", "disable_chaining"])
def test_settings_belong_to_operators(stream: DataStream, method: str) -> None:
    arguments: list[Any] = {"set_parallelism": [1], "disable_chaining": []}.get(method, ["x"])
    for virtual in (stream.rebalance(), stream.union(stream), stream.key_by(str)):
        with pytest.raises(ValueError, match=rf"{method}\(\) belongs to an operator, and .* is no"):
            getattr(virtual, method)(*arguments)


@pytest.mark.parametrize("wrong", ["", None, 5])
def test_a_uid_is_a_text(stream: DataStream, wrong: Any) -> None:
    with pytest.raises(TypeError, match="a uid is a text that is not empty, not"):
        stream.uid(wrong)


def test_settings_are_returned_as_they_were_made(env: StreamExecutionEnvironment) -> None:
    env.set_parallelism(3).set_max_parallelism(64).set_buffer_timeout(-1)
    env.enable_checkpointing(500, storage_dir="/tmp/x")
    assert (env.get_parallelism(), env.get_max_parallelism(), env.get_buffer_timeout()) == (
        3,
        64,
        -1,
    )
    assert env.get_checkpoint_interval() == 500
    assert env.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
    config = env.get_checkpoint_config()
    assert config.is_checkpointing_enabled()
    assert config.get_checkpoint_storage_dir() == "/tmp/x"
    assert config.set_num_retained_checkpoints(3).get_num_retained_checkpoints() == 3
    assert env.get_configuration().get_integer("execution.checkpointing.interval", 0) == 500


def test_settings_by_flink_s_keys_count() -> None:
    configuration = Configuration(
        {
            "parallelism.default": "5",
            "pipeline.max-parallelism": 77,
            "execution.checkpointing.interval": "3 s",
            "pipeline.operator-chaining.enabled": "false",
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    assert (env.get_parallelism(), env.get_max_parallelism()) == (5, 77)
    assert env.get_checkpoint_interval() == 3000
    assert not env.is_chaining_enabled()
    configuration.set("parallelism.default", 6)
    assert env.get_parallelism() == 5  # a copy
    assert env.configure(configuration).get_parallelism() == 6


def test_by_default_there_are_no_checkpoints(env: StreamExecutionEnvironment) -> None:
    assert env.get_checkpoint_interval() == -1
    assert not env.get_checkpoint_config().is_checkpointing_enabled()
    assert env.get_checkpoint_config().get_checkpoint_storage_dir() is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda env: env.enable_checkpointing(0), "interval must be positive, but is 0 ms"),
        (lambda env: env.enable_checkpointing(Duration.of_millis(-5)), "positive, but is -5 ms"),
        (lambda env: env.set_buffer_timeout(-2), "the buffer timeout must be -1 or more"),
        (
            lambda env: env.get_checkpoint_config().set_num_retained_checkpoints(0),
            "at least one checkpoint is retained, not 0",
        ),
    ],
)
def test_values_out_of_range_are_refused(
    env: StreamExecutionEnvironment,
    change: Callable[[StreamExecutionEnvironment], Any],
    message: str,
) -> None:
    with pytest.raises(ValueError, match=message):
        change(env)


def test_other_checkpointing_modes_cannot_run_yet(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(NotImplementedError, match="only EXACTLY_ONCE"):
        env.enable_checkpointing(100, CheckpointingMode.AT_LEAST_ONCE)


def test_bad_settings_are_found_before_the_job_starts(
    env: StreamExecutionEnvironment, stream: DataStream
) -> None:
    stream.discard()
    env.get_configuration().set_integer("penstock.batch-size", 0)
    with pytest.raises(ValueError, match="batch-size must be at least 1"):
        env.get_job_graph()
    env.get_configuration().set_string("execution.target", "moon")
    with pytest.raises(ValueError, match=r"execution\.target must be one of .* but is 'moon'"):
        env.execute()


def test_a_job_without_operators_cannot_run(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(RuntimeError, match="No operators defined in streaming topology"):
        env.execute()


def test_closing_forgets_what_was_built(
    env: StreamExecutionEnvironment, stream: DataStream
) -> None:
    stream.discard()
    env.close()
    with pytest.raises(RuntimeError, match="No operators defined"):
        env.get_job_graph()


@pytest.mark.parametrize("uid", [None, "counts"])
def test_checkpointed_windows_without_a_uid_are_warned_of(
    env: StreamExecutionEnvironment, caplog: pytest.LogCaptureFixture, uid: str | None
) -> None:
    window = TumblingEventTimeWindows.of(Time.seconds(1))
    counts = env.from_arrow(pa.table({"x": [1]})).key_by("x").window(window).aggregate(F.count())
    if uid is not None:
        counts.uid(uid)
    counts.discard()
    env.enable_checkpointing(100)
    with caplog.at_level(logging.WARNING, "penstock"):
        env.get_job_graph()
    assert ("has no uid()" in caplog.text) == (uid is None)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("execution.buffer-timeout.interval", "soon", "is not a duration"),
        ("execution.buffer-timeout.interval", "-5 ms", "must be -1 ms or more, but is -5 ms"),
        ("execution.checkpointing.mode", "TWICE", "must be one of EXACTLY_ONCE, AT_LEAST_ONCE"),
        ("penstock.batch-size", "2.5", "is not an integer"),
    ],
)
def test_settings_that_do_not_parse_are_named_before_the_job_starts(
    env: StreamExecutionEnvironment, stream: DataStream, key: str, value: str, message: str
) -> None:
    stream.discard()
    env.configure({key: value})
    with pytest.raises(ValueError, match=rf"{re.escape(key)}.*{message}"):
        env.get_job_graph()


@pytest.mark.parametrize(
    ("key", "warning"),
    [
        (
            "parallelism.defaults",
            "parallelism.defaults has no effect; did you mean parallelism.def",
        ),
        ("state.backend.type", None),
        (
            "state.backend.rocksdb.thread.nun",
            "has no effect; did you mean state.backend.rocksdb.thread.num?",
        ),
        ("state.backend", "the setting state.backend has no effect"),
        ("restart-strategy.type", "the setting restart-strategy.type has no effect\n"),
        ("parallelism.default", None),
        ("my.own-key", None),
        ("spark.executor.cores", None),
    ],
)
def test_settings_without_effect_are_warned_of(
    caplog: pytest.LogCaptureFixture, key: str, warning: str | None
) -> None:
    with caplog.at_level(logging.WARNING, "penstock"):
        warn_of_settings_without_effect(Configuration({key: "1"}))
    assert bool(caplog.text) == (warning is not None)
    assert warning is None or warning in caplog.text


def test_every_setting_that_the_package_reads_is_known() -> None:
    pattern = r'"((?:execution|parallelism|pipeline|state|restart-strategy)\.[a-z.-]*[a-z])"'
    package = Path(penstock.__file__).parent
    texts = [path.read_text("utf-8") for path in package.rglob("*.py")]
    found = {key for text in texts for key in re.findall(pattern, text)}
    assert found
    assert found <= KNOWN_SETTINGS


def test_names_and_timeouts_of_other_types_are_refused(
    env: StreamExecutionEnvironment, stream: DataStream
) -> None:
    stream.discard()
    with pytest.raises(TypeError, match="a job's name is a str, not 5"):
        env.execute(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an operator's name is a str, not 5"):
        stream.name(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the buffer timeout must be an int, not '100'"):
        env.set_buffer_timeout("100")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a CheckpointingMode is needed, not 'EXACTLY_ONCE'"):
        env.enable_checkpointing(100, "EXACTLY_ONCE")  # type: ignore[arg-type]


def test_runtime_modes_that_mean_streaming_are_taken(env: StreamExecutionEnvironment) -> None:
    for mode in (RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.AUTOMATIC):
        env.set_runtime_mode(mode)
        assert env.get_configuration().get_string("execution.runtime-mode", "") == mode.value
    with pytest.raises(NotImplementedError, match="streaming mode, over bounded input too"):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    with pytest.raises(TypeError, match="takes a RuntimeExecutionMode, not 'BATCH'"):
        env.set_runtime_mode("BATCH")  # type: ignore[arg-type]
