"""StateTtlConfig: Flink's defaults, and what reaches the core."""

from typing import Any

import pytest

from penstock import Duration, Time
from penstock.datastream.state import StateTtlConfig


def builder() -> StateTtlConfig.Builder:
    return StateTtlConfig.new_builder(Time.seconds(10))


def test_defaults_are_flinks() -> None:
    config = builder().build()
    assert config.get_ttl() == Time.seconds(10)
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    time = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    assert config.get_ttl_time_characteristic() is time
    strategies = config.get_cleanup_strategies()
    assert strategies.is_cleanup_in_background()
    assert not strategies.in_full_snapshot()
    incremental = strategies.get_incremental_cleanup_strategy()
    assert incremental is not None
    assert incremental.get_cleanup_size() == 5
    assert not incremental.run_cleanup_for_every_record()
    compaction = strategies.get_rocksdb_compact_filter_cleanup_strategy()
    assert compaction is not None
    assert compaction.get_query_time_after_num_entries() == 1000
    assert compaction.get_periodic_compaction_time() == Duration.of_days(30)


@pytest.mark.parametrize(
    ("config", "native"),
    [
        (builder(), (10_000, "OnCreateAndWrite", "NeverReturnExpired", False, 5, False, 1000)),
        (
            builder().disable_cleanup_in_background(),
            (10_000, "OnCreateAndWrite", "NeverReturnExpired", False, 0, False, -1),
        ),
        (
            builder()
            .update_ttl_on_read_and_write()
            .return_expired_if_not_cleaned_up()
            .use_processing_time()
            .cleanup_full_snapshot()
            .cleanup_incrementally(7, True)
            .cleanup_in_rocksdb_compact_filter(99)
            .disable_cleanup_in_background()
            .set_ttl(Duration.of_minutes(1)),
            (60_000, "OnReadAndWrite", "ReturnExpiredIfNotCleanedUp", True, 7, True, 99),
        ),
        (
            builder()
            .update_ttl_on_read_and_write()
            .update_ttl_on_create_and_write()
            .never_return_expired(),
            (10_000, "OnCreateAndWrite", "NeverReturnExpired", False, 5, False, 1000),
        ),
    ],
    ids=["defaults", "no background", "all", "last wins"],
)
def test_what_reaches_the_core(config: StateTtlConfig.Builder, native: tuple[Any, ...]) -> None:
    assert config.build()._to_native() == native


def test_disabled_means_for_ever() -> None:
    config = builder().set_update_type(StateTtlConfig.UpdateType.Disabled).build()
    assert not config.is_enabled()
    assert config._to_native() is None


def test_a_builder_can_go_on_after_build() -> None:
    begun = builder().disable_cleanup_in_background()
    first = begun.build()
    begun.cleanup_full_snapshot()
    assert not first.get_cleanup_strategies().in_full_snapshot()
    assert begun.build().get_cleanup_strategies().in_full_snapshot()


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: StateTtlConfig.new_builder(10), TypeError, "is a Time or a Duration, not 10"),
        (lambda: StateTtlConfig.new_builder(Time.seconds(0)), ValueError, "must be positive"),
        (lambda: builder().set_ttl(Time.seconds(-1)), ValueError, "must be positive"),
        (
            lambda: builder().set_update_type("OnReadAndWrite"),
            TypeError,
            r"StateTtlConfig.UpdateType \(Disabled, OnCreateAndWrite, OnReadAndWrite\), not 'OnR",
        ),
        (lambda: builder().set_state_visibility(1), TypeError, "StateTtlConfig.StateVisibility"),
        (
            lambda: builder().set_ttl_time_characteristic("EventTime"),
            TypeError,
            r"StateTtlConfig.TtlTimeCharacteristic \(ProcessingTime\), not 'EventTime'",
        ),
        (lambda: builder().cleanup_incrementally(0, True), ValueError, "cleanup_size must be at l"),
        (lambda: builder().cleanup_incrementally(True, True), TypeError, "cleanup_size must be an"),
        (
            lambda: builder().cleanup_in_rocksdb_compact_filter(0),
            ValueError,
            "query_time_after_num_entries must be at least 1, but is 0",
        ),
        (
            lambda: builder().cleanup_in_rocksdb_compact_filter(1, Duration.of_days(1)),
            NotImplementedError,
            "periodic_compaction_time is 30 days and cannot be changed",
        ),
    ],
)
def test_mistakes_are_named(build: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        build()
