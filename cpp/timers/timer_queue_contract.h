// What any TimerQueue must do, checked at random against a std::set: for the tests of this room and
// for those of state backends.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "timers/timer_queue.h"

namespace penstock {

class TimerQueueAgainstSet {
 public:
  using Timer = std::tuple<Timestamp, std::string, std::string>;

  // `hash_of` is murmur of the key.
  TimerQueueAgainstSet(TimerQueue* queue, uint32_t (*hash_of)(const std::string&), uint64_t seed)
      : queue_(queue), hash_of_(hash_of), random_(seed), spread_(1 + random_() % 300) {}

  // Adds, deletes and advances at random; what fires adds and deletes as well.
  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const uint64_t dice = random_() % 100;
      if (dice < 60) {
        add(some_timer());
      } else if (dice < 85) {
        remove(some_timer());
      } else {
        now_ += static_cast<Timestamp>(random_() % 40);
        advance();
      }
      check_next();
    }
    check_contents();
  }

  // Another queue that should hold the same from here on, such as one restored from a snapshot.
  void go_on_with(TimerQueue* queue) { queue_ = queue; }
  [[nodiscard]] const std::set<Timer>& expected() const { return model_; }
  void check_contents() {
    std::vector<Timer> seen;
    ASSERT_TRUE(queue_
                    ->for_each([&](const TimerView& timer) {
                      EXPECT_EQ(timer.hash, hash_of_(std::string(timer.key)));
                      seen.emplace_back(timer.timestamp, timer.key, timer.name_space);
                      return Status::ok();
                    })
                    .is_ok());
    EXPECT_EQ(seen.size(), model_.size());
    EXPECT_EQ(std::set<Timer>(seen.begin(), seen.end()), model_);
  }

 private:
  Timer some_timer() {
    // Mostly a little ahead, as in a stream, sometimes in the past or far off.
    Timestamp timestamp = now_ + static_cast<Timestamp>(random_() % spread_);
    if (random_() % 20 == 0) timestamp -= 200;
    if (random_() % 50 == 0) timestamp += 1'000'000;
    if (random_() % 500 == 0) timestamp = random_() % 2 == 0 ? kMinTimestamp : kMaxTimestamp;
    // Keys that are prefixes of each other, and bytes behind which nothing must hide.
    static const std::vector<std::string> kKeys = {"",
                                                   "a",
                                                   "ab",
                                                   std::string("a\0", 2),
                                                   "\xff",
                                                   "sixteen bytes ok",
                                                   "longer than sixteen bytes",
                                                   std::string(200, 'x'),
                                                   "longer than sixteen bytez"};
    static const std::vector<std::string> kNamespaces = {
        "", "", "", std::string("\0", 1), "b", std::string(16, 'w'), std::string(17, 'w')};
    return {timestamp, kKeys[random_() % kKeys.size()],
            kNamespaces[random_() % kNamespaces.size()]};
  }

  [[nodiscard]] TimerView view(const Timer& timer) const {
    const auto& [timestamp, key, name_space] = timer;
    return {timestamp, key, hash_of_(key), name_space};
  }

  void add(const Timer& timer) {
    ASSERT_TRUE(queue_->add(view(timer)).is_ok());
    model_.insert(timer);
  }

  void remove(const Timer& timer) {
    // Half of the time one that is there.
    const auto known = random_() % 2 == 0 ? model_.lower_bound(timer) : model_.end();
    const Timer gone = known == model_.end() ? timer : *known;
    ASSERT_TRUE(queue_->remove(view(gone)).is_ok());
    model_.erase(gone);
  }

  void advance() {
    TimerView fired;
    while (true) {
      const auto due = queue_->pop_due(now_, &fired);
      ASSERT_TRUE(due.is_ok()) << due.status().message();
      const bool expected = !model_.empty() && std::get<0>(*model_.begin()) <= now_;
      ASSERT_EQ(due.value(), expected);
      if (!expected) return;
      ASSERT_EQ((Timer{fired.timestamp, fired.key, fired.name_space}), *model_.begin());
      model_.erase(model_.begin());
      const uint64_t dice = random_() % 8;
      // Its own key again, from the bytes that pop_due gave out; due at once or later.
      const auto next = fired.timestamp == kMinTimestamp || fired.timestamp == kMaxTimestamp
                            ? now_ + 1
                            : fired.timestamp + 1 + static_cast<Timestamp>(random_() % 50);
      if (dice < 3) {
        ASSERT_TRUE(queue_->add({next, fired.key, fired.hash, fired.name_space}).is_ok());
        model_.emplace(next, fired.key, fired.name_space);
      } else if (dice == 3) {
        remove(some_timer());
      }
      check_next();
    }
  }

  void check_next() {
    ASSERT_EQ(queue_->is_empty(), model_.empty());
    ASSERT_EQ(queue_->next(), model_.empty() ? kMaxTimestamp : std::get<0>(*model_.begin()));
  }

  TimerQueue* queue_;
  uint32_t (*const hash_of_)(const std::string&);
  std::mt19937_64 random_;
  const uint64_t spread_;
  Timestamp now_ = 0;
  std::set<Timer> model_;
};

}  // namespace penstock
