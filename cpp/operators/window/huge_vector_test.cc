#include "operators/window/huge_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace penstock::window {
namespace {

TEST(HugeVectorTest, ContentsSurviveGrowthIntoHugePages) {
  HugeVector<uint64_t> values;
  const size_t count = 3 * kHugeFromBytes / sizeof(uint64_t);
  for (size_t i = 0; i < count; ++i) values.push_back(i * i);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], i * i);
}

TEST(HugeVectorTest, LargeMemoryIsAlignedToHugePages) {
  const HugeVector<uint8_t> values(kHugeFromBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values.data()) % kHugePageBytes, 0U);
}

TEST(HugeVectorTest, ShrinksAndGrowsAcrossTheLimit) {
  HugeVector<uint32_t> values(kHugeFromBytes / sizeof(uint32_t) - 1, 7);
  values.resize(kHugeFromBytes / sizeof(uint32_t) + 1, 8);
  EXPECT_EQ(values.front(), 7U);
  EXPECT_EQ(values.back(), 8U);
  values.resize(1);
  values.shrink_to_fit();
  HugeVector<uint32_t> moved = std::move(values);
  EXPECT_EQ(moved, HugeVector<uint32_t>({7}));
}

}  // namespace
}  // namespace penstock::window
