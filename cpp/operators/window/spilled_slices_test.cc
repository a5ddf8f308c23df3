#include "operators/window/spilled_slices.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "operators/window/sliced_window_operator.h"
#include "operators/window/wide_testing.h"

namespace penstock::window::testing {
namespace {

constexpr const char* kTier = "penstock.state.write-back-tier";

// nullptr: on the heap.
StateBackendConfigPtr rocksdb_with(const std::string& tier) {
  auto config = std::make_shared<StateBackendConfig>();
  config->kind = "rocksdb";
  config->options[kTier] = tier;
  return config;
}

std::shared_ptr<SlicedWindowOperator> open_on(const WindowPlanPtr& plan,
                                              StateBackendConfigPtr config, int32_t subtask = 0,
                                              int32_t parallelism = 1) {
  auto op = SlicedWindowOperator::create(plan, {});
  OperatorContext context;
  context.name = "Window";
  context.uid = "window";
  context.subtask = subtask;
  context.parallelism = parallelism;
  context.state_backend = std::move(config);
  EXPECT_TRUE(op.value()->open(context).is_ok());
  return op.value();
}

void expect_ok(const Status& status) { ASSERT_TRUE(status.is_ok()) << status.message(); }

OperatorState snapshot_of(SlicedWindowOperator* op, bool canonical) {
  OperatorState state;
  state.request.canonical = canonical;
  expect_ok(op->snapshot(&state));
  expect_ok(state.materialise());
  return state;
}

std::vector<std::string> sorted_lines(const CollectingOutput& output) {
  return sorted(exact_lines(output.batches));
}

// Steps of the same input for several operators.
class Input {
 public:
  Input(const WindowPlanPtr& plan, uint32_t seed, double divisor)
      : plan_(plan),
        random_(seed),
        keys_(seed % 3 == 0 ? 10 : 700),
        seed_(seed),
        divisor_(divisor) {}
  void step(const std::vector<std::pair<SlicedWindowOperator*, CollectingOutput*>>& operators) {
    const Timestamp now = 30 * step_++;
    const Batch batch =
        wide_batch(*plan_, &random_, keys_, now, seed_ % 4, random_() % 300, divisor_);
    const bool watermark = random_() % 3 == 0;
    for (const auto& [op, output] : operators) {
      expect_ok(op->process_batch(batch, *output));
      if (watermark) expect_ok(op->process_watermark({now - 200}, *output));
    }
  }
  bool sometimes(uint32_t one_in) { return random_() % one_in == 0; }

 private:
  WindowPlanPtr plan_;
  std::mt19937 random_;
  uint32_t keys_;
  uint32_t seed_;
  double divisor_;
  Timestamp step_ = 0;
};

TEST(SpilledSlices, GiveTheHeapsAnswerHoweverLittleFitsIntoMemory) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const WindowPlanPtr plan = wide_plan(kAllWideKeys[seed % 4]);
    const auto heap = open_on(plan, nullptr);
    CollectingOutput expected;
    const auto small = open_on(plan, rocksdb_with("1 kb"));
    CollectingOutput from_small;
    const auto medium = open_on(plan, rocksdb_with("200 kb"));
    CollectingOutput from_medium;
    Input input(plan, seed, 8.0);
    for (int step = 0; step < 40; ++step) {
      input.step(
          {{heap.get(), &expected}, {small.get(), &from_small}, {medium.get(), &from_medium}});
      if (input.sometimes(6)) snapshot_of(medium.get(), input.sometimes(2));
    }
    expect_ok(heap->process_watermark({kMaxTimestamp}, expected));
    expect_ok(small->process_watermark({kMaxTimestamp}, from_small));
    expect_ok(medium->process_watermark({kMaxTimestamp}, from_medium));
    ASSERT_EQ(sorted_lines(from_small), sorted_lines(expected)) << "seed " << seed;
    ASSERT_EQ(sorted_lines(from_medium), sorted_lines(expected)) << "seed " << seed;
  }
}

// One restart, possibly on another backend and by way of several subtasks.
TEST(SpilledSlices, ComeBackOnAnyBackendAndAtAnyParallelism) {
  const std::vector<StateBackendConfigPtr> backends = {
      nullptr, rocksdb_with("1 kb"), rocksdb_with("200 kb"), rocksdb_with("64 mb")};
  for (uint32_t seed = 0; seed < 32; ++seed) {
    const StateBackendConfigPtr& first = backends[seed % 4];
    const StateBackendConfigPtr& second = backends[seed / 4 % 4];
    // Files of RocksDB are read by RocksDB only.
    const bool canonical = second == nullptr || seed % 3 == 0;
    const WindowPlanPtr plan = wide_plan(kAllWideKeys[seed / 8 % 4]);
    const auto reference = open_on(plan, nullptr);
    CollectingOutput expected;
    CollectingOutput output;
    Input input(plan, seed, 8.0);
    auto op = open_on(plan, first);
    for (int step = 0; step < 15; ++step)
      input.step({{reference.get(), &expected}, {op.get(), &output}});
    const OperatorState state = snapshot_of(op.get(), canonical);
    // What comes after the barrier is not in it.
    CollectingOutput lost;
    const Batch batch =
        wide_batch(*plan, std::make_unique<std::mt19937>(seed).get(), 50, 400, 0, 9);
    expect_ok(op->process_batch(batch, lost));
    expect_ok(op->close());
    op.reset();

    const int32_t parallelism = 1 + static_cast<int32_t>(seed % 3);
    std::vector<OperatorState> written;
    for (int32_t subtask = 0; subtask < parallelism; ++subtask) {
      auto mine = reassign({state}, subtask, parallelism, kDefaultMaxParallelism);
      expect_ok(mine.status());
      const auto one = open_on(plan, second, subtask, parallelism);
      expect_ok(one->restore(mine.value()));
      written.push_back(snapshot_of(one.get(), canonical));
    }
    auto whole = reassign(written, 0, 1, kDefaultMaxParallelism);
    expect_ok(whole.status());
    op = open_on(plan, second);
    expect_ok(op->restore(whole.value()));
    for (int step = 0; step < 15; ++step)
      input.step({{reference.get(), &expected}, {op.get(), &output}});
    expect_ok(reference->process_watermark({kMaxTimestamp}, expected));
    expect_ok(op->process_watermark({kMaxTimestamp}, output));
    ASSERT_EQ(sorted_lines(output), sorted_lines(expected)) << "seed " << seed;
  }
}

TEST(SpilledSlices, CanonicalEntriesAreThoseOfTheHeap) {
  for (const WideKeys keys : kAllWideKeys) {
    const WindowPlanPtr plan = wide_plan(keys);
    const auto heap = open_on(plan, nullptr);
    const auto rocksdb = open_on(plan, rocksdb_with("1 kb"));
    CollectingOutput output;
    Input input(plan, 1, 8.0);
    for (int step = 0; step < 10; ++step)
      input.step({{heap.get(), &output}, {rocksdb.get(), &output}});
    std::set<std::string> entries[2];
    size_t count = 0;
    for (SlicedWindowOperator* op : {heap.get(), rocksdb.get()}) {
      const OperatorState state = snapshot_of(op, true);
      ASSERT_EQ(state.keyed.size(), 1U);
      expect_ok(state.keyed[0].for_each([&](int32_t group, std::string_view key,
                                            std::string_view name_space, std::string_view value) {
        entries[op == heap.get() ? 0 : 1].insert(std::to_string(group) + "|" + std::string(key) +
                                                 "|" + std::string(name_space) + "|" +
                                                 std::string(value));
        ++count;
        return Status::ok();
      }));
    }
    EXPECT_GT(count, 2U);
    EXPECT_EQ(entries[0], entries[1]);
  }
}

// Sums of floats depend on the order of additions: neither a barrier nor a restart may change it
// while all fits into memory.
TEST(SpilledSlices, SumsOfFloatsAreTheHeapsWhenAllFitsHoweverManyBarriers) {
  const StateBackendConfigPtr config = rocksdb_with("64 mb");
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const WindowPlanPtr plan = wide_plan(kAllWideKeys[seed % 4]);
    const auto heap = open_on(plan, nullptr);
    CollectingOutput expected;
    CollectingOutput output;
    Input input(plan, seed, 7.0);
    auto op = open_on(plan, config);
    for (int step = 0; step < 30; ++step) {
      input.step({{heap.get(), &expected}, {op.get(), &output}});
      if (!input.sometimes(4)) continue;
      const OperatorState state = snapshot_of(op.get(), input.sometimes(2));
      if (input.sometimes(2)) continue;
      op = open_on(plan, config);
      expect_ok(op->restore(state));
    }
    expect_ok(heap->process_watermark({kMaxTimestamp}, expected));
    expect_ok(op->process_watermark({kMaxTimestamp}, output));
    ASSERT_EQ(sorted_lines(output), sorted_lines(expected)) << "seed " << seed;
  }
}

TEST(SpilledSlices, ASumThatOverflowsOverItsRunsIsAnErrorWhenTheWindowFires) {
  const WindowPlanPtr plan =
      WindowPlan::bind(window_options(Keys::kInt64, 10, 0), schema_of(Keys::kInt64)).value();
  const auto op = open_on(plan, rocksdb_with("1 kb"));
  CollectingOutput output;
  const int64_t large = std::numeric_limits<int64_t>::max() / 2;
  for (int i = 0; i < 3; ++i)
    expect_ok(op->process_batch(batch_of(Keys::kInt64, {{1, large, 5}, {2, 1, 5}}), output));
  // A savepoint keeps what cannot be added.
  const OperatorState state = snapshot_of(op.get(), true);
  const Status status = op->process_watermark({9}, output);
  EXPECT_EQ(status.code(), StatusCode::kOverflow) << status.message();
  EXPECT_EQ(open_on(plan, nullptr)->restore(state).code(), StatusCode::kOverflow);
}

TEST(SpilledSlices, TheHeapRefusesFilesOfRocksDB) {
  const WindowPlanPtr plan = wide_plan(WideKeys::kInt64);
  const auto op = open_on(plan, rocksdb_with("1 kb"));
  const OperatorState state = snapshot_of(op.get(), false);
  ASSERT_EQ(state.native.size(), 1U);
  const Status status = open_on(plan, nullptr)->restore(state);
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_NE(status.message().find("savepoint"), std::string::npos) << status.message();
  EXPECT_EQ(open_on(wide_plan(WideKeys::kText), rocksdb_with("1 kb"))->restore(state).code(),
            StatusCode::kInvalidArgument);
}

TEST(AccumulatorCombiner, ValuesOfNoAggregatesAreRefused) {
  EXPECT_TRUE(read_value("", 0, {}).is_ok());
  EXPECT_EQ(read_value("x", 0, {}).code(), StatusCode::kCorruption);
}

TEST(SpilledSlices, AWrongBudgetIsNamed) {
  const WindowPlanPtr plan = wide_plan(WideKeys::kInt64);
  const auto op = open_on(plan, rocksdb_with("lots"));
  CollectingOutput output;
  std::mt19937 random(1);
  const Status status = op->process_batch(wide_batch(*plan, &random, 5, 5, 0, 5), output);
  EXPECT_NE(status.message().find(kTier), std::string::npos) << status.message();
}

}  // namespace
}  // namespace penstock::window::testing
