"""StreamExecutionEnvironment: where a program begins and is run."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from penstock.common.configuration import Configuration
from penstock.common.missing_names import SaysWhatIsMissing
from penstock.common.time import Duration
from penstock.common.typeinfo import TypeInformation
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.connectors.base import Source
from penstock.datastream.checkpoint_config import CheckpointConfig, CheckpointingMode
from penstock.datastream.data_stream import DataStream
from penstock.datastream.known_settings import warn_of_settings_without_effect
from penstock.datastream.runtime_execution_mode import RuntimeExecutionMode
from penstock.datastream.sources import arrow_source, collection_source
from penstock.datastream.state_backend import StateBackend, backend_of
from penstock.datastream.stream_settings import check_parallelism
from penstock.graph.execution_plan import execution_plan
from penstock.graph.job_graph import JobGraph
from penstock.graph.job_graph_generator import generate_job_graph
from penstock.graph.planner import PlanSettings, plan_stream
from penstock.graph.stream_graph import StreamGraph
from penstock.graph.transformation import SourceTransformation, Transformation
from penstock.runtime.state_backend_settings import StateBackendSettings

if TYPE_CHECKING:
    from penstock.connectors.datagen import DataGen
    from penstock.runtime import JobClient, JobExecutionResult

__all__ = ["StreamExecutionEnvironment"]

_LOGGER = logging.getLogger("penstock")
_DEFAULT_JOB_NAME = "Penstock Streaming Job"
_SAVEPOINT_DIRECTORY = "execution.checkpointing.savepoint-dir"
_TARGETS = ("local", "spark")


class StreamExecutionEnvironment(SaysWhatIsMissing):
    """Holds the sources, the settings, and everything built on them until it is executed.

    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1, 2, 3]).map(lambda x: x + 1).execute_and_collect(limit=0)
    []
    """

    _missing = {
        **dict.fromkeys(["add_classpaths", "add_jars"], "there is no JVM; leave it out"),
        **dict.fromkeys(
            ["add_python_archive", "add_python_file", "set_python_executable"],
            "functions run in this process, or in the Python of the Spark cluster; leave it out",
        ),
        **dict.fromkeys(["add_source", "create_input"], "use from_source()"),
        "get_config": "use get_configuration()",
        "set_python_requirements": "install the packages where the job runs",
        "set_restart_strategy": "start the program again, and it goes on from its last checkpoint",
    }

    def __init__(self, configuration: Configuration | Mapping[str, Any] | None = None) -> None:
        self._configuration = Configuration(configuration)
        self._transformations: list[Transformation] = []
        self.get_parallelism()  # Bad settings show here.
        self.get_max_parallelism()

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | Mapping[str, Any] | None = None,
    ) -> StreamExecutionEnvironment:
        """A new environment with these settings."""
        return StreamExecutionEnvironment(configuration)

    # --- settings ---

    def get_configuration(self) -> Configuration:
        """The settings themselves; changes to them count."""
        return self._configuration

    def configure(
        self, configuration: Configuration | Mapping[str, Any]
    ) -> StreamExecutionEnvironment:
        """Takes over all given settings."""
        self._configuration.add_all(configuration)
        return self

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """The parallelism of operators that set none of their own; by default the number of cores."""
        self._configuration.set_integer("parallelism.default", check_parallelism(parallelism))
        return self

    def get_parallelism(self) -> int:
        cores = len(os.sched_getaffinity(0))
        found = self._configuration.get_integer("parallelism.default", cores)
        return check_parallelism(found, "parallelism.default")

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """The number of key groups, by default 128."""
        check_parallelism(max_parallelism, "max parallelism")
        self._configuration.set_integer("pipeline.max-parallelism", max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        found = self._configuration.get_integer("pipeline.max-parallelism", 128)
        return check_parallelism(found, "pipeline.max-parallelism")

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """STREAMING or AUTOMATIC; both mean streaming, over bounded input too."""
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise TypeError(
                f"set_runtime_mode() takes a RuntimeExecutionMode, not {execution_mode!r}"
            )
        if execution_mode is RuntimeExecutionMode.BATCH:
            raise NotImplementedError(
                "jobs run in streaming mode, over bounded input too; use RuntimeExecutionMode.AUTOMATIC"
            )
        self._configuration.set_string("execution.runtime-mode", execution_mode.value)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """As in Flink, how long records may wait for a buffer to fill. Here they never wait: any value will do."""
        if isinstance(timeout_millis, bool) or not isinstance(timeout_millis, int):
            raise TypeError(f"the buffer timeout must be an int, not {timeout_millis!r}")
        if timeout_millis < -1:
            raise ValueError(f"the buffer timeout must be -1 or more, but is {timeout_millis}")
        self._configuration.set_integer("execution.buffer-timeout.interval", timeout_millis)
        return self

    def get_buffer_timeout(self) -> int:
        key = "execution.buffer-timeout.interval"
        timeout = self._configuration.get_duration_ms(key, 100)
        if timeout < -1:
            raise ValueError(f"{key} must be -1 ms or more, but is {timeout} ms")
        return timeout

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Every operator gets tasks of its own."""
        self._configuration.set_boolean("pipeline.operator-chaining.enabled", False)
        return self

    def is_chaining_enabled(self) -> bool:
        return self._configuration.get_boolean("pipeline.operator-chaining.enabled", True)

    def enable_checkpointing(
        self,
        interval: int | Duration,
        mode: CheckpointingMode = CheckpointingMode.EXACTLY_ONCE,
        storage_dir: str | None = None,
    ) -> StreamExecutionEnvironment:
        """Takes a checkpoint every ``interval`` (milliseconds) into ``execution.checkpointing.dir``."""
        config = self.get_checkpoint_config()
        config.set_checkpoint_interval(interval).set_checkpointing_mode(mode)
        if storage_dir is not None:
            config.set_checkpoint_storage_dir(storage_dir)
        return self

    def get_checkpoint_config(self) -> CheckpointConfig:
        return CheckpointConfig(self._configuration)

    def get_checkpoint_interval(self) -> int:
        """Milliseconds between checkpoints; -1: none are taken."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def set_default_savepoint_directory(self, directory: str) -> StreamExecutionEnvironment:
        """Where savepoints go that name no directory."""
        self._configuration.set_string(_SAVEPOINT_DIRECTORY, str(directory))
        return self

    def get_default_savepoint_directory(self) -> str | None:
        found = self._configuration.get(_SAVEPOINT_DIRECTORY)
        return None if found is None else str(found)

    def get_checkpointing_mode(self) -> CheckpointingMode:
        return self.get_checkpoint_config().get_checkpointing_mode()

    def set_state_backend(self, state_backend: StateBackend) -> StreamExecutionEnvironment:
        """Where keyed state lives; the same as setting ``state.backend.type`` and what belongs to it.

        >>> from penstock.datastream import EmbeddedRocksDBStateBackend
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.set_state_backend(EmbeddedRocksDBStateBackend()).get_configuration().get("state.backend.type")
        'rocksdb'
        """
        if not isinstance(state_backend, StateBackend):
            raise TypeError(
                f"set_state_backend() takes a HashMapStateBackend or an EmbeddedRocksDBStateBackend, not {state_backend!r}"
            )
        self._configuration.add_all(state_backend._settings())
        return self

    def get_state_backend(self) -> StateBackend:
        """The backend by the settings; changes to it count when it is set again."""
        return backend_of(self._configuration)

    # --- sources ---

    def from_collection(
        self, collection: Iterable[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """A stream of the elements; with ``type_info`` each is checked, and the stream has columns.

        >>> from penstock import Types, col
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> rows = env.from_collection(
        ...     [("a", 1), ("b", 2)], Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.LONG()]))
        >>> rows.filter(col("n") > 1).execute_and_collect(limit=5)
        [Row(name='b', n=2)]
        """
        return DataStream(self, collection_source(collection, type_info))

    def from_arrow(self, data: Any) -> DataStream:
        """A stream of the rows of Arrow data: of pyarrow, pandas, Polars, DuckDB, anything with ``__arrow_c_stream__``.

        >>> import pyarrow
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_arrow(pyarrow.table({"x": [1, 2]})).get_type()
        ROW<x LONG>
        """
        return DataStream(self, arrow_source(data))

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """A stream of what a source of ``penstock.connectors`` gives, with event times by a strategy."""
        if not isinstance(source, Source):
            raise TypeError(f"from_source() takes a Source, not {source!r}")
        schema = source.schema()
        transformation = SourceTransformation(
            f"Source: {source_name}", (), schema, spec=source.spec(), columnar=schema is not None
        )
        stream = DataStream(self, transformation)
        if watermark_strategy == WatermarkStrategy.no_watermarks():
            return stream
        return stream.assign_timestamps_and_watermarks(watermark_strategy)

    def from_generator(
        self, generator: DataGen, watermark_strategy: WatermarkStrategy | None = None
    ) -> DataStream:
        """A stream of rows made in the engine.

        >>> from penstock.connectors.datagen import DataGen
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_generator(DataGen(count=10).sequence("id")).get_schema().names
        ['id']
        """
        strategy = watermark_strategy or WatermarkStrategy.no_watermarks()
        return self.from_source(generator, strategy, "Generator")

    # --- execution ---

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Runs everything built so far and waits for its end; Ctrl-C cancels it."""
        return self.execute_async(job_name).get_job_execution_result().result()

    def execute_async(self, job_name: str | None = None) -> JobClient:
        """Starts everything built so far; the client follows and cancels it."""
        from penstock.runtime.launch import launch

        target = self._configuration.get_string("execution.target", "local")
        if target not in _TARGETS:
            raise ValueError(f"execution.target must be one of {_TARGETS}, but is {target!r}")
        if job_name is not None and not isinstance(job_name, str):
            raise TypeError(f"a job's name is a str, not {job_name!r}")
        job_graph = self.get_job_graph(job_name)
        warn_of_settings_without_effect(self._configuration)
        self._transformations.clear()
        return launch(job_graph, Configuration(self._configuration), target)

    def get_execution_plan(self) -> str:
        """The operators as JSON: how they are connected, which window operator was chosen, and why."""
        return execution_plan(self._stream_graph(None))

    def get_job_graph(self, job_name: str | None = None) -> JobGraph:
        """The tasks that ``execute`` would run."""
        return generate_job_graph(self._stream_graph(job_name))

    def close(self) -> None:
        """Forgets what was built and not executed."""
        self._transformations.clear()

    def _stream_graph(self, job_name: str | None) -> StreamGraph:
        if not self._transformations:
            raise RuntimeError(
                "No operators defined in streaming topology. Cannot execute. "
                "(A source needs an operator or a sink behind it, such as print(); what was executed is not kept.)"
            )
        name = job_name or self._configuration.get_string("pipeline.name", _DEFAULT_JOB_NAME)
        self._warn_of_missing_uids()
        return plan_stream(self._transformations, self._plan_settings(), name)

    def _plan_settings(self) -> PlanSettings:
        overflow = self._configuration.get_string("penstock.sum-overflow", "error")
        if overflow not in {"error", "wrap"}:
            raise ValueError(f"penstock.sum-overflow must be error or wrap, but is {overflow!r}")
        if self._configuration.get_integer("penstock.batch-size", 8192) < 1:
            raise ValueError("penstock.batch-size must be at least 1")
        self.get_buffer_timeout()
        self.get_checkpointing_mode()
        StateBackendSettings.of(self._configuration)
        return PlanSettings(
            parallelism=self.get_parallelism(),
            max_parallelism=self.get_max_parallelism(),
            chaining=self.is_chaining_enabled(),
            sum_overflow=overflow,
            configuration=self._configuration.to_dict(),
        )

    def _warn_of_missing_uids(self) -> None:
        if not self.get_checkpoint_config().is_checkpointing_enabled():
            return
        for transformation in self._transformations:
            if transformation.is_stateful and transformation.uid is None:
                _LOGGER.warning(
                    "%s is checkpointed but has no uid(): its state is lost when operators before it change",
                    transformation.name,
                )

    def _add_operator(self, transformation: Transformation) -> None:
        self._transformations.append(transformation)

    def _drop_operator(self, transformation: Transformation) -> None:
        self._transformations = [one for one in self._transformations if one is not transformation]
