#include "task/task_driver.h"

#include <gtest/gtest.h>

#include "task/task_testing.h"

namespace penstock {
namespace {

using testing::node;

Batch ids(int64_t from, int64_t count) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(from + i);
  auto field = std::make_shared<Field>();
  field->name = "id";
  field->type = int64();
  return make_batch(std::make_shared<const Schema>(std::vector<FieldPtr>{field}),
                    {int64_column(std::move(values))}, count);
}

TaskInfo info() { return {0, "task", 0, 1, kDefaultMaxParallelism}; }

TEST(TaskDriver, SendsWhatItIsFedAndEndsWithTheLastChannel) {
  TaskDriver driver(info(), {0, 0}, 0);
  ASSERT_TRUE(driver.add_operator(node(std::make_shared<testing::PassThrough>(), "pass")).is_ok());
  ASSERT_TRUE(
      driver.add_edge(0, std::nullopt, {PartitioningKind::kForward, std::nullopt}, 1).is_ok());
  ASSERT_TRUE(driver.open(std::nullopt).is_ok());
  ASSERT_TRUE(driver.feed(0, ids(0, 3)).is_ok());
  ASSERT_TRUE(driver.feed(0, Watermark{10}).is_ok());
  ASSERT_TRUE(driver.feed(1, Watermark{5}).is_ok());
  auto sent = driver.take_output();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(std::get<Batch>(sent[0].element).num_rows, 3);
  EXPECT_EQ(std::get<Watermark>(sent[1].element).timestamp, 5);
  ASSERT_TRUE(driver.feed(0, EndOfInput{}).is_ok());
  EXPECT_FALSE(driver.ended());
  ASSERT_TRUE(driver.feed(1, EndOfInput{}).is_ok());
  EXPECT_TRUE(driver.ended());
  sent = driver.take_output();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(std::get<Watermark>(sent[0].element).timestamp, kMaxTimestamp);
  EXPECT_TRUE(std::holds_alternative<EndOfInput>(sent[1].element));
  EXPECT_FALSE(driver.feed(0, ids(0, 1)).is_ok());
}

TEST(TaskDriver, SplitsByTarget) {
  TaskDriver driver(info(), {0}, 0);
  ASSERT_TRUE(driver.add_operator(node(std::make_shared<testing::PassThrough>(), "pass")).is_ok());
  const Partitioning hash{PartitioningKind::kHash, std::vector<std::string>{"id"}};
  ASSERT_TRUE(driver.add_edge(0, std::nullopt, hash, 4).is_ok());
  ASSERT_TRUE(driver.open(std::nullopt).is_ok());
  ASSERT_TRUE(driver.feed(0, ids(0, 1000)).is_ok());
  int64_t rows = 0;
  std::vector<bool> seen(4, false);
  for (const SentElement& sent : driver.take_output()) {
    rows += std::get<Batch>(sent.element).num_rows;
    seen[static_cast<size_t>(sent.target)] = true;
  }
  EXPECT_EQ(rows, 1000);
  EXPECT_EQ(seen, std::vector<bool>(4, true));
}

TEST(TaskDriver, ASourceIsPolledToItsEndAndGoesOnFromASnapshot) {
  const auto run = [](std::optional<std::string_view> state, int polls, std::string* snapshot) {
    TaskDriver driver(info(), {}, 0);
    EXPECT_TRUE(driver.add_source(testing::sequence(20'000), "source", "source").is_ok());
    EXPECT_TRUE(
        driver.add_edge(0, std::nullopt, {PartitioningKind::kForward, std::nullopt}, 1).is_ok());
    EXPECT_TRUE(driver.open(state).is_ok());
    int64_t rows = 0;
    for (int i = 0; i < polls && driver.poll().value(); ++i) {
    }
    for (const SentElement& sent : driver.take_output()) {
      if (const auto* batch = std::get_if<Batch>(&sent.element)) rows += batch->num_rows;
    }
    *snapshot = driver.snapshot().value();
    return rows;
  };
  std::string snapshot;
  const int64_t first = run(std::nullopt, 1, &snapshot);
  const std::string kept = snapshot;
  EXPECT_EQ(first, kChunkRows);
  EXPECT_EQ(run(kept, 1000, &snapshot), 20'000 - first);
  EXPECT_EQ(run(snapshot, 1000, &snapshot), 0);
}

TEST(TaskDriver, AlignedBarriersGiveTheStateAndGoOn) {
  std::atomic<int64_t> total{0};
  TaskDriver driver(info(), {0, 0}, 0);
  ASSERT_TRUE(
      driver.add_operator(node(std::make_shared<testing::CountingSink>(&total), "count")).is_ok());
  ASSERT_TRUE(driver.open(std::nullopt).is_ok());
  ASSERT_TRUE(driver.feed(0, ids(1, 1)).is_ok());
  ASSERT_TRUE(driver.feed(0, Barrier{CheckpointId{3}, 0}).is_ok());
  EXPECT_TRUE(driver.take_barriers().empty());
  EXPECT_FALSE(driver.feed(0, ids(9, 1)).is_ok()) << "the channel waits for its barrier";
  ASSERT_TRUE(driver.feed(1, ids(5, 1)).is_ok());
  ASSERT_TRUE(driver.feed(1, Barrier{CheckpointId{3}, 0}).is_ok());
  const auto barriers = driver.take_barriers();
  ASSERT_EQ(barriers.size(), 1U);
  EXPECT_EQ(barriers[0].first, CheckpointId{3});

  TaskDriver restored(info(), {0}, 0);
  ASSERT_TRUE(restored.add_operator(node(std::make_shared<testing::CountingSink>(&total), "count"))
                  .is_ok());
  ASSERT_TRUE(restored.open(barriers[0].second).is_ok());
  ASSERT_TRUE(restored.feed(0, ids(10, 1)).is_ok());
  ASSERT_TRUE(restored.feed(0, EndOfInput{}).is_ok());
  EXPECT_EQ(total, 1 + 5 + 10);
}

TEST(TaskDriver, ADamagedSnapshotIsRefused) {
  TaskDriver driver(info(), {}, 0);
  ASSERT_TRUE(driver.add_source(testing::sequence(10), "source", "source").is_ok());
  EXPECT_EQ(driver.open("not a snapshot").code(), StatusCode::kCorruption);
}

TEST(TaskDriver, MisuseIsAnError) {
  TaskDriver driver(info(), {0}, std::nullopt);
  EXPECT_FALSE(driver.open(std::nullopt).is_ok());
  EXPECT_FALSE(driver.feed(0, ids(0, 1)).is_ok());
  EXPECT_FALSE(driver.add_source(testing::sequence(1), "s", "s").is_ok());
  ASSERT_TRUE(driver.add_operator(node(std::make_shared<testing::PassThrough>(), "pass")).is_ok());
  EXPECT_FALSE(
      driver.add_operator(node(std::make_shared<testing::PassThrough>(), "pass", 5)).is_ok());
  EXPECT_FALSE(driver.add_edge(3, std::nullopt, {}, 1).is_ok());
  ASSERT_TRUE(driver.open(std::nullopt).is_ok());
  EXPECT_FALSE(driver.poll().is_ok());
  EXPECT_FALSE(driver.set_time(5).is_ok());
  ASSERT_TRUE(driver.close().is_ok());
  EXPECT_FALSE(driver.feed(0, ids(0, 1)).is_ok());
}

}  // namespace
}  // namespace penstock
