#include "operators/window/local_window_operator.h"

#include <gtest/gtest.h>

#include "operators/window/window_testing.h"

namespace penstock::window::testing {
namespace {

WindowPlanPtr count_and_sum() {
  WindowOptions options = window_options(Keys::kInt64, 10, 0);
  options.aggregates = {{AggregateKind::kSum, "v", "s"}};
  return WindowPlan::bind(options, schema_of(Keys::kInt64)).value();
}

std::vector<std::string> take_lines(CollectingOutput* output) {
  std::vector<std::string> lines = lines_of(output->batches);
  output->batches.clear();
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LocalWindow, FlushesASliceBeforeTheWatermarkThatCompletesIt) {
  LocalWindowOperator op(count_and_sum(), {});
  CollectingOutput output;
  feed(&op, Keys::kInt64, {{{1, 5, 3}, {1, 6, 4}, {2, 7, 12}}, 8}, 100, output);
  EXPECT_EQ(take_lines(&output), Lines{}) << "a watermark inside the slice flushes nothing";
  feed(&op, Keys::kInt64, {{}, 9}, 100, output);
  EXPECT_EQ(output.batches_before_watermark.back(), 1U);
  EXPECT_EQ(take_lines(&output), (Lines{"1|10|2|11|"}));  // key, slice end, rows, sum
  EXPECT_EQ(output.watermarks, (std::vector<Timestamp>{8, 9}));
}

TEST(LocalWindow, PassesLateRowsOnAtOnceEachByItself) {
  LocalWindowOperator op(count_and_sum(), {});
  CollectingOutput output;
  feed(&op, Keys::kInt64, {{}, 9}, 100, output);
  feed(&op, Keys::kInt64, {{{1, 5, 3}, {2, 6, 12}, {1, {}, 4}}, {}}, 100, output);
  EXPECT_EQ(take_lines(&output), (Lines{"1|10|1|5|", "1|10|1|null|"}));
}

TEST(LocalWindow, FlushesEverythingBeforeABarrierIdlenessAndTheEnd) {
  LocalWindowOperator op(count_and_sum(), {});
  CollectingOutput output;
  feed(&op, Keys::kInt64, {{{1, 5, 3}, {1, 6, 13}}, {}}, 100, output);
  ASSERT_TRUE(op.prepare_barrier(output).is_ok());
  EXPECT_EQ(take_lines(&output), (Lines{"1|10|1|5|", "1|20|1|6|"}));
  OperatorState state;
  ASSERT_TRUE(op.snapshot(&state).is_ok());
  EXPECT_TRUE(state.empty());
  feed(&op, Keys::kInt64, {{{1, 5, 3}}, {}}, 100, output);
  ASSERT_TRUE(op.process_status({true}, output).is_ok());
  EXPECT_EQ(take_lines(&output).size(), 1U);
  feed(&op, Keys::kInt64, {{{1, 5, 3}}, {}}, 100, output);
  ASSERT_TRUE(op.end_input(output).is_ok());
  EXPECT_EQ(take_lines(&output).size(), 1U);
}

// Active again and behind, it no longer holds the receiver's watermark (WatermarkValve): what it kept
// would be late there, while the row itself would have been in time.
TEST(LocalWindow, KeepsNothingOnceItHasBeenIdle) {
  LocalWindowOperator op(count_and_sum(), {});
  CollectingOutput output;
  ASSERT_TRUE(op.process_status({true}, output).is_ok());
  ASSERT_TRUE(op.process_status({false}, output).is_ok());
  feed(&op, Keys::kInt64, {{{1, 5, 3}}, {}}, 100, output);
  EXPECT_EQ(take_lines(&output), (Lines{"1|10|1|5|"}));
  feed(&op, Keys::kInt64, {{}, 4}, 100, output);
  feed(&op, Keys::kInt64, {{{1, 6, 13}}, {}}, 100, output);
  EXPECT_EQ(take_lines(&output), (Lines{"1|20|1|6|"}));
}

// A slice of 2^k ms that ends with the range of int64: its end is the least timestamp of all.
TEST(LocalWindow, TheLastSliceOfAllDoesNotHoldOthersBack) {
  WindowOptions options = window_options(Keys::kInt64, 16, 0);
  options.aggregates = {{AggregateKind::kSum, "v", "s"}};
  LocalWindowOperator op(WindowPlan::bind(options, schema_of(Keys::kInt64)).value(), {});
  CollectingOutput output;
  feed(&op, Keys::kInt64, {{{1, 5, kMaxTimestamp - 3}, {1, 6, 3}}, 15}, 100, output);
  EXPECT_EQ(take_lines(&output), (Lines{"1|16|1|6|"}));
}

TEST(LocalWindow, BypassesTheTableWhenMostRowsHaveAGroupOfTheirOwnAndComesBack) {
  LocalWindowOperator::Options options;
  options.sample_rows = 100;
  options.bypass_rows = 200;
  LocalWindowOperator op(count_and_sum(), options);
  CollectingOutput output;
  std::vector<Row> distinct;
  for (int64_t i = 1; i <= 100; ++i) distinct.push_back({i, i, 5});
  feed(&op, Keys::kInt64, {distinct, {}}, 1000, output);
  EXPECT_TRUE(op.bypassing());
  EXPECT_TRUE(output.batches.empty());
  const std::vector<Row> same(100, Row{1, 1, 5});
  feed(&op, Keys::kInt64, {same, {}}, 1000, output);
  EXPECT_EQ(take_lines(&output), Lines(100, "1|10|1|1|"));
  feed(&op, Keys::kInt64, {same, {}}, 1000, output);
  EXPECT_FALSE(op.bypassing());
  output.batches.clear();
  feed(&op, Keys::kInt64, {same, {}}, 1000, output);
  EXPECT_TRUE(output.batches.empty());
  EXPECT_FALSE(op.bypassing());
}

TEST(LocalWindow, FlushesWhenTheTableGrowsTooLarge) {
  LocalWindowOperator::Options options;
  options.max_groups = 2;
  LocalWindowOperator op(count_and_sum(), options);
  CollectingOutput output;
  feed(&op, Keys::kInt64, {{{1, 1, 5}, {2, 1, 5}}, {}}, 100, output);
  EXPECT_TRUE(output.batches.empty());
  feed(&op, Keys::kInt64, {{{3, 1, 5}}, {}}, 100, output);
  EXPECT_EQ(take_lines(&output).size(), 3U);
}

}  // namespace
}  // namespace penstock::window::testing
