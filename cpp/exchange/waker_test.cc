#include "exchange/waker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace penstock {
namespace {

TEST(Waker, WakeBetweenPrepareAndWaitIsNotLost) {
  Waker waker;
  const Waker::Ticket ticket = waker.prepare();
  waker.wake();
  EXPECT_TRUE(waker.wait(ticket));
}

TEST(Waker, WaitTimesOutWhenNobodyWakes) {
  Waker waker;
  EXPECT_FALSE(waker.wait(waker.prepare(), 1));
  EXPECT_FALSE(waker.wait(waker.prepare(), 0));
  EXPECT_FALSE(waker.wait(waker.prepare(), -5));
}

TEST(Waker, VeryLongTimeoutDoesNotOverflow) {
  Waker waker;
  std::thread other([&] { waker.wake(); });
  EXPECT_TRUE(waker.wait(0, INT64_MAX - 1));
  other.join();
}

TEST(Waker, OldWakeDoesNotCountForANewTicket) {
  Waker waker;
  waker.wake();
  EXPECT_FALSE(waker.wait(waker.prepare(), 0));
}

// Several threads raise a number and wake; the sleeper must see the last raise without a timeout.
TEST(Waker, NoWakeIsLostAmongManyThreads) {
  constexpr int kThreads = 3;
  constexpr int kRaises = 5000;
  Waker waker;
  std::atomic<int> number{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRaises; ++i) {
        number.fetch_add(1, std::memory_order_release);
        waker.wake();
      }
    });
  }
  int seen = 0;
  while (true) {
    const Waker::Ticket ticket = waker.prepare();
    const int now = number.load(std::memory_order_acquire);
    if (now == kThreads * kRaises) break;
    if (now == seen) waker.wait(ticket);
    seen = now;
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock
