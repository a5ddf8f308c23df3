"""Everything that travels to a Spark executor pickles: plans, functions, expressions, values, errors."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock import (
    Configuration,
    Duration,
    Expression,
    Row,
    StreamExecutionEnvironment,
    Time,
    Types,
    WatermarkStrategy,
    call_function,
    col,
    lit,
)
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import (
    AggregateFunction,
    MapFunction,
    OutputTag,
    RuntimeContext,
    TimeWindow,
    TumblingEventTimeWindows,
)
from penstock.datastream.field_reduce import FieldReduce
from penstock.datastream.window_functions import WindowFunctionAdapter
from penstock.errors import CheckpointError, PenstockError, UserCodeError

TABLE = pa.table({"k": ["a", "b"], "v": [1, 2], "ts": [0, 1]})
WINDOW = TumblingEventTimeWindows.of(Time.seconds(10))


def again(value: Any) -> Any:
    return cloudpickle.loads(cloudpickle.dumps(value))


@pytest.mark.parametrize(
    "value",
    [
        Row(1, "a"),
        Row(a=1, b=Row(c=2)),
        Time.seconds(3),
        Duration.of_minutes(1),
        Types.INT(),
        Types.ROW_NAMED(["a"], [Types.MAP(Types.STRING(), Types.LIST(Types.LONG()))]),
        Types.PICKLED_BYTE_ARRAY(),
        Configuration({"a": 1}),
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)),
        OutputTag("late", Types.INT()),
        TimeWindow(0, 10),
        F.sum("v").alias("total"),
        DataGen(count=3, seed=1).timestamp("ts").choice("c", ["a", "b"]),
    ],
    ids=repr,
)
def test_values_come_back_equal(value: Any) -> None:
    assert again(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert repr(again(value)) == repr(value)


EXPRESSIONS = [
    col("v"),
    lit(None),
    (col("v") * 2 > 1) & ~col("k").is_null(),
    -col("v") // 2 % 3,
    col("v").cast(pa.decimal128(30, 2)).alias("d"),
    col("k").is_in(["a", None]),
    col("v").between(0, 1) | col("k").fill_null("x").is_not_null(),
    abs(col("v")),
    call_function("round", col("v") / 3, options=pc.RoundOptions(ndigits=2)),
    call_function(
        "strftime", lit(pa.scalar(0, pa.timestamp("s"))), options=pc.StrftimeOptions("%Y")
    ),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda expression: expression.text())
@pytest.mark.parametrize("module", [pickle, cloudpickle], ids=["pickle", "cloudpickle"])
def test_expressions_compute_the_same_afterwards(expression: Expression, module: Any) -> None:
    batch = TABLE.to_batches()[0]
    restored = pickle.loads(module.dumps(expression))
    assert restored.text() == expression.text()
    assert restored.name == expression.name
    assert restored.evaluate(batch).equals(expression.evaluate(batch))


class Add(MapFunction):
    def __init__(self, number: int) -> None:
        self.number = number

    def map(self, value: Any) -> Any:
        return value.v + self.number


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return (0, 0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return (accumulator[0] + value.v, accumulator[1] + 1)

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])


def whole_program() -> StreamExecutionEnvironment:
    """A job with every kind of operator there is."""
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    late = OutputTag("late")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("ts")
    rows = env.from_arrow(TABLE).filter(col("v") > 0).with_columns(w=col("v") * 2)
    timed = rows.assign_timestamps_and_watermarks(strategy)
    windows = timed.key_by("k").window(WINDOW).side_output_late_data(late).aggregate(F.sum("v"))
    windows.get_side_output(late).print("late")
    timed.key_by("k").window(WINDOW).aggregate(F.count(), F.avg("v")).for_each_batch(len)
    timed.key_by(lambda row: row.k).window(WINDOW).reduce(
        lambda a, b: a, lambda key, window, elements: [(key, window.start, *elements)]
    ).discard()
    timed.window_all(WINDOW).aggregate(Mean()).add_sink(print)
    timed.key_by("k").window(WINDOW).sum("v").discard()
    generated = env.from_generator(DataGen(count=5).sequence("i"))
    generated.flat_map(lambda row: [row]).rebalance().map(str, Types.STRING()).discard()
    typed = env.from_collection(
        [Row(k="a", v=1)], Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.LONG()])
    )
    typed.map(Add(5)).discard()
    typed.select("v").union(typed.select("v")).broadcast().filter(lambda row: True).discard()
    return env


def test_a_whole_plan_comes_back_with_the_same_operators() -> None:
    graph = whole_program().get_job_graph("travelling")
    restored = again(graph)
    assert restored.name == "travelling"
    assert restored.edges == graph.edges
    assert [v.name for v in restored.vertices] == [v.name for v in graph.vertices]
    described = [[(o.uid, type(o.spec), o.upstream) for o in v.operators] for v in graph.vertices]
    assert described == [
        [(o.uid, type(o.spec), o.upstream) for o in v.operators] for v in restored.vertices
    ]


def test_a_plan_travels_to_another_process(tmp_path: Path) -> None:
    file = tmp_path / "plan"
    program = f"""
import pickle
graph, double = pickle.load(open({str(file)!r}, "rb"))
adds = [o.spec for v in graph.vertices for o in v.operators if type(o.spec).__name__ == "MapSpec"]
from penstock import Row
print(double(len(graph.vertices)), [s.function(Row(v=1)) for s in adds if s.lifecycle])
"""
    # The other process does not have this module: functions defined here travel by value.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        file.write_bytes(cloudpickle.dumps((whole_program().get_job_graph(), lambda x: x * 2)))
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    vertices = len(whole_program().get_job_graph().vertices)
    assert done.stdout.strip() == f"{2 * vertices} [6]"


def test_window_functions_work_the_same_afterwards() -> None:
    reduce_max = again(FieldReduce("max", "v"))
    assert reduce_max(Row(k="a", v=1), Row(k="b", v=5)) == ("a", 5)
    adapter = again(WindowFunctionAdapter(lambda key, window, elements: [(key, window)], False))
    assert list(adapter("a", 0, 10, 0, [1])) == [("a", TimeWindow(0, 10))]


def test_runtime_contexts_come_back_with_their_facts() -> None:
    context = again(RuntimeContext("Map", 1, 4, 128))
    assert context.get_task_name_with_subtasks() == "Map (2/4)"


@pytest.mark.parametrize("kind", [PenstockError, UserCodeError, CheckpointError])
def test_errors_keep_their_parts(kind: type[PenstockError]) -> None:
    error = again(kind("it broke", operator="Map", subtask=3, record="Row(a=1)"))
    assert type(error) is kind
    assert (str(error), error.operator, error.subtask, error.record) == (
        "it broke",
        "Map",
        3,
        "Row(a=1)",
    )
