"""Windows: assigners, lateness, aggregates and functions that cannot work are refused at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from penstock import Duration, StreamExecutionEnvironment, Time, Types, col
from penstock import functions as F
from penstock.datastream import (
    AggregateFunction,
    MapFunction,
    OutputTag,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    TimeWindow,
    TumblingEventTimeWindows,
    WindowAssigner,
    WindowFunction,
)

WINDOW = TumblingEventTimeWindows.of(Time.seconds(10))


class Count(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


class PerKey(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        return elements


class OverAll(ProcessAllWindowFunction):
    def process(self, context: Any, elements: Any) -> Any:
        return elements


class Apply(WindowFunction):
    def apply(self, key: Any, window: TimeWindow, inputs: Any) -> Any:
        return inputs


class Identity(MapFunction):
    def map(self, value: Any) -> Any:
        return value


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def stream(env: StreamExecutionEnvironment) -> Any:
    return env.from_arrow(pa.table({"k": ["a"], "v": [1], "s": ["x"], "l": [[1]]}))


@pytest.fixture
def windows(stream: Any) -> Any:
    return stream.key_by("k").window(WINDOW)


@pytest.mark.parametrize("size", [0, -1])
def test_a_window_has_a_size(size: int) -> None:
    with pytest.raises(ValueError, match=f"needs a size of at least 1 ms, not {size} ms"):
        TumblingEventTimeWindows.of(Time.milliseconds(size))


@pytest.mark.parametrize("offset", [10, -10, 11])
def test_an_offset_is_smaller_than_the_size(offset: int) -> None:
    message = rf"must satisfy abs\(offset\) < size, but offset is {offset} ms and size 10 ms"
    with pytest.raises(ValueError, match=message):
        TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(offset))


@pytest.mark.parametrize("wrong", [1.5, None, True, [10]])
def test_a_size_is_a_length_of_time(wrong: Any) -> None:
    with pytest.raises(TypeError, match="size must be a Time, a Duration, a timedelta"):
        TumblingEventTimeWindows.of(wrong)


@pytest.mark.parametrize("size", [Time.seconds(1), Duration.of_seconds(1), timedelta(seconds=1)])
def test_a_size_is_any_length_of_time(size: Any) -> None:
    assert TumblingEventTimeWindows.of(size).size_ms == 1000


def test_only_assigners_make_windows(stream: Any) -> None:
    class Mine(WindowAssigner):
        def is_event_time(self) -> bool:
            return True

    with pytest.raises(TypeError, match="a WindowAssigner is needed, not 10"):
        stream.key_by("k").window(10)
    with pytest.raises(TypeError, match="a WindowAssigner is needed, not 10"):
        stream.window_all(10)
    with pytest.raises(NotImplementedError, match="only TumblingEventTimeWindows can run yet"):
        stream.key_by("k").window(Mine())


def test_lateness_is_not_negative_and_in_milliseconds(windows: Any) -> None:
    with pytest.raises(ValueError, match="the allowed lateness must not be negative, but is -1 ms"):
        windows.allowed_lateness(-1)
    for wrong in (1.5, "1 s", True):
        with pytest.raises(TypeError, match=r"allowed_lateness\(\) takes milliseconds as an int"):
            windows.allowed_lateness(wrong)
    with pytest.raises(TypeError, match=r"side_output_late_data\(\) takes an OutputTag"):
        windows.side_output_late_data("late")


@pytest.mark.parametrize(
    ("aggregate", "error", "message"),
    [
        (F.sum("w"), KeyError, r"no column 'w'"),
        (F.sum("s"), TypeError, "sum cannot aggregate column 's' of type string; it works on int"),
        (F.avg("s"), TypeError, "avg cannot aggregate column 's' of type string"),
        (F.max("l"), TypeError, "max cannot aggregate column 'l' of type list<.*it works on numb"),
        (F.sum("v").alias("k"), ValueError, "would have two columns 'k'; give the aggregate"),
        (F.count().alias("window_start"), ValueError, "two columns 'window_start'"),
    ],
)
def test_aggregates_that_cannot_work_are_refused(
    windows: Any, aggregate: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        windows.aggregate(aggregate)


def test_two_aggregates_of_one_name_are_refused(windows: Any) -> None:
    with pytest.raises(ValueError, match="two columns 'sum_v'"):
        windows.aggregate(F.sum("v"), F.sum("v"))


@pytest.mark.parametrize("make", [F.sum, F.min, F.max, F.avg, F.count])
def test_aggregates_take_columns_by_name(make: Callable[[Any], Any]) -> None:
    assert make(col("v")) == make("v")
    with pytest.raises(TypeError, match=r"takes a column by name, not .*with_columns"):
        make(col("v") * 2)
    with pytest.raises(TypeError, match="an alias is a name"):
        make("v").alias("")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda w: w.aggregate(), r"aggregate\(\) needs an AggregateFunction, or built-in"),
        (lambda w: w.aggregate(len), r"aggregate\(\) takes an AggregateFunction, or built-in"),
        (lambda w: w.aggregate(F.count(), Count()), "built-in aggregates cannot be mixed with"),
        (lambda w: w.aggregate(F.count(), window_function=PerKey()), "take no window function"),
        (lambda w: w.aggregate(Count(), 1, 2, 3, 4), r"takes at most 4 arguments, not 5"),
        (lambda w: w.reduce(7), r"reduce\(\) takes a ReduceFunction or a callable, not 7"),
        (lambda w: w.reduce(max, 7), "window_function takes a ProcessWindowFunction or a callable"),
        (lambda w: w.reduce(max, OverAll()), "takes a ProcessWindowFunction here, not a OverAll"),
        (lambda w: w.reduce(max, Identity()), "takes a ProcessWindowFunction here"),
        (lambda w: w.aggregate(Count(), 5), "window_function takes a ProcessWindowFunction"),
        (lambda w: w.sum(1.5), r"sum\(\) takes the position or the name of a field, not 1.5"),
        (lambda w: w.sum(9), r"sum\(9\): the elements have 4 fields"),
        (lambda w: w.sum(-1), r"sum\(-1\): the elements have 4 fields"),
        (lambda w: w.max(True), r"max\(\) takes the position or the name of a field"),
        (lambda w: w.reduce(max, output_type=int), r"output_type must be one of Types"),
        (lambda w: w.aggregate(Count(), output_type=int), r"output_type must be one of Types"),
    ],
)
def test_functions_of_the_wrong_kind_are_refused(
    windows: Any, build: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        build(windows)


def test_an_unknown_field_is_refused(windows: Any) -> None:
    with pytest.raises(KeyError, match="no column 'w'"):
        windows.min("w")


def test_window_all_takes_functions_without_a_key(stream: Any) -> None:
    windows = stream.window_all(WINDOW)
    with pytest.raises(TypeError, match="takes a ProcessAllWindowFunction here, not a PerKey"):
        windows.reduce(max, PerKey())
    assert windows.reduce(max, OverAll()).get_schema() is None


def test_a_function_that_needs_a_key_is_refused_without_one(stream: Any) -> None:
    with pytest.raises(TypeError, match="takes a ProcessAllWindowFunction here, not a Apply"):
        stream.window_all(WINDOW).reduce(max, Apply())


def test_built_in_aggregates_need_key_columns(stream: Any) -> None:
    message = r"built-in aggregates need a key made of columns: key_by\('column', \.\.\.\)"
    with pytest.raises(TypeError, match=message):
        stream.key_by(lambda row: row.k).window(WINDOW).aggregate(F.count())


def test_built_in_aggregates_need_columns(env: StreamExecutionEnvironment) -> None:
    objects = env.from_collection([1])
    with pytest.raises(TypeError, match=r"aggregate\(\) with built-in aggregates needs columns"):
        objects.window_all(WINDOW).aggregate(F.count())


def test_what_cannot_run_yet_says_so(windows: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"do not work with allowed_lateness\(\) yet"):
        windows.allowed_lateness(1).aggregate(F.count())
    with pytest.raises(NotImplementedError, match=r"apply\(\) keeps all elements of a window"):
        windows.apply(Apply())
    with pytest.raises(NotImplementedError, match=r"process\(\) keeps all elements of a window"):
        windows.process(PerKey())


def test_results_of_windows_have_types(windows: Any, stream: Any) -> None:
    assert windows.reduce(max).get_schema() == stream.get_schema()
    assert windows.reduce(max, PerKey()).get_schema() is None
    assert windows.reduce(max, PerKey(), Types.LONG()).get_type() == Types.LONG()
    assert windows.aggregate(Count()).get_schema() is None
    assert windows.aggregate(Count(), output_type=Types.LONG()).get_type() == Types.LONG()
    typed = windows.aggregate(Count(), PerKey(), Types.LONG(), Types.STRING())
    assert typed.get_type() == Types.STRING()
    assert windows.sum("v").get_schema() == stream.get_schema()


def test_a_side_output_is_known_by_its_tag(windows: Any) -> None:
    late = OutputTag("late")
    counted = windows.side_output_late_data(late).aggregate(Count())
    assert counted.get_side_output(OutputTag("late")).get_schema().names == ["k", "v", "s", "l"]
    with pytest.raises(ValueError, match=r"has no side output 'other'; it has \['late'\]"):
        counted.get_side_output(OutputTag("other"))


def test_an_aggregate_function_can_be_given_by_name_as_in_pyflink(env: Any) -> None:
    windows = env.from_collection([1]).key_by(lambda x: x).window(WINDOW)
    counts = windows.aggregate(aggregate_function=Count(), output_type=Types.LONG())
    assert counts.get_type() == Types.LONG()


def test_a_key_column_called_like_a_column_of_the_window_is_to_be_renamed(env: Any) -> None:
    keyed = env.from_arrow(pa.table({"window_end": [1]})).key_by("window_end")
    with pytest.raises(ValueError, match="two columns 'window_end'; give the key column another"):
        keyed.window(WINDOW).aggregate(F.count())


def test_a_star_counts_rows() -> None:
    assert F.count("*") == F.count()
