#include "timers/heap_timer_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/property_seeds.h"
#include "record/key_encoding.h"
#include "timers/timer_queue_contract.h"

namespace penstock {

namespace {

uint32_t hash_of(const std::string& key) {
  return key.empty() ? 0 : murmur3_32(key.data(), key.size());
}

std::set<TimerQueueAgainstSet::Timer> contents(const TimerTree& timers) {
  std::set<TimerQueueAgainstSet::Timer> all;
  timers.visit([&](const TimerEntry& timer) {
    all.emplace(timer.timestamp, timer.key(), timer.name_space());
    return true;
  });
  return all;
}

}  // namespace

TEST(HeapTimerQueueTest, AgreesWithASetWhateverIsDone) {
  for (uint64_t seed = 0; seed < property_seeds(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HeapTimerQueue queue;
    TimerQueueAgainstSet against(&queue, hash_of, seed);
    against.run(600);
    if (HasFatalFailure()) return;
  }
}

TEST(HeapTimerQueueTest, ASnapshotHoldsWhatWasThereHoweverTheQueueGoesOn) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HeapTimerQueue queue;
    TimerQueueAgainstSet against(&queue, hash_of, seed);
    std::vector<std::pair<TimerTree, std::set<TimerQueueAgainstSet::Timer>>> snapshots;
    for (int round = 0; round < 8; ++round) {
      against.run(200);
      snapshots.emplace_back(queue.snapshot(), against.expected());
    }
    for (const auto& [timers, expected] : snapshots) EXPECT_EQ(contents(timers), expected);
  }
}

TEST(HeapTimerQueueTest, WhatWasPoppedStaysValidAlsoWhenTheQueueIsEmpty) {
  HeapTimerQueue queue;
  const std::string key(100, 'k');
  ASSERT_TRUE(queue.add({1, key, hash_of(key), "window"}).is_ok());
  TimerView timer;
  ASSERT_TRUE(queue.pop_due(1, &timer).value());
  EXPECT_TRUE(queue.is_empty());
  EXPECT_EQ(timer.key, key);
  EXPECT_EQ(timer.name_space, "window");
  EXPECT_EQ(timer.hash, hash_of(key));
  EXPECT_FALSE(queue.pop_due(kMaxTimestamp, &timer).value());
}

TEST(HeapTimerQueueTest, TheSameTimersRegisteredForEverStayOneEach) {
  HeapTimerQueue queue;
  std::vector<std::string> keys;
  for (int64_t i = 0; i < 100; ++i) {
    keys.emplace_back();
    encode_int64(i, &keys.back());
  }
  for (int i = 0; i < 100'000; ++i) {
    const std::string& key = keys[static_cast<size_t>(i) % keys.size()];
    ASSERT_TRUE(queue.add({1000, key, hash_of(key), {}}).is_ok());
  }
  EXPECT_EQ(contents(queue.snapshot()).size(), 100U);
}

}  // namespace penstock
