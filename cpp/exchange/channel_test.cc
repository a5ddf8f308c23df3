#include "exchange/channel.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace penstock {
namespace {

Element numbered(int64_t n) { return Watermark{n}; }
int64_t number_of(const Element& element) { return std::get<Watermark>(element).timestamp; }

TEST(Channel, ElementsComeOutInOrder) {
  Channel channel(nullptr, nullptr, 3);
  for (int64_t lap = 0; lap < 10; ++lap) {
    for (int64_t i = 0; i < 3; ++i) {
      Element element = numbered(lap * 3 + i);
      ASSERT_TRUE(channel.try_push(element));
    }
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(number_of(*channel.try_pop()), lap * 3 + i);
    EXPECT_FALSE(channel.try_pop().has_value());
  }
}

TEST(Channel, FullChannelRefusesAndLeavesTheElementUntouched) {
  Channel channel(nullptr, nullptr, 1);
  Element first = numbered(1);
  ASSERT_TRUE(channel.try_push(first));
  EXPECT_FALSE(channel.has_space());
  Batch batch;
  batch.num_rows = 7;
  Element second = batch;
  EXPECT_FALSE(channel.try_push(second));
  EXPECT_EQ(std::get<Batch>(second).num_rows, 7);
  EXPECT_EQ(channel.size(), 1u);
  (void)channel.try_pop();
  EXPECT_TRUE(channel.try_push(second));
}

TEST(Channel, CapacityIsExactAlsoWhenNotAPowerOfTwo) {
  for (size_t capacity : {1u, 2u, 3u, 5u, 8u}) {
    Channel channel(nullptr, nullptr, capacity);
    size_t taken = 0;
    for (Element e = numbered(0); channel.try_push(e); e = numbered(0)) ++taken;
    EXPECT_EQ(taken, capacity);
  }
}

TEST(Channel, PushWakesTheConsumerAndPopFromAFullChannelTheProducer) {
  Waker producer;
  Waker consumer;
  Channel channel(&producer, &consumer, 2);
  auto ticket = consumer.prepare();
  Element e = numbered(1);
  ASSERT_TRUE(channel.try_push(e));
  EXPECT_TRUE(consumer.wait(ticket, 0));
  ASSERT_TRUE(channel.try_push(e));
  ticket = producer.prepare();
  (void)channel.try_pop();
  EXPECT_TRUE(producer.wait(ticket, 0));
  ticket = producer.prepare();
  (void)channel.try_pop();  // was not full: nobody can be waiting for space
  EXPECT_FALSE(producer.wait(ticket, 0));
}

TEST(Channel, PoppedSlotLetsGoOfTheBatch) {
  auto owner = std::make_shared<int>(1);
  Channel channel(nullptr, nullptr, 2);
  Batch batch;
  batch.timestamps.values.owner = owner;
  Element element = std::move(batch);
  ASSERT_TRUE(channel.try_push(element));
  element = Watermark{};
  channel.try_pop().reset();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Channel, ClosedChannelTakesAndGivesNothingAndWakesBoth) {
  Waker producer;
  Waker consumer;
  Channel channel(&producer, &consumer);
  Element e = numbered(1);
  ASSERT_TRUE(channel.try_push(e));
  const auto p = producer.prepare();
  const auto c = consumer.prepare();
  channel.close();
  EXPECT_TRUE(channel.is_closed());
  EXPECT_TRUE(producer.wait(p, 0));
  EXPECT_TRUE(consumer.wait(c, 0));
  EXPECT_FALSE(channel.try_push(e));
  EXPECT_FALSE(channel.try_pop().has_value());
}

// Both sides sleep without a timeout whenever they cannot go on: a lost wake-up would hang.
void run_pair(size_t capacity, int64_t count) {
  Waker producer_waker;
  Waker consumer_waker;
  Channel channel(&producer_waker, &consumer_waker, capacity);
  std::thread producer([&] {
    for (int64_t i = 0; i < count; ++i) {
      Element element = numbered(i);
      while (true) {
        const auto ticket = producer_waker.prepare();
        if (channel.try_push(element)) break;
        producer_waker.wait(ticket);
      }
    }
  });
  for (int64_t expected = 0; expected < count;) {
    const auto ticket = consumer_waker.prepare();
    if (auto element = channel.try_pop()) {
      ASSERT_EQ(number_of(*element), expected++);
    } else {
      consumer_waker.wait(ticket);
    }
  }
  producer.join();
}

TEST(Channel, TwoThreadsNeverLoseAnElementOrAWake) {
  for (size_t capacity : {1u, 2u, 8u}) run_pair(capacity, 50000);
}

TEST(Channel, CloseFreesAProducerThatWaitsForSpace) {
  Waker producer_waker;
  Channel channel(&producer_waker, nullptr, 1);
  Element first = numbered(0);
  ASSERT_TRUE(channel.try_push(first));
  std::thread producer([&] {
    Element element = numbered(1);
    while (true) {
      const auto ticket = producer_waker.prepare();
      if (channel.try_push(element) || channel.is_closed()) break;
      producer_waker.wait(ticket);
    }
  });
  channel.close();
  producer.join();
}

}  // namespace
}  // namespace penstock
