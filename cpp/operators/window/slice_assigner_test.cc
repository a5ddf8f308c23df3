#include "operators/window/slice_assigner.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "operators/window/slice_partition.h"

namespace penstock::window {
namespace {

TEST(SliceAssigner, StartsAreFloorsAlsoBeforeTheEpoch) {
  EXPECT_EQ(window_start_with_offset(0, 0, 10), 0);
  EXPECT_EQ(window_start_with_offset(9, 0, 10), 0);
  EXPECT_EQ(window_start_with_offset(-1, 0, 10), -10);
  EXPECT_EQ(window_start_with_offset(-10, 0, 10), -10);
  EXPECT_EQ(window_start_with_offset(-11, 0, 10), -20);
}

TEST(SliceAssigner, OffsetsMoveTheStart) {
  EXPECT_EQ(window_start_with_offset(12, 3, 10), 3);
  EXPECT_EQ(window_start_with_offset(13, 3, 10), 13);
  EXPECT_EQ(window_start_with_offset(2, 3, 10), -7);
  EXPECT_EQ(window_start_with_offset(6, -3, 10), -3);
  EXPECT_EQ(window_start_with_offset(7, -3, 10), 7);
}

TEST(SliceAssigner, RefusesSizesAndOffsetsThatMakeNoWindow) {
  EXPECT_FALSE(check_tumbling(0, 0).is_ok());
  EXPECT_FALSE(check_tumbling(-5, 0).is_ok());
  EXPECT_FALSE(check_tumbling(10, 10).is_ok());
  EXPECT_FALSE(check_tumbling(10, -10).is_ok());
  EXPECT_TRUE(check_tumbling(10, -9).is_ok());
}

TEST(SlicePartition, PutsEveryRowIntoItsSliceInRowOrder) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const int64_t size = 1 + static_cast<int64_t>(random() % 50);
    const auto assigner = SliceAssigner::tumbling(size, static_cast<int64_t>(random()) % size);
    SlicePartition partition(assigner);
    for (int batch = 0; batch < 5; ++batch) {
      const int64_t spread = 1 + static_cast<int64_t>(random() % 200);
      std::vector<Timestamp> timestamps(random() % 300 + 1);
      for (Timestamp& timestamp : timestamps)
        timestamp = static_cast<Timestamp>(random()) % spread - 100;
      std::map<Timestamp, std::vector<int32_t>> model;
      for (size_t i = 0; i < timestamps.size(); ++i) {
        model[assigner.slice_end(timestamps[i])].push_back(static_cast<int32_t>(i));
      }
      const auto slices =
          partition.by_timestamp(timestamps.data(), static_cast<int64_t>(timestamps.size()));
      ASSERT_TRUE(slices.is_ok());
      ASSERT_EQ(slices.value()->size(), model.size());
      for (const SliceRows& slice : *slices.value()) {
        std::vector<int32_t> rows;
        for (int64_t i = 0; i < slice.count; ++i) {
          rows.push_back(slice.rows == nullptr ? static_cast<int32_t>(i) : slice.rows[i]);
        }
        ASSERT_EQ(rows, model[slice.end]);
      }
    }
  }
}

TEST(SlicePartition, RefusesTheTimestampThatMeansNone) {
  SlicePartition partition(SliceAssigner::tumbling(10, 0));
  const Timestamp timestamps[] = {5, kMinTimestamp};
  const auto slices = partition.by_timestamp(timestamps, 2);
  ASSERT_FALSE(slices.is_ok());
  EXPECT_NE(slices.status().message().find("assign_timestamps_and_watermarks"), std::string::npos);
}

}  // namespace
}  // namespace penstock::window
