#include "operators/window/sliced_window_operator.h"

#include <gtest/gtest.h>

#include "operators/window/local_window_operator.h"
#include "operators/window/window_testing.h"

namespace penstock::window::testing {
namespace {

struct Harness {
  std::shared_ptr<SlicedWindowOperator> op;
  std::unique_ptr<OperatorMetrics> metrics = std::make_unique<OperatorMetrics>();
  CollectingOutput output;
};

WindowPlanPtr plan_of(Keys keys, int64_t size, int64_t offset) {
  auto plan = WindowPlan::bind(window_options(keys, size, offset), schema_of(keys));
  EXPECT_TRUE(plan.is_ok()) << plan.status().message();
  return plan.value();
}

std::shared_ptr<SlicedWindowOperator> open(const WindowPlanPtr& plan, OperatorMetrics* metrics,
                                           int32_t subtask = 0, int32_t parallelism = 1,
                                           SlicedWindowOperator::Options options = {}) {
  auto op = SlicedWindowOperator::create(plan, options);
  OperatorContext context;
  context.metrics = metrics;
  context.subtask = subtask;
  context.parallelism = parallelism;
  EXPECT_TRUE(op.value()->open(context).is_ok());
  return op.value();
}

constexpr Keys kAllKeys[] = {Keys::kInt64, Keys::kInt32, Keys::kString, Keys::kTuple, Keys::kNone};

TEST(SlicedWindow, GivesTheModelsAnswerHoweverTheInputIsCut) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Keys keys = kAllKeys[seed % 5];
    const int64_t size = 1 + seed * 7 % 60;
    const int64_t offset = (static_cast<int64_t>(seed) % 9 - 4) * size / 8;
    const std::vector<Step> steps = random_script(seed);
    const Model model = run_model(keys, size, offset, steps);
    for (const size_t cut : {size_t{1}, size_t{7}, size_t{8192}}) {
      Harness h;
      h.op = open(plan_of(keys, size, offset), h.metrics.get());
      for (const Step& step : steps) feed(h.op.get(), keys, step, cut, h.output);
      ASSERT_EQ(sorted(lines_of(h.output.batches)), sorted(model.fired))
          << "seed " << seed << " cut " << cut;
      ASSERT_EQ(h.metrics->late_records_dropped, model.late);
      ASSERT_EQ(h.metrics->windows_fired, static_cast<int64_t>(model.fired.size()));
      ASSERT_EQ(h.metrics->current_watermark, kMaxTimestamp);
    }
  }
}

// A window of 2^k ms that ends with the range of int64: its end is the least timestamp of all, as in
// Java, but it fires last.
TEST(SlicedWindow, TheLastWindowOfAllDoesNotHoldOthersBack) {
  Harness h;
  h.op = open(plan_of(Keys::kInt64, 16, 0), h.metrics.get());
  feed(h.op.get(), Keys::kInt64, {{{1, 5, kMaxTimestamp - 3}, {1, 6, 3}}, 15}, 100, h.output);
  EXPECT_EQ(h.metrics->windows_fired, 1);
  feed(h.op.get(), Keys::kInt64, {{}, kMaxTimestamp}, 100, h.output);
  EXPECT_EQ(h.metrics->windows_fired, 2);
  ASSERT_EQ(h.output.batches.size(), 2U);
  EXPECT_EQ(h.output.batches[0].timestamp_data()[0], 15);
  EXPECT_EQ(h.output.batches[1].timestamp_data()[0], kMaxTimestamp);
}

TEST(SlicedWindow, LocalAndFinalTogetherGiveTheFinalsAnswer) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Keys keys = kAllKeys[seed % 5];
    const int64_t size = 1 + seed * 7 % 60;
    const std::vector<Step> steps = random_script(seed, seed % 2 == 0 ? 12 : 3000);
    const Model model = run_model(keys, size, 0, steps);
    const WindowPlanPtr plan = plan_of(keys, size, 0);
    OperatorMetrics metrics;
    SlicedWindowOperator::Options options;
    options.partial_input = true;
    const auto final_op = open(plan, &metrics, 0, 1, options);
    LocalWindowOperator::Options local_options;
    local_options.sample_rows = 40;
    local_options.bypass_rows = 60;
    local_options.max_groups = seed % 3 == 0 ? 10 : 100000;
    LocalWindowOperator local(plan, local_options);
    CollectingOutput result;
    for (const Step& step : steps) {
      CollectingOutput between;
      feed(&local, keys, step, 5, between);
      if (seed % 4 == 1) {
        ASSERT_TRUE(local.prepare_barrier(between).is_ok());
      }
      size_t sent = 0;
      for (size_t w = 0; w <= between.watermarks.size(); ++w) {
        const bool last = w == between.watermarks.size();
        const size_t until = last ? between.batches.size() : between.batches_before_watermark[w];
        for (; sent < until; ++sent) {
          const Status status = final_op->process_batch(between.batches[sent], result);
          ASSERT_TRUE(status.is_ok()) << status.message();
        }
        if (!last) {
          ASSERT_TRUE(final_op->process_watermark({between.watermarks[w]}, result).is_ok());
        }
      }
    }
    ASSERT_EQ(sorted(lines_of(result.batches)), sorted(model.fired)) << "seed " << seed;
    ASSERT_EQ(metrics.late_records_dropped, model.late);
  }
}

TEST(SlicedWindow, SnapshotAndRestoreAtAnyPointAndParallelismChangeNothing) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Keys keys = kAllKeys[seed % 5];
    const int64_t size = 1 + seed * 7 % 60;
    const std::vector<Step> steps = random_script(seed);
    const Model model = run_model(keys, size, 0, steps);
    const WindowPlanPtr plan = plan_of(keys, size, 0);
    const size_t at = seed % steps.size();

    Harness before;
    before.op = open(plan, before.metrics.get());
    for (size_t i = 0; i < at; ++i) feed(before.op.get(), keys, steps[i], 8, before.output);
    OperatorState state;
    ASSERT_TRUE(before.op->snapshot(&state).is_ok());
    ASSERT_TRUE(state.materialise().is_ok());

    // Down to one subtask again after going through several: the union of what they hold is what
    // was written.
    const int32_t parallelism = keys == Keys::kNone ? 1 : 1 + static_cast<int32_t>(seed % 3);
    std::vector<OperatorState> written;
    for (int32_t subtask = 0; subtask < parallelism; ++subtask) {
      OperatorMetrics metrics;
      const auto op = open(plan, &metrics, subtask, parallelism);
      auto mine = reassign({state}, subtask, parallelism, kDefaultMaxParallelism);
      ASSERT_TRUE(mine.is_ok()) << mine.status().message();
      const Status status = op->restore(mine.value());
      ASSERT_TRUE(status.is_ok()) << status.message();
      ASSERT_TRUE(op->snapshot(&written.emplace_back()).is_ok());
      ASSERT_TRUE(written.back().materialise().is_ok());
    }
    auto whole = reassign(written, 0, 1, kDefaultMaxParallelism);
    ASSERT_TRUE(whole.is_ok()) << whole.status().message();
    Harness after;
    after.op = open(plan, after.metrics.get());
    ASSERT_TRUE(after.op->restore(whole.value()).is_ok());
    for (size_t i = at; i < steps.size(); ++i)
      feed(after.op.get(), keys, steps[i], 8, after.output);

    std::vector<std::string> lines = lines_of(before.output.batches);
    for (const std::string& line : lines_of(after.output.batches)) lines.push_back(line);
    ASSERT_EQ(sorted(lines), sorted(model.fired)) << "seed " << seed;
    ASSERT_EQ(before.metrics->late_records_dropped + after.metrics->late_records_dropped,
              model.late);
  }
}

TEST(SlicedWindow, RefusesStateOfAnotherDefinition) {
  OperatorMetrics metrics;
  OperatorState state;
  ASSERT_TRUE(open(plan_of(Keys::kInt64, 10, 0), &metrics)->snapshot(&state).is_ok());
  ASSERT_TRUE(state.materialise().is_ok());
  const Status keys = open(plan_of(Keys::kString, 10, 0), &metrics)->restore(state);
  EXPECT_EQ(keys.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(keys.message().find("was written with keys of type int64, this job has"),
            std::string::npos)
      << keys.message();
  EXPECT_FALSE(open(plan_of(Keys::kInt64, 20, 0), &metrics)->restore(state).is_ok());
  WindowOptions options = window_options(Keys::kInt64, 10, 0);
  options.aggregates.pop_back();
  EXPECT_FALSE(open(WindowPlan::bind(options, schema_of(Keys::kInt64)).value(), &metrics)
                   ->restore(state)
                   .is_ok());
}

TEST(SlicedWindow, EmitsWindowsInOrderOfTheirEndWithEndMinusOneAsTimestamp) {
  Harness h;
  h.op = open(plan_of(Keys::kInt64, 10, 0), h.metrics.get());
  feed(h.op.get(), Keys::kInt64, {{{1, 5, 25}, {2, 6, 3}, {1, 7, -4}}, 19}, 100, h.output);
  ASSERT_EQ(h.output.batches.size(), 2U);
  EXPECT_EQ(h.output.batches[0].timestamp_data()[0], -1);
  EXPECT_EQ(h.output.batches[1].timestamp_data()[0], 9);
  EXPECT_EQ(h.output.batches[1].schema->field(0).name, "k");
  EXPECT_EQ(h.output.batches[1].schema->field(1).name, "window_start");
  EXPECT_EQ(h.output.batches[1].schema->field(2).type->format, "tsm:");
  EXPECT_EQ(h.output.watermarks, std::vector<Timestamp>{19});
  EXPECT_EQ(h.output.batches_before_watermark, std::vector<size_t>{2});
}

TEST(SlicedWindow, AWatermarkThatDoesNotRiseIsIgnored) {
  Harness h;
  h.op = open(plan_of(Keys::kInt64, 10, 0), h.metrics.get());
  feed(h.op.get(), Keys::kInt64, {{{1, 5, 5}}, 3}, 100, h.output);
  feed(h.op.get(), Keys::kInt64, {{}, 3}, 100, h.output);
  feed(h.op.get(), Keys::kInt64, {{}, 1}, 100, h.output);
  EXPECT_EQ(h.output.watermarks, std::vector<Timestamp>{3});
}

TEST(SlicedWindow, LateRowsGoToTheSideOutputWhole) {
  Harness h;
  SlicedWindowOperator::Options options;
  options.late_side = 4;
  h.op = open(plan_of(Keys::kInt64, 10, 0), h.metrics.get(), 0, 1, options);
  feed(h.op.get(), Keys::kInt64, {{{1, 5, 5}}, 9}, 100, h.output);
  feed(h.op.get(), Keys::kInt64, {{{2, 50, 15}, {3, 60, 9}, {4, 70, 10}, {5, 80, -1}}, {}}, 100,
       h.output);
  ASSERT_EQ(h.output.sides[4].size(), 2U);
  EXPECT_EQ(h.output.sides[4][0].columns[0].data<int64_t>()[0], 60);
  EXPECT_EQ(h.output.sides[4][0].timestamp_data()[0], 9);
  EXPECT_EQ(h.metrics->late_records_dropped, 0);
}

TEST(SlicedWindow, RecordsWithoutTimestampsAreAnErrorThatSaysWhatToDo) {
  Harness h;
  h.op = open(plan_of(Keys::kInt64, 10, 0), h.metrics.get());
  Batch batch = batch_of(Keys::kInt64, {{1, 2, 3}});
  batch.timestamps = Column{};
  const Status status = h.op->process_batch(batch, h.output);
  EXPECT_NE(status.message().find("assign_timestamps_and_watermarks"), std::string::npos);
}

TEST(SlicedWindow, CutsLargeResultsIntoBatches) {
  Harness h;
  h.op = open(plan_of(Keys::kInt64, 10, 0), h.metrics.get());
  std::vector<Row> rows;
  for (int64_t i = 0; i < 70000; ++i) rows.push_back({i, i, 5});
  feed(h.op.get(), Keys::kInt64, {rows, 9}, 100000, h.output);
  ASSERT_EQ(h.output.batches.size(), 2U);
  EXPECT_EQ(h.output.batches[0].num_rows + h.output.batches[1].num_rows, 70000);
}

TEST(SlicedWindow, RefusesLatenessAndSideOutputOfPartials) {
  const WindowPlanPtr plan = plan_of(Keys::kInt64, 10, 0);
  SlicedWindowOperator::Options options;
  options.allowed_lateness_ms = 1;
  EXPECT_FALSE(SlicedWindowOperator::create(plan, options).is_ok());
  options = {};
  options.partial_input = true;
  options.late_side = 0;
  EXPECT_FALSE(SlicedWindowOperator::create(plan, options).is_ok());
}

TEST(WindowPlan, ErrorsNameTheColumnAndWhatIsKnown) {
  WindowOptions options = window_options(Keys::kInt64, 10, 0);
  options.key_columns = {"nope"};
  Status status = WindowPlan::bind(options, schema_of(Keys::kInt64)).status();
  EXPECT_EQ(status.code(), StatusCode::kKeyError);
  EXPECT_NE(status.message().find("known are v, k, k2"), std::string::npos) << status.message();

  options = window_options(Keys::kInt64, 10, 0);
  options.aggregates = {{AggregateKind::kSum, "k2", "s"}};
  status = WindowPlan::bind(options, schema_of(Keys::kInt64)).status();
  EXPECT_EQ(status.code(), StatusCode::kTypeError);
  EXPECT_NE(status.message().find("sum cannot aggregate column 'k2'"), std::string::npos)
      << status.message();

  options.aggregates = {{AggregateKind::kSum, "v", "k"}};
  EXPECT_EQ(WindowPlan::bind(options, schema_of(Keys::kInt64)).status().code(),
            StatusCode::kInvalidArgument);
  options.size_ms = 0;
  EXPECT_EQ(WindowPlan::bind(options, schema_of(Keys::kInt64)).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::window::testing
