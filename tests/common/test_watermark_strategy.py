"""Watermark strategies: what they hold, and what they refuse."""

from typing import Any

import cloudpickle
import pytest

from penstock.common import Duration, TimestampAssigner, WatermarkStrategy


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


def test_the_delay_of_each_strategy() -> None:
    assert WatermarkStrategy.no_watermarks().delay_ms is None
    assert WatermarkStrategy.for_monotonous_timestamps().delay_ms == 0
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    assert bounded.delay_ms == 5000


def test_times_come_from_a_function_an_assigner_or_a_column_and_the_last_wins() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    by_function = strategy.with_timestamp_assigner(lambda value, _: value)
    assert by_function.function is not None
    assert by_function.function(7, 0) == 7
    by_assigner = by_function.with_timestamp_column("ts").with_timestamp_assigner(SecondField())
    assert by_assigner.function is not None
    assert by_assigner.function(("a", 3), 0) == 3
    assert by_assigner.column is None
    by_column = by_assigner.with_timestamp_column("ts")
    assert (by_column.column, by_column.function) == ("ts", None)
    assert strategy == WatermarkStrategy.for_monotonous_timestamps()  # never changed


def test_strategies_pickle() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(
        lambda value, _: value * 2
    )
    again = cloudpickle.loads(cloudpickle.dumps(strategy))
    assert again.function(4, 0) == 8


def test_wrong_settings_are_refused() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    with pytest.raises(ValueError, match="max_out_of_orderness must not be negative, but is -1 ms"):
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(-1))
    with pytest.raises(TypeError, match="max_out_of_orderness must be a Time, a Duration"):
        WatermarkStrategy.for_bounded_out_of_orderness(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="idle_timeout must be positive, but is 0 ms"):
        strategy.with_idleness(Duration.of_millis(0))
    with pytest.raises(TypeError, match="a timestamp column is given by its name, not 3"):
        strategy.with_timestamp_column(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="timestamp_assigner must be a TimestampAssigner or a call"):
        strategy.with_timestamp_assigner("ts")  # type: ignore[arg-type]
