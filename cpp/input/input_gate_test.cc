#include "input/input_gate.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <thread>
#include <utility>

namespace penstock {
namespace {

Batch rows(int64_t count) {
  Batch batch;
  batch.num_rows = count;
  return batch;
}

Barrier barrier(int64_t id) { return {CheckpointId{id}, 0}; }

// Not inlined: GCC 12 would warn about the batch of a moved variant that holds none.
[[gnu::noinline]] void send(Channel& channel, Element element) {
  while (!channel.try_push(element)) std::this_thread::yield();
}

class InputGateTest : public testing::Test {
 protected:
  void make(const std::vector<int32_t>& inputs, size_t capacity = 64) {
    for (const int32_t input : inputs) {
      channels_.push_back(std::make_unique<Channel>(nullptr, &waker_, capacity));
      gate_channels_.push_back({channels_.back().get(), input});
    }
    gate_ = std::make_unique<InputGate>(gate_channels_);
  }
  void push(size_t channel, Element element) { ASSERT_TRUE(channels_[channel]->try_push(element)); }
  GateEvent poll() {
    auto event = gate_->poll();
    EXPECT_TRUE(event.is_ok()) << event.status().message();
    return std::move(event).value();
  }
  template <typename T>
  T poll_for() {
    const GateEvent event = poll();
    EXPECT_TRUE(std::holds_alternative<T>(event)) << "index " << event.index();
    return std::holds_alternative<T>(event) ? std::get<T>(event) : T{};
  }

  Waker waker_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<GateChannel> gate_channels_;
  std::unique_ptr<InputGate> gate_;
};

TEST_F(InputGateTest, NothingWhenAllChannelsAreEmpty) {
  make({0, 0});
  poll_for<Nothing>();
}

TEST_F(InputGateTest, ChannelsTakeTurns) {
  make({0, 0, 0});
  for (int i = 0; i < 3; ++i) push(0, rows(1));
  push(1, rows(1));
  push(2, rows(1));
  std::vector<int32_t> order;
  for (int i = 0; i < 5; ++i) order.push_back(poll_for<BatchReceived>().channel);
  EXPECT_EQ(order, (std::vector<int32_t>{0, 1, 2, 0, 0}));
}

TEST_F(InputGateTest, BlockedChannelIsNotRead) {
  make({0, 0});
  push(0, barrier(1));
  push(0, rows(99));
  push(1, rows(1));
  EXPECT_EQ(poll_for<BatchReceived>().batch.num_rows, 1);
  poll_for<Nothing>();
  push(1, barrier(1));
  EXPECT_EQ(poll_for<CheckpointReady>().barrier.id, CheckpointId{1});
  EXPECT_EQ(poll_for<BatchReceived>().batch.num_rows, 99);
}

TEST_F(InputGateTest, AbortLetsTheBlockedChannelGoOn) {
  make({0, 0});
  push(0, barrier(1));
  push(0, rows(5));
  poll_for<Nothing>();
  gate_->abort_checkpoint(CheckpointId{1});
  EXPECT_EQ(poll_for<BatchReceived>().batch.num_rows, 5);
  push(1, barrier(1));
  poll_for<Nothing>();
}

TEST_F(InputGateTest, WatermarksThatChangeNothingAreSkipped) {
  make({0, 0});
  push(0, Watermark{10});
  push(0, Watermark{11});
  push(1, Watermark{3});
  EXPECT_EQ(poll_for<Watermark>().timestamp, 3);
  poll_for<Nothing>();
}

TEST_F(InputGateTest, EndOfAllInputComesOnceAndLast) {
  make({0, 1});
  push(0, WatermarkStatus{true});
  push(0, EndOfInput{});
  push(1, Watermark{4});
  push(1, Watermark{kMaxTimestamp});
  push(1, EndOfInput{});
  EXPECT_EQ(poll_for<Watermark>().timestamp, 4);
  EXPECT_EQ(poll_for<Watermark>().timestamp, kMaxTimestamp);
  poll_for<EndOfAllInput>();
  poll_for<Nothing>();
  EXPECT_TRUE(gate_->handler().all_ended());
}

// Producers in threads of their own send batches, with a barrier after every fourth: at each
// checkpoint exactly the batches before it have been read from every channel.
TEST_F(InputGateTest, ThreadsSendBarriersAndTheCutIsConsistent) {
  constexpr int32_t kChannels = 3;
  constexpr int64_t kCheckpoints = 200;
  constexpr int64_t kBatches = 4;
  make(std::vector<int32_t>(kChannels, 0), 4);
  std::vector<std::thread> producers;
  for (size_t c = 0; c < kChannels; ++c) {
    producers.emplace_back([this, c] {
      for (int64_t id = 1; id <= kCheckpoints; ++id) {
        for (int64_t i = 0; i < kBatches; ++i) send(*channels_[c], rows(id));
        send(*channels_[c], barrier(id));
      }
      send(*channels_[c], EndOfInput{});
    });
  }
  std::map<int32_t, int64_t> read;
  int64_t completed = 0;
  while (true) {
    const Waker::Ticket ticket = waker_.prepare();
    const GateEvent event = poll();
    if (std::holds_alternative<Nothing>(event)) waker_.wait(ticket);
    if (const auto* batch = std::get_if<BatchReceived>(&event)) ++read[batch->channel];
    if (std::holds_alternative<CheckpointReady>(event)) {
      ++completed;
      for (int32_t c = 0; c < kChannels; ++c) EXPECT_EQ(read[c], completed * kBatches);
    }
    if (std::holds_alternative<EndOfAllInput>(event)) break;
  }
  EXPECT_EQ(completed, kCheckpoints);
  for (std::thread& producer : producers) producer.join();
}

}  // namespace
}  // namespace penstock
