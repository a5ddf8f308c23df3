"""The public face: names resolve, are annotated, and are PyFlink's, but for a list of what is left out.

A name of the left-out list that appears, or a PyFlink name that vanishes, fails here: both lists stay true.
"""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import penstock

PACKAGE = Path(penstock.__file__).parent
PUBLIC = [
    "penstock",
    "penstock.common",
    "penstock.connectors",
    "penstock.connectors.datagen",
    "penstock.datastream",
    "penstock.datastream.state",
    "penstock.errors",
    "penstock.expressions",
    "penstock.functions",
    "penstock.spark",
    "penstock.state",
    "penstock.testing",
]

# PyFlink's names by class. Methods that PyFlink 2 has removed are not in the lists.
PYFLINK = {
    "penstock.datastream:StreamExecutionEnvironment": """
        add_classpaths add_jars add_python_archive add_python_file add_source close configure create_input
        disable_operator_chaining enable_changelog_state_backend enable_checkpointing execute execute_async
        from_collection from_source get_buffer_timeout get_checkpoint_config get_checkpoint_interval
        get_checkpointing_mode get_config get_default_local_parallelism get_default_savepoint_directory
        get_execution_environment get_execution_plan get_max_parallelism get_parallelism is_chaining_enabled
        is_changelog_state_backend_enabled is_force_unaligned_checkpoints is_unaligned_checkpoints_enabled
        register_cached_file register_slot_sharing_group set_buffer_timeout set_default_local_parallelism
        set_default_savepoint_directory set_max_parallelism set_parallelism set_python_executable
        set_python_requirements set_runtime_mode""",
    "penstock.datastream:DataStream": """
        add_sink assign_timestamps_and_watermarks broadcast cache connect count_window_all disable_chaining
        execute_and_collect filter flat_map force_non_parallel forward get_execution_environment get_name
        get_side_output get_type key_by map name partition_custom print process project rebalance rescale
        set_buffer_timeout set_description set_max_parallelism set_parallelism set_uid_hash shuffle sink_to
        slot_sharing_group start_new_chain uid union window_all""",
    "penstock.datastream:DataStreamSink": """
        disable_chaining name set_description set_parallelism set_uid_hash slot_sharing_group uid""",
    "penstock.datastream:KeyedStream": """
        add_sink connect count_window filter flat_map key_by map max max_by min min_by partition_custom print
        process reduce sum union window""",
    "penstock.datastream:WindowedStream": """
        aggregate allowed_lateness apply evictor get_execution_environment get_input_type process reduce
        side_output_late_data trigger""",
    "penstock.datastream:AllWindowedStream": """
        aggregate allowed_lateness apply evictor get_execution_environment get_input_type process reduce
        side_output_late_data trigger""",
    "penstock.datastream:CheckpointConfig": """
        disable_unaligned_checkpoints enable_unaligned_checkpoints get_aligned_checkpoint_timeout
        get_checkpoint_interval get_checkpoint_storage get_checkpoint_timeout get_checkpointing_mode
        get_externalized_checkpoint_retention get_max_concurrent_checkpoints get_min_pause_between_checkpoints
        get_tolerable_checkpoint_failure_number is_checkpointing_enabled is_externalized_checkpoints_enabled
        is_force_unaligned_checkpoints is_unaligned_checkpoints_enabled set_aligned_checkpoint_timeout
        set_checkpoint_interval set_checkpoint_storage set_checkpoint_storage_dir set_checkpoint_timeout
        set_checkpointing_mode set_externalized_checkpoint_retention set_force_unaligned_checkpoints
        set_max_concurrent_checkpoints set_min_pause_between_checkpoints
        set_tolerable_checkpoint_failure_number""",
    "penstock.datastream:RuntimeContext": """
        get_aggregating_state get_attempt_number get_index_of_this_subtask get_job_parameter get_list_state
        get_map_state get_max_number_of_parallel_subtasks get_metrics_group get_number_of_parallel_subtasks
        get_reducing_state get_state get_task_name get_task_name_with_subtasks""",
    "penstock.datastream:ProcessFunction": "Context close open process_element",
    "penstock.datastream:KeyedProcessFunction": """
        Context OnTimerContext close on_timer open process_element""",
    "penstock.datastream:TimerService": """
        current_processing_time current_watermark delete_event_time_timer delete_processing_time_timer
        register_event_time_timer register_processing_time_timer""",
    "penstock.datastream:EmbeddedRocksDBStateBackend": """
        get_db_storage_paths get_number_of_transfer_threads get_options get_predefined_options
        is_incremental_checkpoints_enabled set_db_storage_paths set_number_of_transfer_threads set_options
        set_predefined_options""",
    "penstock.datastream.state": """
        AggregatingState AggregatingStateDescriptor BroadcastState ListState ListStateDescriptor MapState
        MapStateDescriptor OperatorStateStore ReadOnlyBroadcastState ReducingState ReducingStateDescriptor
        StateTtlConfig ValueState ValueStateDescriptor""",
    "penstock.datastream.state:MapState": """
        clear contains get is_empty items keys put put_all remove values""",
    "penstock.datastream.state:ListState": "add add_all clear get update",
    "penstock.datastream.state:StateTtlConfig": """
        Builder CleanupStrategies StateVisibility TtlTimeCharacteristic UpdateType get_cleanup_strategies
        get_state_visibility get_ttl get_ttl_time_characteristic get_update_type is_enabled new_builder""",
    "penstock.datastream.state:StateTtlConfig.Builder": """
        build cleanup_full_snapshot cleanup_in_rocksdb_compact_filter cleanup_incrementally
        disable_cleanup_in_background never_return_expired return_expired_if_not_cleaned_up
        set_state_visibility set_ttl set_ttl_time_characteristic set_update_type
        update_ttl_on_create_and_write update_ttl_on_read_and_write use_processing_time""",
    "penstock.datastream:TumblingEventTimeWindows": "is_event_time of",
    "penstock.datastream:TimeWindow": "cover get_window_start_with_offset intersects max_timestamp",
    "penstock.datastream:CloseableIterator": "close next",
    "penstock.common:Types": """
        BASIC_ARRAY BIG_DEC BIG_INT BOOLEAN BYTE CHAR DOUBLE FLOAT INSTANT INT LIST LONG MAP OBJECT_ARRAY
        PICKLED_BYTE_ARRAY PRIMITIVE_ARRAY ROW ROW_NAMED SHORT SQL_DATE SQL_TIME SQL_TIMESTAMP STRING TUPLE""",
    "penstock.common:Row": """
        as_dict get_fields_by_names get_row_kind set_field set_field_names set_row_kind""",
    "penstock.common:Configuration": """
        add_all add_all_to_dict contains_key get_boolean get_bytearray get_float get_integer get_string key_set
        parse_jars_value remove_config set_boolean set_bytearray set_float set_integer set_string to_dict""",
    "penstock.common:Time": "days hours milliseconds minutes seconds to_milliseconds",
    "penstock.common:Duration": "of_days of_hours of_millis of_minutes of_nanos of_seconds",
    "penstock.common:WatermarkStrategy": """
        for_bounded_out_of_orderness for_generator for_monotonous_timestamps no_watermarks with_idleness
        with_timestamp_assigner with_watermark_alignment""",
    "penstock.common:JobClient": """
        cancel get_accumulators get_job_execution_result get_job_id get_job_status stop_with_savepoint
        trigger_savepoint""",
    "penstock.common:JobExecutionResult": """
        get_accumulator_result get_all_accumulator_results get_job_id get_net_runtime
        is_job_execution_result""",
    "penstock.common:JobStatus": "is_globally_terminal_state is_terminal_state",
    "penstock.common": """
        CompletableFuture Configuration Duration Encoder ExecutionConfig ExecutionMode Instant JobClient
        JobExecutionResult JobID JobStatus Row RowKind SimpleStringSchema Time TypeInformation Types
        WatermarkStrategy""",
    "penstock.datastream": """
        AggregateFunction AllWindowedStream BroadcastProcessFunction BroadcastStream CheckpointConfig
        CheckpointingMode CloseableIterator CoFlatMapFunction CoMapFunction CoProcessFunction ConnectedStreams
        CountWindow DataStream DataStreamSink EmbeddedRocksDBStateBackend EventTimeSessionWindows
        ExternalizedCheckpointRetention FilterFunction FlatMapFunction GlobalWindow GlobalWindows
        HashMapStateBackend KeySelector KeyedBroadcastProcessFunction KeyedCoProcessFunction
        KeyedProcessFunction KeyedStream MapFunction OutputTag Partitioner ProcessAllWindowFunction
        ProcessFunction ProcessWindowFunction ProcessingTimeSessionWindows ReduceFunction RuntimeContext
        RuntimeExecutionMode SinkFunction SlidingEventTimeWindows SlidingProcessingTimeWindows
        SlotSharingGroup SourceFunction StateBackend StreamExecutionEnvironment TimeDomain TimeWindow
        TimerService Trigger TriggerResult TumblingEventTimeWindows TumblingProcessingTimeWindows Window
        WindowAssigner WindowFunction WindowedStream""",
}

# What is not there yet, or has no meaning without a JVM.
LEFT_OUT = {
    "penstock.datastream:StreamExecutionEnvironment": """
        add_classpaths add_jars add_python_archive add_python_file add_source create_input
        enable_changelog_state_backend get_config get_default_local_parallelism
        is_changelog_state_backend_enabled is_force_unaligned_checkpoints
        is_unaligned_checkpoints_enabled register_cached_file register_slot_sharing_group
        set_default_local_parallelism set_python_executable
        set_python_requirements""",
    "penstock.datastream:DataStream": """
        cache connect count_window_all partition_custom project rescale set_buffer_timeout set_uid_hash
        shuffle slot_sharing_group""",
    "penstock.datastream:DataStreamSink": "set_uid_hash slot_sharing_group",
    "penstock.datastream:KeyedStream": "connect count_window partition_custom",
    "penstock.datastream:WindowedStream": "evictor trigger",
    "penstock.datastream:AllWindowedStream": "evictor trigger",
    "penstock.datastream:CheckpointConfig": """
        disable_unaligned_checkpoints enable_unaligned_checkpoints get_aligned_checkpoint_timeout
        get_checkpoint_storage get_checkpoint_timeout get_externalized_checkpoint_retention
        get_max_concurrent_checkpoints get_min_pause_between_checkpoints
        get_tolerable_checkpoint_failure_number is_externalized_checkpoints_enabled
        is_force_unaligned_checkpoints is_unaligned_checkpoints_enabled set_aligned_checkpoint_timeout
        set_checkpoint_storage set_checkpoint_timeout set_externalized_checkpoint_retention
        set_force_unaligned_checkpoints set_max_concurrent_checkpoints set_min_pause_between_checkpoints
        set_tolerable_checkpoint_failure_number""",
    "penstock.datastream:RuntimeContext": "get_metrics_group",
    "penstock.common:Row": "get_row_kind set_row_kind",
    "penstock.common:Configuration": "parse_jars_value",
    "penstock.common:Duration": "of_nanos",
    "penstock.common:WatermarkStrategy": "for_generator with_watermark_alignment",
    "penstock.common": "Encoder ExecutionConfig ExecutionMode Instant JobID RowKind SimpleStringSchema",
    "penstock.datastream": """
        BroadcastProcessFunction BroadcastStream CoFlatMapFunction CoMapFunction CoProcessFunction
        ConnectedStreams CountWindow EventTimeSessionWindows ExternalizedCheckpointRetention GlobalWindow
        GlobalWindows KeyedBroadcastProcessFunction KeyedCoProcessFunction Partitioner
        ProcessingTimeSessionWindows SlidingEventTimeWindows SlidingProcessingTimeWindows SlotSharingGroup
        SourceFunction Trigger TriggerResult TumblingProcessingTimeWindows Window""",
}


def find(place: str) -> Any:
    module, _, name = place.partition(":")
    found: Any = import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("place", PYFLINK)
def test_pyflink_names_are_there_but_for_those_left_out(place: str) -> None:
    found = find(place)
    missing = {name for name in PYFLINK[place].split() if not hasattr(found, name)}
    assert missing == set(LEFT_OUT.get(place, "").split())


def test_the_left_out_list_names_only_pyflink_s_names() -> None:
    for place, names in LEFT_OUT.items():
        assert set(names.split()) <= set(PYFLINK[place].split()), place


@pytest.mark.parametrize("place", PYFLINK)
def test_lists_are_sorted_and_without_repetition(place: str) -> None:
    for names in (PYFLINK[place].split(), LEFT_OUT.get(place, "").split()):
        assert names == sorted(set(names))


def modules() -> list[str]:
    """All modules of the package but the compiled one and those that only Spark needs."""
    names = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts[1:3] != ("runtime", "spark") and not parts[-1].startswith("_"):
            names.append(".".join(parts))
    return names


def sort_key(name: str) -> tuple[int, str]:
    """Constants, classes, everything else: as ruff sorts them."""
    if name.isupper() and len(name) > 1:
        return 0, name
    return (1, name) if name[0].isupper() else (2, name)


@pytest.mark.parametrize("name", modules())
def test_all_names_of_a_module_resolve_and_are_sorted(name: str) -> None:
    module = import_module(name)
    listed = getattr(module, "__all__", [])
    assert listed == sorted(set(listed), key=sort_key)
    assert [entry for entry in listed if not hasattr(module, entry)] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_public_modules_list_their_names_and_describe_themselves(name: str) -> None:
    module = import_module(name)
    assert module.__all__
    assert module.__doc__


def exported(module: ModuleType) -> Iterator[Any]:
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isclass(found) or inspect.isfunction(found):
            yield found


def functions(found: Any) -> Iterator[tuple[str, Any]]:
    """The function itself, or the public methods that a class of ours defines."""
    if inspect.isfunction(found):
        yield found.__qualname__, found
        return
    for base in found.__mro__:
        if not base.__module__.startswith("penstock"):
            continue
        for name, member in vars(base).items():
            if isinstance(member, staticmethod | classmethod):
                member = member.__func__
            elif isinstance(member, property):
                member = member.fget
            own = inspect.isfunction(member) and member.__module__.startswith("penstock")
            if own and (not name.startswith("_") or name == "__init__"):
                yield f"{base.__name__}.{name}", member


def not_annotated(function: Any) -> list[str]:
    signature = inspect.signature(function)
    missing = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is inspect.Parameter.empty and parameter.name not in {"self", "cls"}
    ]
    return [*missing, "return"] if signature.return_annotation is signature.empty else missing


@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_are_annotated_completely(name: str) -> None:
    incomplete = {
        place: missing
        for found in exported(import_module(name))
        for place, function in functions(found)
        if (missing := not_annotated(function)) and not _is_generated(function)
    }
    assert incomplete == {}


def _is_generated(function: Any) -> bool:
    """Methods that dataclasses and enums write themselves."""
    return function.__code__.co_filename.startswith("<") or function.__module__ == "enum"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_classes_and_functions_have_docstrings(name: str) -> None:
    silent = [found.__name__ for found in exported(import_module(name)) if not found.__doc__]
    assert silent == []


def test_the_package_lists_its_names_and_refuses_others() -> None:
    assert dir(penstock) == sorted(penstock.__all__)
    with pytest.raises(AttributeError, match="module 'penstock' has no attribute 'nothing'"):
        _ = penstock.nothing


def test_the_package_is_typed_and_has_a_version() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert penstock.__version__.count(".") >= 2
