"""The execution plan: JSON in the form of Flink's plan visualizer."""

import json
from typing import Any

import pyarrow as pa
import pytest

from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy, col
from penstock import functions as F
from penstock.datastream import OutputTag, TumblingEventTimeWindows


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def nodes(env: StreamExecutionEnvironment) -> list[dict[str, Any]]:
    plan = json.loads(env.get_execution_plan())
    assert list(plan) == ["nodes"]
    found: list[dict[str, Any]] = plan["nodes"]
    return found


def windows(env: StreamExecutionEnvironment) -> Any:
    clicks = pa.table({"ad": ["a"], "price": [1.5], "ts": [0]})
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    return (
        env.from_arrow(clicks)
        .assign_timestamps_and_watermarks(strategy.with_timestamp_column("ts"))
        .filter(col("price") > 1)
        .set_description("only the dear ones")
        .key_by("ad")
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
    )


def test_nodes_say_who_they_are_and_who_feeds_them(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(lambda v: v).name("mine").rebalance().print().set_parallelism(1)
    source, mapped, sink = nodes(env)
    assert source == {
        "id": 1,
        "type": "Source: Collection",
        "pact": "Data Source",
        "contents": "Source: Collection",
        "parallelism": 2,
        "uid": source["uid"],
    }
    assert (mapped["type"], mapped["pact"]) == ("mine", "Operator")
    assert mapped["predecessors"] == [{"id": 1, "ship_strategy": "FORWARD", "chained": True}]
    assert sink["parallelism"] == 1
    assert sink["predecessors"] == [{"id": 2, "ship_strategy": "REBALANCE", "chained": False}]


def test_descriptions_are_the_contents(env: StreamExecutionEnvironment) -> None:
    windows(env).aggregate(F.count()).select("ad", (col("count") * 2).alias("twice")).discard()
    contents = {node["type"]: node["contents"] for node in nodes(env)}
    assert contents["Filter"] == "only the dear ones"
    assert contents["Select"] == "select(ad, (count * 2) AS twice)"


def test_windows_say_which_operator_was_chosen_and_why(env: StreamExecutionEnvironment) -> None:
    windows(env).aggregate(F.count(), F.sum("price")).discard()
    (window,) = [node for node in nodes(env) if "window_operator" in node]
    assert window["window_operator"] == "sliced"
    assert "pre-aggregated before the exchange" in window["reason"]
    assert window["predecessors"] == [
        {"id": window["id"] - 1, "ship_strategy": "HASH", "chained": False, "key_columns": ["ad"]}
    ]


def test_side_outputs_are_marked(env: StreamExecutionEnvironment) -> None:
    late = OutputTag("late")
    counted = windows(env).side_output_late_data(late).aggregate(F.count())
    counted.get_side_output(late).print()
    *_, sink = nodes(env)
    assert sink["predecessors"][0]["side_output"] == 0


def test_the_plan_of_nothing_is_an_error(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1])
    with pytest.raises(RuntimeError, match="No operators defined in streaming topology"):
        env.get_execution_plan()
