"""Everything that describes an operator travels: each spec survives cloudpickle, and a whole job graph still runs."""

import inspect
from typing import Any

import cloudpickle
import pyarrow as pa
import pytest

from penstock import StreamExecutionEnvironment, Types, col
from penstock.common import Configuration
from penstock.graph import specs
from penstock.graph.job_graph import JobGraph
from penstock.graph.specs import AggregateCall
from penstock.runtime.launch import launch

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int64())])
CALLS = (AggregateCall("sum", "v", "total"), AggregateCall("count", None, "n"))


def increased(value: int) -> int:
    return value + 1


SPECS: list[specs.OperatorSpec] = [
    specs.CollectionSourceSpec([1, "a", (2, None)]),
    specs.ArrowSourceSpec(pa.table({"v": [1, 2]})),
    specs.GeneratorSourceSpec((("id", "sequence", {"start": 0, "step": 1}),), 10, 3, None),
    specs.ScriptedSourceSpec((("rows", [1], [5]), ("watermark", 9), ("idle",))),
    specs.MapSpec(increased),
    specs.FilterSpec(increased),
    specs.FlatMapSpec(increased),
    specs.ExpressionSelectSpec((("w", (col("v") * 2).cast(Types.DOUBLE())),)),
    specs.ExpressionFilterSpec(col("v").is_in([1, 2]) & col("k").is_not_null()),
    specs.RowsToColumnsSpec(SCHEMA),
    specs.TimestampsSpec(function=increased, delay_ms=5, idle_ms=100),
    specs.KeySelectorSpec(("k",)),
    specs.ProcessSpec(increased, ("side",)),
    specs.KeyedProcessSpec(increased),
    specs.KeyedReduceSpec(increased),
    specs.SlicedWindowSpec(("k",), 1000, 0, CALLS, SCHEMA, late_side=0),
    specs.LocalWindowSpec(("k",), 1000, 0, CALLS, SCHEMA),
    specs.GeneralWindowSpec(1000, 0, 0, ("reduce", increased)),
    specs.CollectSinkSpec("c"),
    specs.PrintSinkSpec("p", to_stderr=True),
    specs.DiscardSinkSpec(),
    specs.BatchSinkSpec(increased),
    specs.FunctionSinkSpec(increased),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
def test_spec_survives_cloudpickle(spec: Any) -> None:
    copy = cloudpickle.loads(cloudpickle.dumps(spec))
    assert type(copy) is type(spec)
    # Expressions have no equality of their own: == builds a new one.
    assert repr(copy) == repr(spec)


def test_every_spec_is_tried() -> None:
    bases = {specs.OperatorSpec, specs.SourceSpec}
    kinds = {
        kind
        for _, kind in inspect.getmembers(specs, inspect.isclass)
        if issubclass(kind, specs.OperatorSpec) and kind not in bases
    }
    assert {type(spec) for spec in SPECS} == kinds


@pytest.mark.native
def test_pickled_job_graph_runs() -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    offset = 10
    rows = env.from_collection([(1, "a"), (2, "b")], Types.ROW_NAMED(["v", "k"], [Types.LONG(), Types.STRING()]))  # fmt: skip
    rows.filter(col("v") > 1).map(lambda row: row["v"] + offset).print("p")
    graph: JobGraph = cloudpickle.loads(cloudpickle.dumps(env.get_job_graph("Travelled")))
    result = launch(graph, Configuration()).result()
    printed = [m["records_in"] for m in result.metrics if m["name"].startswith("Sink")]
    assert (result.job_name, sum(printed)) == ("Travelled", 1)
