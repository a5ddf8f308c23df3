#include "input/combined_watermark.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr WatermarkStatus kIdle{true};
constexpr WatermarkStatus kActive{false};

Timestamp out(const CombinedWatermark::Output& output) {
  return output.watermark ? output.watermark->timestamp : kMinTimestamp;
}

TEST(CombinedWatermark, MinimumOverTheInputs) {
  CombinedWatermark combined(2);
  EXPECT_EQ(out(combined.input_watermark({10}, 0)), kMinTimestamp);
  EXPECT_EQ(out(combined.input_watermark({5}, 1)), 5);
  EXPECT_EQ(out(combined.input_watermark({20}, 1)), 10);
}

TEST(CombinedWatermark, IdleInputLeavesTheMinimum) {
  CombinedWatermark combined(2);
  combined.input_watermark({10}, 0);
  combined.input_watermark({5}, 1);
  const auto output = combined.input_status(kIdle, 1);
  EXPECT_EQ(out(output), 10);
  EXPECT_FALSE(output.status.has_value());
}

TEST(CombinedWatermark, AllIdleJumpsToTheMaximumAndForwardsTheStatus) {
  CombinedWatermark combined(2);
  combined.input_watermark({10}, 0);
  combined.input_watermark({5}, 1);
  EXPECT_EQ(out(combined.input_status(kIdle, 0)), kMinTimestamp);  // 5 is out already
  const auto output = combined.input_status(kIdle, 1);
  EXPECT_EQ(out(output), 10);
  ASSERT_TRUE(output.status.has_value());
  EXPECT_TRUE(output.status->idle);
  EXPECT_TRUE(combined.is_idle());
}

TEST(CombinedWatermark, ReactivatedInputThatIsBehindHoldsTheOperatorWhereItIs) {
  CombinedWatermark combined(2);
  combined.input_watermark({10}, 0);
  combined.input_watermark({5}, 1);
  combined.input_status(kIdle, 1);
  EXPECT_FALSE(combined.input_status(kActive, 1).status.has_value());
  EXPECT_EQ(out(combined.input_watermark({20}, 0)), kMinTimestamp);
  EXPECT_EQ(combined.watermark(), 10);
  EXPECT_EQ(out(combined.input_watermark({8}, 1)), kMinTimestamp);
  EXPECT_EQ(out(combined.input_watermark({15}, 1)), 15);
}

TEST(CombinedWatermark, FirstActiveInputIsForwarded) {
  CombinedWatermark combined(2);
  combined.input_status(kIdle, 0);
  EXPECT_TRUE(combined.input_status(kIdle, 1).status.has_value());
  const auto output = combined.input_status(kActive, 0);
  ASSERT_TRUE(output.status.has_value());
  EXPECT_FALSE(output.status->idle);
  EXPECT_FALSE(combined.input_status(kActive, 1).status.has_value());
}

TEST(CombinedWatermark, NeverGoesBack) {
  CombinedWatermark combined(2);
  combined.input_watermark({10}, 0);
  combined.input_watermark({10}, 1);
  EXPECT_EQ(out(combined.input_watermark({3}, 0)), kMinTimestamp);
  EXPECT_EQ(combined.watermark(), 10);
}

}  // namespace
}  // namespace penstock
