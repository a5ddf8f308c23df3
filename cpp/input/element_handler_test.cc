#include "input/element_handler.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace penstock {
namespace {

Batch rows(int64_t count) {
  Batch batch;
  batch.num_rows = count;
  return batch;
}

std::string name_of(const GateEvent& event) {
  if (const auto* e = std::get_if<BatchReceived>(&event)) {
    return "batch" + std::to_string(e->batch.num_rows) + "@" + std::to_string(e->input);
  }
  if (const auto* e = std::get_if<Watermark>(&event)) {
    return e->timestamp == kMaxTimestamp ? "wMAX" : "w" + std::to_string(e->timestamp);
  }
  if (const auto* e = std::get_if<WatermarkStatus>(&event)) return e->idle ? "idle" : "active";
  if (const auto* e = std::get_if<CheckpointReady>(&event)) {
    return "checkpoint" + std::to_string(e->barrier.id.value);
  }
  if (const auto* e = std::get_if<CheckpointSubsumed>(&event)) {
    return "subsumed" + std::to_string(e->id.value);
  }
  return std::holds_alternative<EndOfAllInput>(event) ? "end" : "nothing";
}

class ElementHandlerTest : public testing::Test {
 protected:
  std::string feed(ElementHandler& handler, int32_t channel, Element element) {
    std::string log;
    const Status status = handler.feed(channel, std::move(element), [&](const GateEvent& event) {
      log += (log.empty() ? "" : " ") + name_of(event);
      return Status::ok();
    });
    return status.is_ok() ? log : "error: " + status.message();
  }
  static Barrier barrier(int64_t id) { return {CheckpointId{id}, 0}; }
};

TEST_F(ElementHandlerTest, BatchIsHandedOnWithItsInput) {
  ElementHandler handler({0, 0, 1});
  EXPECT_EQ(feed(handler, 1, rows(3)), "batch3@0");
  EXPECT_EQ(feed(handler, 2, rows(4)), "batch4@1");
}

TEST_F(ElementHandlerTest, ChannelsOfOneInputGoThroughTheValve) {
  ElementHandler handler({0, 0});
  EXPECT_EQ(feed(handler, 0, Watermark{10}), "");
  EXPECT_EQ(feed(handler, 1, Watermark{5}), "w5");
  EXPECT_EQ(feed(handler, 1, WatermarkStatus{true}), "w10");
  EXPECT_EQ(feed(handler, 1, WatermarkStatus{false}), "");
  EXPECT_EQ(feed(handler, 0, Watermark{20}), "w20");  // 1 is behind and ignored
  EXPECT_EQ(handler.watermark(), 20);
}

TEST_F(ElementHandlerTest, TwoInputsAreCombinedAndAReactivatedOneHoldsBack) {
  ElementHandler handler({0, 1});
  EXPECT_EQ(feed(handler, 0, Watermark{10}), "");
  EXPECT_EQ(feed(handler, 1, Watermark{5}), "w5");
  EXPECT_EQ(feed(handler, 1, WatermarkStatus{true}), "w10");
  EXPECT_EQ(feed(handler, 1, WatermarkStatus{false}), "");
  EXPECT_EQ(feed(handler, 0, Watermark{20}), "");  // held back by input 1
  EXPECT_EQ(feed(handler, 1, Watermark{12}), "w12");
}

TEST_F(ElementHandlerTest, TwoIdleInputsJumpToTheMaximum) {
  ElementHandler handler({0, 1});
  feed(handler, 0, Watermark{10});
  feed(handler, 1, Watermark{5});
  EXPECT_EQ(feed(handler, 0, WatermarkStatus{true}), "");
  EXPECT_EQ(feed(handler, 1, WatermarkStatus{true}), "w10 idle");
  EXPECT_EQ(feed(handler, 0, WatermarkStatus{false}), "active");
}

TEST_F(ElementHandlerTest, BlockedChannelMayNotBeFed) {
  ElementHandler handler({0, 0});
  EXPECT_EQ(feed(handler, 0, barrier(1)), "");
  EXPECT_FALSE(handler.may_read(0));
  EXPECT_EQ(feed(handler, 0, rows(1)),
            "error: element for channel 0 that is blocked until the checkpoint is complete");
  EXPECT_EQ(feed(handler, 1, barrier(1)), "checkpoint1");
  EXPECT_EQ(feed(handler, 0, rows(1)), "batch1@0");
}

TEST_F(ElementHandlerTest, EndCompletesAPendingCheckpointAfterTheWatermark) {
  ElementHandler handler({0, 0});
  feed(handler, 0, Watermark{7});
  EXPECT_EQ(feed(handler, 0, barrier(1)), "");
  EXPECT_EQ(feed(handler, 1, EndOfInput{}), "w7 checkpoint1");
  EXPECT_EQ(feed(handler, 0, Watermark{kMaxTimestamp}), "wMAX");
  EXPECT_EQ(feed(handler, 0, EndOfInput{}), "end");
  EXPECT_TRUE(handler.all_ended());
  EXPECT_EQ(feed(handler, 0, rows(1)), "error: element for channel 0 that has ended");
}

TEST_F(ElementHandlerTest, EndOfAnIdleChannelCountsAsItsLastWatermark) {
  ElementHandler handler({0});
  EXPECT_EQ(feed(handler, 0, WatermarkStatus{true}), "idle");
  EXPECT_EQ(feed(handler, 0, EndOfInput{}), "active wMAX end");
}

TEST_F(ElementHandlerTest, NewerBarrierReportsTheSubsumedCheckpoint) {
  ElementHandler handler({0, 0});
  feed(handler, 0, barrier(1));
  EXPECT_EQ(feed(handler, 1, barrier(2)), "subsumed1");
  EXPECT_EQ(feed(handler, 0, barrier(2)), "checkpoint2");
}

TEST_F(ElementHandlerTest, FailureOfTheVisitorComesBack) {
  ElementHandler handler({0});
  const Status status =
      handler.feed(0, Watermark{1}, [](const GateEvent&) { return Status::overflow("too much"); });
  EXPECT_EQ(status.code(), StatusCode::kOverflow);
  EXPECT_EQ(feed(handler, 5, Watermark{1}), "error: element for channel 5 of 1");
}

}  // namespace
}  // namespace penstock
