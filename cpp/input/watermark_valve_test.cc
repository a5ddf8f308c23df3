#include "input/watermark_valve.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace penstock {
namespace {

// Feeds a valve and writes down what comes out: "w5 w10 idle active".
class Recorder {
 public:
  explicit Recorder(size_t channels) : valve_(channels) {}
  Recorder& watermark(size_t channel, Timestamp t) {
    return record(valve_.input_watermark(Watermark{t}, channel));
  }
  Recorder& idle(size_t channel) {
    return record(valve_.input_status(WatermarkStatus{true}, channel));
  }
  Recorder& active(size_t channel) {
    return record(valve_.input_status(WatermarkStatus{false}, channel));
  }
  std::string take() { return std::exchange(log_, ""); }
  const WatermarkValve& valve() const { return valve_; }

 private:
  Recorder& record(const WatermarkValve::Output& output) {
    if (output.watermark) add("w" + std::to_string(output.watermark->timestamp));
    if (output.status) add(output.status->idle ? "idle" : "active");
    return *this;
  }
  void add(const std::string& word) { log_ += (log_.empty() ? "" : " ") + word; }

  WatermarkValve valve_;
  std::string log_;
};

TEST(WatermarkValve, NoWatermarkUntilEveryActiveChannelSentOne) {
  Recorder r(3);
  EXPECT_EQ(r.watermark(0, 10).watermark(1, 5).take(), "");
  EXPECT_EQ(r.valve().last_watermark(), kMinTimestamp);
  EXPECT_EQ(r.watermark(2, 7).take(), "w5");
}

TEST(WatermarkValve, WatermarkIsTheMinimumOverTheChannels) {
  Recorder r(2);
  EXPECT_EQ(r.watermark(0, 10).watermark(1, 5).watermark(1, 20).watermark(0, 15).take(),
            "w5 w10 w15");
}

TEST(WatermarkValve, WatermarkThatIsNotGreaterIsIgnored) {
  Recorder r(1);
  EXPECT_EQ(r.watermark(0, 10).watermark(0, 10).watermark(0, 3).watermark(0, 11).take(), "w10 w11");
}

TEST(WatermarkValve, StreamGoingIdleLeavesTheMinimum) {
  Recorder r(2);
  EXPECT_EQ(r.watermark(0, 10).watermark(1, 5).take(), "w5");
  EXPECT_EQ(r.idle(1).take(), "w10");
  EXPECT_EQ(r.watermark(0, 12).take(), "w12");
}

TEST(WatermarkValve, StreamIdleBeforeItsFirstWatermarkDoesNotHoldBack) {
  Recorder r(2);
  EXPECT_EQ(r.idle(1).watermark(0, 10).take(), "w10");
}

TEST(WatermarkValve, WatermarkOfAnIdleStreamIsIgnored) {
  Recorder r(2);
  EXPECT_EQ(r.idle(1).watermark(1, 100).watermark(0, 3).take(), "w3");
  EXPECT_EQ(r.active(1).watermark(0, 4).take(), "w4");  // 1 is behind: still at "none"
}

TEST(WatermarkValve, ReactivatedStreamBehindIsIgnoredUntilItReachesTheOperator) {
  Recorder r(2);
  r.watermark(0, 10).watermark(1, 5).idle(1).take();
  EXPECT_EQ(r.active(1).take(), "");
  EXPECT_EQ(r.watermark(1, 8).take(), "");
  EXPECT_EQ(r.watermark(0, 12).take(), "w12");  // not held back by 8
  EXPECT_EQ(r.watermark(1, 12).take(), "");     // has caught up: takes part again
  EXPECT_EQ(r.watermark(0, 20).take(), "");     // and holds back
  EXPECT_EQ(r.watermark(1, 15).take(), "w15");
}

TEST(WatermarkValve, ReactivatedStreamThatIsNotBehindTakesPartAtOnce) {
  Recorder r(2);
  EXPECT_EQ(r.watermark(0, 5).watermark(1, 10).take(), "w5");
  EXPECT_EQ(r.idle(1).active(1).watermark(0, 20).take(), "w10");
}

TEST(WatermarkValve, LastActiveStreamAtTheOperatorsWatermarkGoingIdleJumpsToTheMaximum) {
  Recorder r(2);
  r.watermark(0, 50).watermark(1, 5).take();
  EXPECT_EQ(r.idle(0).take(), "");  // 1 holds at 5
  EXPECT_EQ(r.idle(1).take(), "w50 idle");
}

TEST(WatermarkValve, LastActiveStreamBehindTheOperatorGoingIdleDoesNotJump) {
  Recorder r(3);
  r.watermark(0, 10).watermark(1, 5).watermark(2, 7).take();
  EXPECT_EQ(r.idle(1).take(), "w7");
  r.active(1).take();  // behind: ignored
  EXPECT_EQ(r.idle(2).take(), "w10");
  EXPECT_EQ(r.idle(0).take(), "");
  EXPECT_EQ(r.idle(1).take(), "idle");  // 5 is not the operator's 10
}

TEST(WatermarkValve, StatusIsForwardedWhenAllAreIdleAndWhenTheFirstIsActiveAgain) {
  Recorder r(2);
  EXPECT_EQ(r.idle(0).take(), "");
  EXPECT_EQ(r.idle(1).take(), "idle");
  EXPECT_TRUE(r.valve().is_idle());
  EXPECT_EQ(r.active(0).take(), "active");
  EXPECT_EQ(r.active(1).take(), "");
  EXPECT_EQ(r.active(1).idle(0).idle(0).take(), "");
}

TEST(WatermarkValve, MaximumOnOneStreamAloneDoesNotEndTheOthers) {
  Recorder r(2);
  EXPECT_EQ(r.watermark(0, kMaxTimestamp).watermark(1, 3).take(), "w3");
  EXPECT_EQ(r.watermark(1, kMaxTimestamp).take(), "w" + std::to_string(kMaxTimestamp));
}

TEST(WatermarkValve, WorkedCaseOfTheHeader) {
  Recorder r(2);
  EXPECT_EQ(r.watermark(0, 10).watermark(1, 5).watermark(1, 12).idle(0).take(), "w5 w10 w12");
  EXPECT_EQ(r.active(0).watermark(0, 11).watermark(1, 14).take(), "w14");
  EXPECT_EQ(r.watermark(0, 20).watermark(1, 30).take(), "w20");
}

TEST(WatermarkValve, RandomInputsNeverGoBackAndNeverPassTheMaximum) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t channels = 1 + random() % 4;
    WatermarkValve valve(channels);
    Timestamp last = kMinTimestamp;
    Timestamp highest = kMinTimestamp;
    bool idle = false;
    for (int step = 0; step < 100; ++step) {
      const size_t channel = random() % channels;
      WatermarkValve::Output output;
      if (random() % 3 == 0) {
        output = valve.input_status(WatermarkStatus{random() % 2 == 0}, channel);
      } else {
        const auto t = static_cast<Timestamp>(random() % 50);
        highest = std::max(highest, t);
        output = valve.input_watermark(Watermark{t}, channel);
      }
      if (output.watermark) {
        EXPECT_GT(output.watermark->timestamp, last);
        EXPECT_LE(output.watermark->timestamp, highest);
        EXPECT_FALSE(idle) << "a watermark while downstream thinks we are idle";
        last = output.watermark->timestamp;
      }
      if (output.status) {
        EXPECT_NE(output.status->idle, idle);
        idle = output.status->idle;
      }
    }
  }
}

}  // namespace
}  // namespace penstock
