"""Operators: mistakes are found when the job is built, and the messages say what to do."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from penstock import StreamExecutionEnvironment, Types, WatermarkStrategy, col, lit
from penstock.datastream import (
    DataStream,
    FilterFunction,
    MapFunction,
    OutputTag,
    SinkFunction,
)

TABLE = pa.table(
    {
        "user": ["a"],
        "price": [1.5],
        "at": pa.array([0], pa.timestamp("us")),
        "tags": [["x"]],
        "good": [True],
    }
)


class Twice(MapFunction):
    def map(self, value: Any) -> Any:
        return value * 2


class Keep(FilterFunction):
    def filter(self, value: Any) -> bool:
        return bool(value)


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


@pytest.fixture
def stream(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_arrow(TABLE)


@pytest.fixture
def objects(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([1, 2])


UNKNOWN = r"no column 'prize' \(did you mean 'price'\?\); the columns are \['user', 'price'"


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.select("prize"),
        lambda s: s.select(col("user"), col("prize") * 2),
        lambda s: s.map(col("prize") * 2),
        lambda s: s.filter(col("prize") > 1),
        lambda s: s.with_columns(x=col("prize")),
        lambda s: s.key_by("prize"),
        lambda s: s.key_by("user", "prize"),
        lambda s: s.key_by(["user", "prize"]),
        lambda s: s.key_by(col("prize")),
        lambda s: s.assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("prize")
        ),
    ],
)
def test_an_unknown_column_is_named_with_the_nearest_one(
    stream: DataStream, build: Callable[[DataStream], Any]
) -> None:
    with pytest.raises(KeyError, match=UNKNOWN):
        build(stream)


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda s: s.select("x"), r"select\(\)"),
        (lambda s: s.map(col("x")), r"select\(\)"),
        (lambda s: s.filter(col("x")), r"filter\(\) with a column expression"),
        (lambda s: s.with_columns(x=1), r"with_columns\(\)"),
        (lambda s: s.key_by("x"), r"key_by\(\) with column names"),
        (lambda s: s.for_each_batch(print), r"for_each_batch\(\)"),
        (
            lambda s: s.assign_timestamps_and_watermarks(
                WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("x")
            ),
            r"with_timestamp_column\('x'\)",
        ),
    ],
)
def test_columns_are_needed_where_columns_are_named(
    objects: DataStream, build: Callable[[DataStream], Any], what: str
) -> None:
    message = rf"{what} needs columns, but 'Source: Collection' emits Python objects.*output_type="
    with pytest.raises(TypeError, match=message):
        build(objects)


def test_a_condition_must_be_boolean(stream: DataStream) -> None:
    with pytest.raises(TypeError, match=r"filter\(price \+ 1\): the condition must be boolean"):
        stream.filter(col("price") + 1)


def test_an_expression_that_cannot_be_computed_is_refused(stream: DataStream) -> None:
    with pytest.raises(TypeError, match=r"the expression user \* 2 cannot be computed"):
        stream.select(col("user") * 2)


def test_two_columns_of_one_name_are_refused(stream: DataStream) -> None:
    with pytest.raises(ValueError, match=r"select\(\): two columns would be called 'user'"):
        stream.select("user", col("price").alias("user"))


def test_select_and_with_columns_need_something(stream: DataStream) -> None:
    with pytest.raises(TypeError, match=r"select\(\) needs at least one column expression"):
        stream.select()
    with pytest.raises(TypeError, match=r"with_columns\(\) needs at least one name=expression"):
        stream.with_columns()
    with pytest.raises(TypeError, match=r"select\(\) takes column expressions, not 5; use col"):
        stream.select(5)  # type: ignore[arg-type]


def test_with_columns_adds_and_replaces(stream: DataStream) -> None:
    schema = stream.with_columns(price=col("price") * 2, n=lit(1), s="x").get_schema()
    assert schema.names == ["user", "price", "at", "tags", "good", "n", "s"]
    assert schema.field("s").type == pa.string()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s: s.map(5), r"map\(\) takes a MapFunction or a callable, not 5"),
        (lambda s: s.map(Twice), r"map\(\) takes a MapFunction object or a callable, not <class"),
        (lambda s: s.map(Keep()), r"map\(\) takes a MapFunction object or a callable"),
        (lambda s: s.filter(Twice()), r"filter\(\) takes a FilterFunction object or a callable"),
        (lambda s: s.flat_map("x"), r"flat_map\(\) takes a FlatMapFunction or a callable"),
        (lambda s: s.key_by(Twice()), r"key_by\(\) takes a KeySelector"),
        (lambda s: s.add_sink(Twice()), r"add_sink\(\) takes a SinkFunction object or a callable"),
        (lambda s: s.add_sink(7), r"add_sink\(\) takes a SinkFunction or a callable, not 7"),
        (lambda s: s.map(str, output_type=str), r"map\(\): output_type must be one of Types"),
        (lambda s: s.map(str, Types.INT(), Types.INT()), r"map\(\) with a function takes at most"),
        (lambda s: s.flat_map(str, "x"), r"flat_map\(\): output_type must be one of Types"),
        (lambda s: s.sink_to(print), r"sink_to\(\) takes a Sink, not .*add_sink\(\)"),
        (lambda s: s.get_side_output("late"), r"get_side_output\(\) takes an OutputTag"),
        (lambda s: s.union(5), r"union\(\) takes streams, not 5"),
        (lambda s: s.assign_timestamps_and_watermarks(5), "a WatermarkStrategy is needed, not 5"),
        (lambda s: s.execute_and_collect(limit=-1), "limit must not be negative, but is -1"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(
    objects: DataStream, build: Callable[[DataStream], Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        build(objects)


def test_expressions_know_their_type(stream: DataStream) -> None:
    with pytest.raises(TypeError, match="knows its type; leave output_type out"):
        stream.map(col("price"), output_type=Types.DOUBLE())


def test_function_objects_and_callables_are_taken(objects: DataStream) -> None:
    class Sink(SinkFunction):
        def invoke(self, value: Any) -> None:
            pass

    assert objects.map(Twice()).filter(Keep()).get_name() == "Filter"
    assert objects.map(str, Types.STRING()).get_type() == Types.STRING()
    assert objects.map(str, output_type=Types.STRING()).get_type() == Types.STRING()
    objects.add_sink(Sink())


@pytest.mark.parametrize("column", ["price", "user", "tags", "good"])
def test_event_times_come_from_times(stream: DataStream, column: str) -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column(column)
    with pytest.raises(TypeError, match=rf"column '{column}' of type .* cannot give event times"):
        stream.assign_timestamps_and_watermarks(strategy)


@pytest.mark.parametrize("kind", [pa.int64(), pa.timestamp("ns", "UTC"), pa.date32(), pa.uint32()])
def test_timestamps_dates_and_integers_give_event_times(
    env: StreamExecutionEnvironment, kind: pa.DataType
) -> None:
    stream = env.from_arrow(pa.schema([("t", kind)]).empty_table())
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_column("t")
    assert stream.assign_timestamps_and_watermarks(strategy).get_schema().names == ["t"]


def test_a_union_takes_streams_of_one_type(env: StreamExecutionEnvironment) -> None:
    one = env.from_arrow(pa.table({"a": [1]}))
    other = env.from_arrow(pa.table({"a": ["x"]}))
    message = r"union\(\) takes streams of one type, .*\(a: int64\) and \(a: string\)"
    with pytest.raises(TypeError, match=message):
        one.union(one, other)


def test_a_union_does_not_mix_rows_of_one_field_with_bare_values(
    env: StreamExecutionEnvironment,
) -> None:
    rows = env.from_collection([(1,)], Types.ROW([Types.LONG()]))
    values = env.from_collection([1], Types.LONG())
    with pytest.raises(TypeError, match=r"union\(\) takes streams of one type"):
        rows.union(values)


def test_a_union_takes_streams_of_one_environment(
    env: StreamExecutionEnvironment, objects: DataStream
) -> None:
    other = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    with pytest.raises(ValueError, match=r"union\(\) takes streams of one environment"):
        objects.union(other)


def test_a_side_output_that_does_not_exist_is_refused(objects: DataStream) -> None:
    with pytest.raises(ValueError, match="'Map' has no side output 'late'; it has none"):
        objects.map(str).get_side_output(OutputTag("late"))
    with pytest.raises(ValueError, match="the id of an OutputTag must be a text"):
        OutputTag("")


def test_arguments_of_sinks_have_types(objects: DataStream) -> None:
    with pytest.raises(TypeError, match=r"print\(\) takes a text to stand before elements, not 5"):
        objects.print(5)  # type: ignore[arg-type]
    for wrong in ("3", 2.5, True):
        with pytest.raises(TypeError, match="limit must be an int, not"):
            objects.execute_and_collect(limit=wrong)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.window, r"DataStream.window is not there yet: .*key_by.*window_all"),
        (lambda s: s.shuffle, r"DataStream.shuffle is not there yet: use rebalance\(\)"),
        (lambda s: s.connect, r"DataStream.connect is not there yet$"),
        (lambda s: s.key_by("user").count_window, r"KeyedStream.count_window is not .*window"),
        (lambda s: s.key_by("user").shuffle, r"KeyedStream.shuffle is not there yet: use reb"),
        (lambda s: s.get_execution_environment().add_jars, "there is no JVM; leave it out"),
        (lambda s: s.nothing, "'DataStream' object has no attribute 'nothing'"),
    ],
)
def test_names_of_pyflink_that_are_missing_come_with_advice(
    stream: DataStream, ask: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(AttributeError, match=message):
        ask(stream)


def test_streams_show_their_operator_and_type(stream: DataStream) -> None:
    assert repr(stream.select("user")) == "<DataStream 'Select' of ROW<user STRING>>"
