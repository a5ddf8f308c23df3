#include "operators/window/frozen_table.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "operators/window/deferred_slices.h"
#include "operators/window/sliced_window_operator.h"
#include "operators/window/wide_testing.h"

namespace penstock::window::testing {
namespace {

std::shared_ptr<SlicedWindowOperator> open_wide(const WindowPlanPtr& plan) {
  auto op = SlicedWindowOperator::create(plan, {});
  EXPECT_TRUE(op.value()->open(OperatorContext{}).is_ok());
  return op.value();
}

using Groups = std::map<int32_t, std::string>;

Groups read_out(const DeferredKeyedState& state) {
  Groups groups;
  int32_t last = -1;
  const Status status = state.for_each_group([&](int32_t group, std::string_view entries) {
    EXPECT_GT(group, last);
    last = group;
    groups[group] = entries;
    return Status::ok();
  });
  EXPECT_TRUE(status.is_ok()) << status.message();
  return groups;
}

struct Taken {
  std::shared_ptr<const DeferredKeyedState> deferred;
  Groups expected;
};

// Two operators get the same. Both are asked for a snapshot at the same moments; one of them is read
// out at once, the other whenever.
TEST(FrozenTable, ReadsAsItWasWhateverTheSubtaskDoesMeanwhile) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    std::mt19937 random(seed);
    const WindowPlanPtr plan = wide_plan(kAllWideKeys[seed % 4]);
    const auto op = open_wide(plan);
    const auto reference = open_wide(plan);
    CollectingOutput output;
    CollectingOutput expected_output;
    std::vector<Taken> taken;
    const uint32_t keys = seed % 3 == 0 ? 10 : 2000;
    // Columns without a null at first: that is when accumulators learn to keep track of them.
    for (int step = 0; step < 40; ++step) {
      const uint32_t nulls = step < 20 ? 0 : seed % 4;
      const Timestamp now = step * 30;
      const Batch batch = wide_batch(*plan, &random, keys, now, nulls, random() % 600);
      ASSERT_TRUE(op->process_batch(batch, output).is_ok());
      ASSERT_TRUE(reference->process_batch(batch, expected_output).is_ok());
      if (random() % 3 == 0) {
        ASSERT_TRUE(op->process_watermark({now - 200}, output).is_ok());
        ASSERT_TRUE(reference->process_watermark({now - 200}, expected_output).is_ok());
      }
      if (random() % 4 == 0) {
        OperatorState state;
        OperatorState at_once;
        ASSERT_TRUE(op->snapshot(&state).is_ok());
        ASSERT_TRUE(reference->snapshot(&at_once).is_ok());
        ASSERT_TRUE(at_once.materialise().is_ok());
        taken.push_back({state.deferred.at(0), at_once.keyed.at(0).groups});
      }
      if (!taken.empty() && random() % 4 == 0) {
        const size_t which = random() % taken.size();
        ASSERT_EQ(read_out(*taken[which].deferred), taken[which].expected) << "seed " << seed;
        if (random() % 2 == 0) taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    ASSERT_TRUE(op->process_watermark({kMaxTimestamp}, output).is_ok());
    ASSERT_TRUE(reference->process_watermark({kMaxTimestamp}, expected_output).is_ok());
    ASSERT_TRUE(op->close().is_ok());
    for (const Taken& one : taken) ASSERT_EQ(read_out(*one.deferred), one.expected);
    ASSERT_EQ(exact_lines(output.batches), exact_lines(expected_output.batches)) << "seed " << seed;
  }
}

TEST(FrozenTable, IsReadInAnotherThreadWhileBatchesGoOn) {
  std::mt19937 random(7);
  for (const WideKeys keys : {WideKeys::kInt64, WideKeys::kText, WideKeys::kTuple}) {
    const WindowPlanPtr plan = wide_plan(keys);
    const auto op = open_wide(plan);
    CollectingOutput output;
    for (int i = 0; i < 4; ++i) {
      const Batch batch = wide_batch(*plan, &random, 20000, 60, 0, 8000);
      ASSERT_TRUE(op->process_batch(batch, output).is_ok());
    }
    OperatorState state;
    ASSERT_TRUE(op->snapshot(&state).is_ok());
    auto deferred = std::exchange(state.deferred, {}).at(0);
    const Groups expected = read_out(*deferred);
    std::atomic<bool> done{false};
    std::thread reader([&] {
      for (int i = 0; i < 3; ++i) EXPECT_EQ(read_out(*deferred), expected);
      deferred.reset();
      done = true;
    });
    for (int step = 0; !done; ++step) {
      const uint32_t nulls = step < 3 ? 0 : 1;
      const Batch batch = wide_batch(*plan, &random, 40000, 60, nulls, 500);
      EXPECT_TRUE(op->process_batch(batch, output).is_ok());
    }
    reader.join();
    EXPECT_TRUE(op->process_batch(wide_batch(*plan, &random, 40000, 60, 1, 500), output).is_ok());
  }
}

TEST(DeferredSlices, ComeOutTheSameHoweverManyPassesItTakes) {
  std::mt19937 random(3);
  const WindowPlanPtr plan = wide_plan(WideKeys::kText);
  std::vector<DeferredSlices::Slice> slices;
  for (const uint32_t keys : {1U, 3000U, 9000U}) {
    auto table = std::make_shared<SliceTable>(plan, false);
    const Batch batch = wide_batch(*plan, &random, keys, 0, 1, 10000);
    BatchKeys batch_keys(plan->key_types());
    ASSERT_TRUE(batch_keys.prepare(plan->key_columns(batch), batch.num_rows).is_ok());
    ASSERT_TRUE(table->update(batch, &batch_keys, nullptr, batch.num_rows).is_ok());
    slices.push_back({std::to_string(keys), FrozenTable::freeze(table)});
  }
  const Groups expected = read_out(DeferredSlices({}, 16, slices));
  EXPECT_EQ(expected.size(), 16U);
  for (const uint64_t entries_per_pass : {1, 1000, 5000})
    EXPECT_EQ(read_out(DeferredSlices({}, 16, slices, entries_per_pass)), expected);
}

TEST(SliceTables, ATableThatSomebodyStillReadsIsNotUsedAgain) {
  std::mt19937 random(5);
  const WindowPlanPtr plan = wide_plan(WideKeys::kInt64);
  SliceTables tables(plan, false);
  const Batch batch = wide_batch(*plan, &random, 500, 0, 1, 1000);
  BatchKeys keys(plan->key_types());
  ASSERT_TRUE(keys.prepare(plan->key_columns(batch), batch.num_rows).is_ok());
  ASSERT_TRUE(tables.at(100)->update(batch, &keys, nullptr, batch.num_rows).is_ok());
  const SliceTable* const first = tables.at(100);
  const DeferredSlices deferred({}, 16, {{"", FrozenTable::freeze(tables.open().at(100))}});
  const Groups expected = read_out(deferred);
  tables.drop(100);
  EXPECT_NE(tables.at(200), first);
  EXPECT_EQ(tables.at(200)->size(), 0U);
  EXPECT_EQ(read_out(deferred), expected);
}

}  // namespace
}  // namespace penstock::window::testing
