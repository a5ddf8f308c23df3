#include "timers/timer_heap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace penstock {
namespace {

TEST(TimerHeap, RegisteringTwiceFiresOnce) {
  TimerHeap heap;
  EXPECT_TRUE(heap.add({5, "a", "w"}));
  EXPECT_FALSE(heap.add({5, "a", "w"}));
  EXPECT_EQ(heap.size(), 1U);
  EXPECT_EQ(heap.pop(), (Timer{5, "a", "w"}));
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.peek(), nullptr);
}

TEST(TimerHeap, DeletingAnUnknownTimerDoesNothing) {
  TimerHeap heap;
  heap.add({5, "a", ""});
  EXPECT_FALSE(heap.remove({5, "b", ""}));
  EXPECT_FALSE(heap.remove({6, "a", ""}));
  EXPECT_EQ(heap.size(), 1U);
}

TEST(TimerHeap, OrdersByTimestampThenKeyThenNamespace) {
  TimerHeap heap;
  heap.add({2, "a", "x"});
  heap.add({1, "b", "x"});
  heap.add({1, "a", "y"});
  heap.add({1, "a", "x"});
  heap.add({kMinTimestamp, "z", ""});
  EXPECT_EQ(heap.pop().timestamp, kMinTimestamp);
  EXPECT_EQ(heap.pop(), (Timer{1, "a", "x"}));
  EXPECT_EQ(heap.pop(), (Timer{1, "a", "y"}));
  EXPECT_EQ(heap.pop(), (Timer{1, "b", "x"}));
  EXPECT_EQ(heap.pop(), (Timer{2, "a", "x"}));
}

TEST(TimerHeap, BehavesLikeASortedSetUnderRandomOperations) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TimerHeap heap;
    std::set<Timer> model;
    for (int step = 0; step < 2000; ++step) {
      const Timer timer{static_cast<Timestamp>(random() % 20),
                        std::string(1, static_cast<char>('a' + random() % 5)),
                        random() % 2 == 0 ? "" : "n"};
      switch (random() % 4) {
        case 0:
        case 1:
          ASSERT_EQ(heap.add(timer), model.insert(timer).second);
          break;
        case 2:
          ASSERT_EQ(heap.remove(timer), model.erase(timer) == 1);
          break;
        default:
          if (!model.empty()) {
            ASSERT_EQ(heap.pop(), *model.begin());
            model.erase(model.begin());
          }
      }
      ASSERT_EQ(heap.size(), model.size());
      if (!model.empty()) {
        ASSERT_EQ(*heap.peek(), *model.begin());
      }
    }
    std::set<Timer> left;
    heap.for_each([&](const Timer& timer) { left.insert(timer); });
    EXPECT_EQ(left, model);
  }
}

}  // namespace
}  // namespace penstock
