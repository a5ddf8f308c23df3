#include "source/timestamps_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "source/source_testing.h"

namespace penstock {
namespace {

using source_testing::batch_of;
using source_testing::column_of;
using source_testing::expect_ok;
using source_testing::int64_batch;
using source_testing::make_context;
using source_testing::mentions;
using source_testing::RecordingOutput;

using Longs = std::vector<std::optional<int64_t>>;
using Ints = std::vector<std::optional<int32_t>>;
using Log = std::vector<std::string>;

DataTypePtr type_of(const std::string& format) { return DataType::from_format(format).value(); }

Result<Column> extract(const Column& column) {
  return ColumnTimestamps("c").extract(batch_of(column));
}

std::vector<int64_t> millis(const Column& column) {
  auto times = extract(column);
  EXPECT_TRUE(times.is_ok()) << times.status().message();
  const Column& got = times.value();
  EXPECT_EQ(got.type->id, TypeId::kInt64);
  EXPECT_EQ(got.count_nulls(), 0);
  return {got.data<int64_t>(), got.data<int64_t>() + got.length};
}

TEST(ColumnTimestamps, EveryUnitBecomesMillisecondsRoundedDown) {
  const Longs values = {0, 1, 999, 1000, 1999999, -1, -999, -1000, -1001, -1000001};
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tsm:"), values)),
            (std::vector<int64_t>{0, 1, 999, 1000, 1999999, -1, -999, -1000, -1001, -1000001}));
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tss:"), values)),
            (std::vector<int64_t>{0, 1000, 999000, 1000000, 1999999000, -1000, -999000, -1000000,
                                  -1001000, -1000001000}));
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tsu:"), values)),
            (std::vector<int64_t>{0, 0, 0, 1, 1999, -1, -1, -1, -2, -1001}));
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tsn:"), values)),
            (std::vector<int64_t>{0, 0, 0, 0, 1, -1, -1, -1, -1, -2}));
}

TEST(ColumnTimestamps, LeastAndGreatestTimesOfEachUnit) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tsu:"), {kLeast, kGreatest})),
            (std::vector<int64_t>{-9223372036854776, 9223372036854775}));
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tsn:"), {kLeast, kGreatest})),
            (std::vector<int64_t>{-9223372036855, 9223372036854}));
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tss:"), {9223372036854775, -9223372036854775})),
            (std::vector<int64_t>{9223372036854775000, -9223372036854775000}));
  for (const int64_t beyond : {int64_t{9223372036854776}, kGreatest, kLeast}) {
    const Status status = extract(column_of<int64_t>(type_of("tss:"), {5, beyond})).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(mentions(status, "'c'"));
    EXPECT_TRUE(mentions(status, "row 1"));
  }
}

TEST(ColumnTimestamps, TimeZonesNameTheSameInstant) {
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tsu:Europe/Berlin"), {1500, -1})),
            (std::vector<int64_t>{1, -1}));
}

TEST(ColumnTimestamps, DatesAndIntegers) {
  EXPECT_EQ(millis(column_of<int32_t>(type_of("tdD"), {0, 1, -1, 20000})),
            (std::vector<int64_t>{0, 86400000, -86400000, 1728000000000}));
  EXPECT_EQ(millis(column_of<int64_t>(type_of("tdm"), {-86400000, 86400000})),
            (std::vector<int64_t>{-86400000, 86400000}));
  EXPECT_EQ(millis(column_of<int64_t>(int64(), {-5, 5})), (std::vector<int64_t>{-5, 5}));
  EXPECT_EQ(millis(column_of<int32_t>(int32(), {-5, 5})), (std::vector<int64_t>{-5, 5}));
  EXPECT_EQ(millis(column_of<uint32_t>(type_of("I"), {0, 4294967295})),
            (std::vector<int64_t>{0, 4294967295}));
}

TEST(ColumnTimestamps, ASlicedColumnGivesItsOwnRows) {
  const Column nanos = column_of<int64_t>(type_of("tsn:"), {0, 1000000, 2000000, 3000000});
  EXPECT_EQ(millis(nanos.slice(2, 2)), (std::vector<int64_t>{2, 3}));
  const Column plain = column_of<int64_t>(int64(), {10, 20, 30});
  EXPECT_EQ(millis(plain.slice(1, 1)), (std::vector<int64_t>{20}));
}

TEST(ColumnTimestamps, NullIsAnErrorThatNamesColumnAndRow) {
  const Column column = column_of<int64_t>(type_of("tsu:"), {1, std::nullopt, 3, std::nullopt});
  const Status status = extract(column).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(mentions(status, "'c'"));
  EXPECT_TRUE(mentions(status, "row 1 "));
  EXPECT_TRUE(mentions(extract(column.slice(2, 2)).status(), "row 1 "));
  EXPECT_EQ(millis(column.slice(2, 1)), (std::vector<int64_t>{0}));  // the nulls are elsewhere
}

TEST(ColumnTimestamps, WhatIsNoTimeIsRefused) {
  BinaryBuilder strings(utf8());
  strings.append("2024-01-01");
  const Status text = extract(strings.finish().value()).status();
  EXPECT_EQ(text.code(), StatusCode::kTypeError);
  EXPECT_TRUE(mentions(text, "'c'"));
  EXPECT_TRUE(mentions(text, "string"));
  EXPECT_EQ(extract(column_of<double>(float64(), {1.0})).status().code(), StatusCode::kTypeError);
  const Status unknown = ColumnTimestamps("nowhere").extract(int64_batch({1})).status();
  EXPECT_EQ(unknown.code(), StatusCode::kKeyError);
  EXPECT_TRUE(mentions(unknown, "'nowhere'"));
}

// The rule in its slowest form: after every `interval` records the greatest timestamp less delay
// and one, when that is more than before.
class Model {
 public:
  Model(int64_t interval, int64_t delay) : interval_(interval), delay_(delay) {}
  void add(int64_t time) {
    log.push_back("t" + std::to_string(time));
    greatest_ = std::max(greatest_, time);
    if (++rows_ % interval_ != 0) return;
    const int64_t watermark = greatest_ - delay_ - 1;
    if (watermark <= emitted_) return;
    emitted_ = watermark;
    log.push_back("w" + std::to_string(watermark));
  }
  Log log;

 private:
  int64_t interval_;
  int64_t delay_;
  int64_t rows_ = 0;
  int64_t greatest_ = std::numeric_limits<int64_t>::min();
  int64_t emitted_ = std::numeric_limits<int64_t>::min();
};

class TimestampsOperatorTest : public testing::Test {
 protected:
  std::unique_ptr<TimestampsOperator> open(WatermarkOptions options, int32_t subtask = 0,
                                           int32_t parallelism = 1, bool live = false) {
    auto op =
        std::make_unique<TimestampsOperator>(std::make_unique<ColumnTimestamps>("c"), options);
    expect_ok(op->open(make_context(&clock_, subtask, parallelism, live)));
    return op;
  }
  static WatermarkOptions every(int64_t rows, int64_t delay) {
    WatermarkOptions options;
    options.delay_millis = delay;
    options.interval_rows = rows;
    return options;
  }
  static WatermarkOptions idle_after(int64_t millis) {
    WatermarkOptions options = every(1000, 0);
    options.idle_millis = millis;
    return options;
  }
  // Moves the clock, and calls the operator whenever it asked to be called.
  void run_until(int64_t millis, TimestampsOperator* op, Output& output) {
    while (op->next_processing_time() <= millis) {
      clock_.set_millis(op->next_processing_time());
      expect_ok(op->on_processing_time(clock_.now_millis(), output));
    }
    clock_.set_millis(millis);
  }
  std::vector<int64_t> random_times(size_t count) {
    std::vector<int64_t> times;
    for (size_t i = 0; i < count; ++i) {
      times.push_back(static_cast<int64_t>(i) * 10 - static_cast<int64_t>(random_() % 300));
    }
    return times;
  }
  static void feed(TimestampsOperator* op, const std::vector<int64_t>& times, size_t cut,
                   Output& output) {
    for (size_t from = 0; from < times.size(); from += cut) {
      const size_t to = std::min(times.size(), from + cut);
      expect_ok(op->process_batch(int64_batch({times.begin() + static_cast<std::ptrdiff_t>(from),
                                               times.begin() + static_cast<std::ptrdiff_t>(to)}),
                                  output));
    }
  }

  ManualClock clock_{0};
  std::mt19937 random_{5};
};

TEST_F(TimestampsOperatorTest, WatermarksDoNotDependOnHowTheRowsAreBatched) {
  const std::vector<int64_t> times = random_times(20000);
  for (const int64_t interval : {1, 10, 8192}) {
    Model model(interval, 50);
    for (const int64_t time : times) model.add(time);
    for (const size_t cut : {1, 7, 8192}) {
      RecordingOutput output;
      feed(open(every(interval, 50)).get(), times, cut, output);
      ASSERT_EQ(output.log, model.log) << interval << " " << cut;
    }
  }
}

TEST_F(TimestampsOperatorTest, WatermarksOnlyGoForward) {
  const auto op = open(every(3, 20));
  RecordingOutput output;
  feed(op.get(), random_times(5000), 100, output);
  ASSERT_GT(output.watermarks.size(), 100u);
  for (size_t i = 1; i < output.watermarks.size(); ++i) {
    EXPECT_GT(output.watermarks[i], output.watermarks[i - 1]);
  }
}

TEST_F(TimestampsOperatorTest, MonotonousMeansNoDelay) {
  RecordingOutput output;
  feed(open(every(2, 0)).get(), {5, 9, 9, 9, 10, 11}, 6, output);
  EXPECT_EQ(output.log, (Log{"t5", "t9", "w8", "t9", "t9", "t10", "t11", "w10"}));
}

TEST_F(TimestampsOperatorTest, BatchesAreCutWhereWatermarksGoOutAndNowhereElse) {
  RecordingOutput output;
  feed(open(every(4, 0)).get(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, output);
  EXPECT_EQ(output.batch_sizes, (std::vector<int64_t>{4, 4, 2}));
}

TEST_F(TimestampsOperatorTest, NoWatermarkBelowTheLeastTime) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  RecordingOutput output;
  feed(open(every(1, 100)).get(), {kLeast, kLeast + 100, kLeast + 101, kLeast + 102}, 1, output);
  EXPECT_EQ(output.watermarks, (std::vector<int64_t>{kLeast + 1}));
}

TEST_F(TimestampsOperatorTest, WithoutWatermarksOnlyTimestampsAreAssigned) {
  const auto op = open({});
  RecordingOutput output;
  feed(op.get(), {3, 1, 2}, 1, output);
  EXPECT_EQ(output.log, (Log{"t3", "t1", "t2"}));
  EXPECT_EQ(op->next_processing_time(), kMaxTimestamp);
}

TEST_F(TimestampsOperatorTest, RecordsWithoutTimestampsAreRefused) {
  TimestampsOperator op(nullptr, every(1, 0));
  expect_ok(op.open(make_context(&clock_)));
  RecordingOutput output;
  EXPECT_TRUE(mentions(op.process_batch(int64_batch({1}), output), "no timestamps"));
  Batch timed = int64_batch({7});
  timed.timestamps = int64_column({7});
  expect_ok(op.process_batch(std::move(timed), output));
  EXPECT_EQ(output.log, (Log{"t7", "w6"}));
}

TEST_F(TimestampsOperatorTest, OwnWatermarksReplaceThoseFromAboveButForTheEnd) {
  const auto op = open(every(1, 0));
  RecordingOutput output;
  expect_ok(op->process_watermark({5}, output));
  feed(op.get(), {3}, 1, output);
  expect_ok(op->process_watermark({kMaxTimestamp}, output));
  EXPECT_EQ(output.log, (Log{"t3", "w2", "w" + std::to_string(kMaxTimestamp)}));
}

TEST_F(TimestampsOperatorTest, LiveSourcesGetWatermarksByTimeToo) {
  const auto op = open(every(1000, 0), 0, 1, true);
  RecordingOutput output;
  EXPECT_EQ(op->next_processing_time(), 200);
  feed(op.get(), {10, 20}, 2, output);
  run_until(199, op.get(), output);
  EXPECT_TRUE(output.watermarks.empty());
  run_until(200, op.get(), output);
  EXPECT_EQ(output.watermarks, (std::vector<int64_t>{19}));
  run_until(1000, op.get(), output);  // nothing new: nothing said
  EXPECT_EQ(output.watermarks, (std::vector<int64_t>{19}));
}

TEST_F(TimestampsOperatorTest, OtherSourcesAreNotDrivenByTime) {
  EXPECT_EQ(open(every(1000, 0))->next_processing_time(), kMaxTimestamp);
}

TEST_F(TimestampsOperatorTest, WithoutRecordsForAWhileItTurnsIdle) {
  const auto op = open(idle_after(500));
  RecordingOutput output;
  feed(op.get(), {10}, 1, output);
  run_until(600, op.get(), output);  // seen at the tick of 200
  EXPECT_EQ(output.log, (Log{"t10"}));
  run_until(800, op.get(), output);
  EXPECT_EQ(output.log, (Log{"t10", "w9", "idle"})) << "what was seen before still counts";
  run_until(5000, op.get(), output);
  EXPECT_EQ(output.log.size(), 3u) << "idle is said once";
}

TEST_F(TimestampsOperatorTest, NeverAnyRecordIsIdleToo) {
  const auto op = open(idle_after(500));
  RecordingOutput output;
  run_until(1000, op.get(), output);
  EXPECT_EQ(output.log, (Log{"idle"}));
}

TEST_F(TimestampsOperatorTest, ARecordMakesItActiveAgainBeforeItIsEmitted) {
  const auto op = open(idle_after(500));
  RecordingOutput output;
  run_until(1000, op.get(), output);
  feed(op.get(), {10}, 1, output);
  run_until(1400, op.get(), output);
  EXPECT_EQ(output.log, (Log{"idle", "active", "t10"}));
  run_until(2000, op.get(), output);
  EXPECT_EQ(output.log, (Log{"idle", "active", "t10", "w9", "idle"}));
}

TEST_F(TimestampsOperatorTest, AnEmptyBatchIsNoRecord) {
  const auto op = open(idle_after(500));
  RecordingOutput output;
  run_until(400, op.get(), output);
  expect_ok(op->process_batch(int64_batch({}), output));
  run_until(600, op.get(), output);
  EXPECT_EQ(output.log, (Log{"idle"}));
}

TEST_F(TimestampsOperatorTest, IdlenessWorksWithoutWatermarks) {
  WatermarkOptions options;
  options.idle_millis = 500;
  const auto op = open(options);
  RecordingOutput output;
  run_until(1000, op.get(), output);
  feed(op.get(), {10}, 1, output);
  run_until(3000, op.get(), output);
  EXPECT_EQ(output.log, (Log{"idle", "active", "t10", "idle"}));
}

TEST_F(TimestampsOperatorTest, TheEndOfInputEndsIdlenessFirst) {
  const auto op = open(idle_after(500));
  RecordingOutput output;
  run_until(1000, op.get(), output);
  expect_ok(op->process_watermark({kMaxTimestamp}, output));
  EXPECT_EQ(output.log, (Log{"idle", "active", "w" + std::to_string(kMaxTimestamp)}));
}

TEST_F(TimestampsOperatorTest, IdlenessFromAbovePassesUnlessItIsDetectedHere) {
  RecordingOutput output;
  expect_ok(open(every(1, 0))->process_status({true}, output));
  EXPECT_EQ(output.log, (Log{"idle"}));
  expect_ok(open(idle_after(500))->process_status({true}, output));
  EXPECT_EQ(output.log, (Log{"idle"}));
}

// Interrupted at random places the output is that of one run without interruption.
TEST_F(TimestampsOperatorTest, RestoredItGoesOnAsIfNothingHadHappened) {
  const std::vector<int64_t> times = random_times(500);
  for (int round = 0; round < 50; ++round) {
    const auto interval = static_cast<int64_t>(1 + random_() % 40);
    Model model(interval, 30);
    for (const int64_t time : times) model.add(time);
    RecordingOutput output;
    auto op = open(every(interval, 30), 1, 2);
    for (size_t from = 0; from < times.size();) {
      const size_t count = std::min<size_t>(times.size() - from, random_() % 100);
      const auto begin = times.begin() + static_cast<std::ptrdiff_t>(from);
      feed(op.get(), {begin, begin + static_cast<std::ptrdiff_t>(count)}, 13, output);
      from += count;
      std::vector<OperatorState> written(2);
      expect_ok(open(every(interval, 30), 0, 2)->snapshot(&written[0]));
      expect_ok(op->snapshot(&written[1]));
      op = open(every(interval, 30), 1, 2);
      expect_ok(op->restore(reassign(written, 1, 2, 128).value()));
    }
    ASSERT_EQ(output.log, model.log) << interval;
  }
}

// Splits may have moved: nobody may be ahead of the one that was least advanced.
TEST_F(TimestampsOperatorTest, WithAnotherParallelismAllStartFromTheLeastAdvanced) {
  std::vector<OperatorState> written(2);
  RecordingOutput before;
  for (int32_t subtask : {0, 1}) {
    const auto op = open(every(1, 0), subtask, 2);
    feed(op.get(), {subtask == 0 ? 1000 : 2000}, 1, before);
    expect_ok(op->snapshot(&written[static_cast<size_t>(subtask)]));
  }
  EXPECT_EQ(before.watermarks, (std::vector<int64_t>{999, 1999}));
  for (const int32_t parallelism : {1, 3}) {
    const auto op = open(every(1, 0), parallelism - 1, parallelism);
    expect_ok(op->restore(reassign(written, parallelism - 1, parallelism, 128).value()));
    RecordingOutput output;
    feed(op.get(), {900, 1000, 1001}, 1, output);
    EXPECT_EQ(output.log, (Log{"t900", "t1000", "t1001", "w1000"}));
  }
}

TEST_F(TimestampsOperatorTest, AShorterIntervalThanTheCheckpointsIsFine) {
  std::vector<OperatorState> written(1);
  RecordingOutput output;
  const auto old = open(every(100, 0));
  feed(old.get(), random_times(50), 50, output);
  expect_ok(old->snapshot(&written[0]));
  const auto op = open(every(10, 0));
  expect_ok(op->restore(reassign(written, 0, 1, 128).value()));
  output = {};
  feed(op.get(), {10000, 10001}, 2, output);
  EXPECT_EQ(output.log, (Log{"t10000", "w9999", "t10001"}));
}

TEST_F(TimestampsOperatorTest, StateOfWrongSizeIsRefused) {
  const auto op = open(every(1, 0));
  OperatorState state;
  expect_ok(op->snapshot(&state));
  state.lists[0].items[0].pop_back();
  EXPECT_EQ(op->restore(state).code(), StatusCode::kCorruption);
  expect_ok(op->restore({}));  // an operator that is new to the job
}

}  // namespace
}  // namespace penstock
