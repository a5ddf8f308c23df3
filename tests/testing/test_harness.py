"""The operator harness: nothing happens but what the test does."""

from typing import Any

import pyarrow as pa
import pytest

from penstock import Configuration, Duration, Row, Time, Types, WatermarkStrategy, col
from penstock import functions as F
from penstock.datastream import DataStream, MapFunction, OutputTag, TumblingEventTimeWindows
from penstock.errors import UserCodeError
from penstock.testing import (
    MAX_WATERMARK,
    MultiInputStreamOperatorTestHarness,
    OneInputStreamOperatorTestHarness,
    StreamRecord,
    Watermark,
    WatermarkStatus,
)

pytestmark = pytest.mark.native

LATE = OutputTag("late")
TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))


def sums(records: DataStream) -> DataStream:
    windowed = records.key_by(lambda r: r[0]).window(TEN).side_output_late_data(LATE)
    return windowed.reduce(lambda a, b: (a[0], a[1] + b[1]))


def test_elements_keep_their_timestamps_through_a_map() -> None:
    with OneInputStreamOperatorTestHarness(lambda s: s.map(lambda x: -x)) as harness:
        harness.process_element(1, 10)
        harness.process_elements([2, 3], [20, 30])
        harness.process_element(4)
        assert harness.get_output() == [
            StreamRecord(-1, 10),
            StreamRecord(-2, 20),
            StreamRecord(-3, 30),
            StreamRecord(-4, None),
        ]


def test_watermark_fires_windows_and_follows_their_results() -> None:
    with OneInputStreamOperatorTestHarness(sums) as harness:
        harness.process_elements([("a", 1), ("a", 2), ("b", 5)], [1, 9, 4])
        harness.process_watermark(8)
        assert harness.get_output() == [Watermark(8)]
        harness.process_watermark(9)
        records = harness.get_record_output()
        assert sorted(r.value for r in records) == [("a", 3), ("b", 5)]
        assert {r.timestamp for r in records} == {9}
        assert harness.get_output()[-1] == Watermark(9)


def test_watermark_that_goes_back_is_ignored() -> None:
    with OneInputStreamOperatorTestHarness(lambda s: s.map(lambda x: x)) as harness:
        for timestamp in (5, 3, 5, 6):
            harness.process_watermark(timestamp)
        assert harness.get_output() == [Watermark(5), Watermark(6)]


def test_late_records_are_in_the_side_output() -> None:
    with OneInputStreamOperatorTestHarness(sums) as harness:
        harness.process_watermark(9)
        harness.process_element(("a", 1), 9)
        harness.process_element(("a", 2), 10)
        harness.end_input()
        assert harness.extract_output_values() == [("a", 2)]
        assert harness.get_side_output(LATE) == [StreamRecord(("a", 1), 9)]


def test_side_output_of_an_operator_inside_the_pipeline_is_found() -> None:
    with OneInputStreamOperatorTestHarness(lambda s: sums(s).map(lambda x: x)) as harness:
        harness.process_watermark(9)
        harness.process_element(("a", 1), 9)
        assert [record.value for record in harness.get_side_output(LATE)] == [("a", 1)]


def test_unknown_side_output_is_an_error_that_lists_the_known() -> None:
    with (
        OneInputStreamOperatorTestHarness(sums) as harness,
        pytest.raises(ValueError, match=r"no operator has a side output 'x'; there are \['late'\]"),
    ):
        harness.get_side_output(OutputTag("x"))


def test_end_of_input_fires_what_is_left() -> None:
    with OneInputStreamOperatorTestHarness(sums) as harness:
        harness.process_element(("a", 1), 3)
        harness.end_input()
        assert harness.extract_output_values() == [("a", 1)]
        assert harness.get_output()[-1] == Watermark(MAX_WATERMARK)


def test_snapshot_continues_in_another_harness() -> None:
    with OneInputStreamOperatorTestHarness(sums) as harness:
        harness.process_elements([("a", 1), ("b", 10)], [1, 2])
        harness.process_watermark(5)
        snapshot = harness.snapshot()
        harness.process_element(("a", 100), 3)  # after the snapshot: not in it
    restored = OneInputStreamOperatorTestHarness(sums)
    restored.initialize_state(snapshot)
    with restored:
        restored.process_element(("a", 2), 3)
        restored.end_input()
        assert sorted(restored.extract_output_values()) == [("a", 3), ("b", 10)]


def test_snapshot_of_another_pipeline_is_refused() -> None:
    with OneInputStreamOperatorTestHarness(sums) as harness:
        snapshot = harness.snapshot()
    other = OneInputStreamOperatorTestHarness(lambda s: s.map(lambda x: x))
    other.initialize_state(snapshot)
    with pytest.raises(ValueError, match="of another pipeline"):
        other.open()


def test_idleness_of_one_input_lets_the_other_go_on() -> None:
    with MultiInputStreamOperatorTestHarness(lambda a, b: a.union(b), [None, None]) as harness:
        harness.process_watermark(0, 10)
        assert harness.get_output() == []
        harness.process_watermark_status(1, True)
        assert harness.get_output() == [Watermark(10)]
        harness.process_watermark_status(0, True)
        assert harness.get_output()[-1] == WatermarkStatus(idle=True)


def test_settable_clock_makes_a_source_idle() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_seconds(5))

    def pipeline(stream: DataStream) -> DataStream:
        timed = strategy.with_timestamp_assigner(lambda value, _: value)
        return stream.assign_timestamps_and_watermarks(timed)

    with OneInputStreamOperatorTestHarness(pipeline, processing_time=1000) as harness:
        assert harness.get_processing_time() == 1000
        harness.process_element(7)
        harness.set_processing_time(
            1200
        )  # the time without records counts from the first look on, as in Flink
        harness.set_processing_time(6199)
        assert WatermarkStatus(idle=True) not in harness.get_output()
        harness.set_processing_time(6399)
        assert harness.get_output()[-2:] == [Watermark(6), WatermarkStatus(idle=True)]


def test_typed_input_has_columns() -> None:
    kind = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.LONG()])

    def pipeline(rows: DataStream) -> DataStream:
        return rows.filter(col("v") > 1).key_by("k").window(TEN).aggregate(F.sum("v").alias("s"))

    with OneInputStreamOperatorTestHarness(pipeline, kind) as harness:
        harness.process_elements([("a", 1), ("a", 2), {"k": "a", "v": 3}], [1, 2, 3])
        harness.end_input()
        assert [(row["k"], row["s"]) for row in harness.extract_output_values()] == [("a", 5)]
        with pytest.raises(TypeError, match=r"input 0: .*'x'"):
            harness.process_element(("a", "x"), 1)


def test_arrow_input_takes_record_batches() -> None:
    schema = pa.schema([("v", pa.int64())])
    double = (col("v") * 2).alias("w")
    with OneInputStreamOperatorTestHarness(lambda s: s.select(double), schema) as harness:
        harness.process_batch(pa.record_batch({"v": [1, 2]}), [10, 20])
        assert harness.get_output() == [StreamRecord(Row(w=2), 10), StreamRecord(Row(w=4), 20)]


def test_record_batch_into_an_input_of_objects_is_refused() -> None:
    with (
        OneInputStreamOperatorTestHarness(lambda s: s.map(lambda x: x)) as harness,
        pytest.raises(TypeError, match=r"declare it by a pyarrow\.Schema"),
    ):
        harness.process_batch(pa.record_batch({"v": [1]}))


class Noting(MapFunction):
    """Notes when it is opened and closed."""

    calls: list[str] = []

    def open(self, runtime_context: Any) -> None:
        Noting.calls.append(runtime_context.get_task_name_with_subtasks())

    def map(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        Noting.calls.append("close")


def test_functions_are_opened_and_closed() -> None:
    Noting.calls.clear()
    with OneInputStreamOperatorTestHarness(lambda s: s.map(Noting()).name("Note")):
        assert Noting.calls == ["Note (1/1)"]
    assert Noting.calls == ["Note (1/1)", "close"]


def test_failing_function_raises_where_it_is_called() -> None:
    with (
        OneInputStreamOperatorTestHarness(lambda s: s.map(lambda x: 1 / x)) as harness,
        pytest.raises(UserCodeError, match="record 0") as caught,
    ):
        harness.process_element(0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_metrics_count_late_records() -> None:
    def pipeline(records: DataStream) -> DataStream:
        return records.key_by(lambda r: r[0]).window(TEN).reduce(lambda a, b: a)

    with OneInputStreamOperatorTestHarness(pipeline) as harness:
        harness.process_watermark(9)
        harness.process_element(("a", 1), 9)
        assert sum(entry["late_records_dropped"] for entry in harness.metrics()) == 1


def test_pipeline_with_own_sources_is_refused() -> None:
    def pipeline(stream: DataStream) -> DataStream:
        return stream.union(stream.get_execution_environment().from_collection([1]))

    with pytest.raises(ValueError, match="must not have own sources"):
        OneInputStreamOperatorTestHarness(pipeline)


def test_pipeline_must_return_a_stream() -> None:
    with pytest.raises(TypeError, match="must return a DataStream, not None"):
        OneInputStreamOperatorTestHarness(lambda s: None)  # type: ignore[arg-type,return-value]


def test_configuration_reaches_the_operators() -> None:
    kind = Types.ROW_NAMED(["v"], [Types.LONG()])

    def pipeline(rows: DataStream) -> DataStream:
        return rows.window_all(TEN).aggregate(F.sum("v").alias("s"))

    wrap = Configuration({"penstock.sum-overflow": "wrap"})
    with OneInputStreamOperatorTestHarness(pipeline, kind, configuration=wrap) as harness:
        harness.process_elements([(2**63 - 1,), (1,)], [1, 2])
        harness.end_input()
        assert [row["s"] for row in harness.extract_output_values()] == [-(2**63)]


def test_a_function_object_is_no_pipeline() -> None:
    class Twice(MapFunction):
        def map(self, value: Any) -> Any:
            return value * 2

    with pytest.raises(TypeError, match=r"the pipeline is a function of streams .*lambda stream"):
        OneInputStreamOperatorTestHarness(Twice())  # type: ignore[arg-type]


def test_rows_are_read_by_name_where_columns_are_made_of_them() -> None:
    declared = Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.LONG()])

    def big(stream: DataStream) -> DataStream:
        return stream.map(lambda x: Row(b=x, a=-x), declared).filter(col("b") > 1)

    with OneInputStreamOperatorTestHarness(big) as harness:
        harness.process_elements([1, 2])
        assert harness.extract_output_values() == [Row(a=-2, b=2)]


def test_rows_that_share_some_names_with_the_columns_are_refused() -> None:
    declared = Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.LONG()])
    pipeline = lambda s: s.map(lambda x: Row(b=x, c=x), declared).filter(col("b") > 1)
    with (
        OneInputStreamOperatorTestHarness(pipeline) as harness,
        pytest.raises(TypeError, match=r"row 0: Row\(b=1, c=1\) has no field 'a'"),
    ):
        harness.process_element(1)
