#include "record/key_group.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock {
namespace {

// The ranges of all subtasks, in order, leave no gap, never overlap, and agree with the formula
// that sends a key group to its subtask.
void expect_exact_cover(int32_t max_parallelism, int32_t parallelism) {
  int32_t next = 0;
  for (int32_t subtask = 0; subtask < parallelism; ++subtask) {
    const KeyGroupRange range = key_group_range(subtask, max_parallelism, parallelism);
    ASSERT_EQ(range.start, next) << max_parallelism << " over " << parallelism;
    ASSERT_GE(range.size(), 1);
    for (int32_t group = range.start; group <= range.end; ++group) {
      ASSERT_EQ(subtask_of_key_group(group, max_parallelism, parallelism), subtask);
      ASSERT_TRUE(range.contains(group));
    }
    ASSERT_FALSE(range.contains(range.end + 1));
    next = range.end + 1;
  }
  ASSERT_EQ(next, max_parallelism);
}

TEST(KeyGroupRange, CoversAllGroupsExactlyOnce) {
  for (const int32_t max_parallelism : {1, 2, 3, 7, 10, 127, 128, 129, 200}) {
    for (int32_t parallelism = 1; parallelism <= max_parallelism; ++parallelism) {
      expect_exact_cover(max_parallelism, parallelism);
    }
  }
}

TEST(KeyGroupRange, CoversAllGroupsAtTheUpperBound) {
  for (const int32_t parallelism : {1, 2, 3, 100, 16384, 32767, 32768}) {
    expect_exact_cover(kUpperBoundMaxParallelism, parallelism);
  }
}

TEST(KeyGroupRange, SizesDifferByOneAtMost) {
  int32_t smallest = 128;
  int32_t largest = 0;
  for (int32_t subtask = 0; subtask < 10; ++subtask) {
    const int32_t size = key_group_range(subtask, 128, 10).size();
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  EXPECT_EQ(smallest, 12);
  EXPECT_EQ(largest, 13);
}

TEST(KeyGroup, IsTheHashModuloMaxParallelism) {
  EXPECT_EQ(key_group_of(0xffffffffU, 128), 127);
  EXPECT_EQ(key_group_of(128, 128), 0);
}

}  // namespace
}  // namespace penstock
