"""The DataStream API, with PyFlink's names."""

from __future__ import annotations

from penstock.common.time_domain import TimeDomain
from penstock.common.timer_service import TimerService
from penstock.datastream.checkpoint_config import CheckpointConfig, CheckpointingMode
from penstock.datastream.closeable_iterator import CloseableIterator
from penstock.datastream.data_stream import DataStream
from penstock.datastream.functions import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    WindowFunction,
)
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.output_tag import OutputTag
from penstock.datastream.runtime_execution_mode import RuntimeExecutionMode
from penstock.datastream.sinks import DataStreamSink
from penstock.datastream.state_backend import (
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    PredefinedOptions,
    StateBackend,
)
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.datastream.window import TimeWindow, TumblingEventTimeWindows, WindowAssigner
from penstock.datastream.windowed_stream import AllWindowedStream, WindowedStream

__all__ = [
    "AggregateFunction",
    "AllWindowedStream",
    "CheckpointConfig",
    "CheckpointingMode",
    "CloseableIterator",
    "DataStream",
    "DataStreamSink",
    "EmbeddedRocksDBStateBackend",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "HashMapStateBackend",
    "KeySelector",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "OutputTag",
    "PredefinedOptions",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "SinkFunction",
    "StateBackend",
    "StreamExecutionEnvironment",
    "TimeDomain",
    "TimeWindow",
    "TimerService",
    "TumblingEventTimeWindows",
    "WindowAssigner",
    "WindowFunction",
    "WindowedStream",
]
