"""State: what it is (descriptors), what it can do, and how long it lives.

A function asks for its state in ``open`` and uses it while it processes an element or a timer: it then sees what the key of
that element has.

>>> from penstock import StreamExecutionEnvironment, Types
>>> from penstock.datastream import KeyedProcessFunction
>>> class CountPerWord(KeyedProcessFunction):
...     def open(self, runtime_context):
...         self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
...     def process_element(self, value, ctx):
...         count = (self.count.value() or 0) + 1
...         self.count.update(count)
...         yield value, count
>>> env = StreamExecutionEnvironment.get_execution_environment()
>>> words = env.from_collection(["to", "be", "or", "not", "to", "be"])
>>> sorted(words.key_by(lambda word: word).process(CountPerWord()).execute_and_collect())
[('be', 1), ('be', 2), ('not', 1), ('or', 1), ('to', 1), ('to', 2)]
"""

from __future__ import annotations

from penstock.common.checkpointed_function import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    OperatorStateStore,
)
from penstock.common.state import (
    AggregatingState,
    AppendingState,
    BroadcastState,
    ListState,
    MapState,
    MergingState,
    ReadOnlyBroadcastState,
    ReducingState,
    State,
    ValueState,
)
from penstock.common.state_descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.common.state_ttl_config import StateTtlConfig

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "CheckpointedFunction",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "OperatorStateStore",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "StateTtlConfig",
    "ValueState",
    "ValueStateDescriptor",
]
