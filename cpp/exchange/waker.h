// Waker: how a task sleeps until one of the many things it waits for may have happened.
//
// One per task. Whatever can unblock the task (an element arrived, an output has space again, a
// mailbox letter, cancellation) changes its own condition first and then calls wake(). The task:
//
//   const Waker::Ticket ticket = waker.prepare();
//   if (!anything_to_do()) waker.wait(ticket, timeout);
//
// A wake() between prepare() and wait() is never lost: it moves the counter, so the ticket is no
// longer current and wait() returns at once. A condition changed before prepare() is seen by the
// check that follows it, since prepare() reads the counter that wake() wrote.
//
// Cost: wake() is one atomic add and one load while nobody sleeps; the mutex is only touched when
// the task is asleep or about to be.
//
// Thread safety: wake() from any thread; prepare() and wait() from the one thread that owns it.
// Must outlive everything that may wake it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace penstock {

class Waker {
 public:
  using Ticket = uint64_t;
  static constexpr int64_t kNoTimeout = INT64_MAX;

  Waker() = default;
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void wake() {
    // Both sequentially consistent, as are the two in wait(): either this load sees the sleeper, or
    // the sleeper's check sees this add. With weaker orders both could miss each other.
    signals_.fetch_add(1, std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_seq_cst)) {
      // The sleeper holds the lock from before it looks at the counter until it sleeps, so whoever
      // gets the lock here finds it asleep (or gone again).
      const std::lock_guard<std::mutex> lock(mutex_);
      wakened_.notify_one();
    }
  }

  [[nodiscard]] Ticket prepare() const { return signals_.load(std::memory_order_seq_cst); }

  // Sleeps until wake() has been called after the prepare() that gave `ticket`, or until
  // `timeout_millis` of real time have passed (<= 0: only looks). True: woken; false: timed out.
  //
  // A span and not a point in time, because deadlines belong to the injected Clock: the caller
  // subtracts, and whoever moves a ManualClock calls wake().
  bool wait(Ticket ticket, int64_t timeout_millis = kNoTimeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    sleeping_.store(true, std::memory_order_seq_cst);
    const auto woken = [&] { return signals_.load(std::memory_order_seq_cst) != ticket; };
    bool result = true;
    if (timeout_millis == kNoTimeout) {
      wakened_.wait(lock, woken);
    } else {
      // A year is long enough and keeps the addition to "now" from overflowing.
      constexpr int64_t kLongest = int64_t{365} * 24 * 3600 * 1000;
      const std::chrono::milliseconds span(std::clamp<int64_t>(timeout_millis, 0, kLongest));
      result = wakened_.wait_for(lock, span, woken);
    }
    sleeping_.store(false, std::memory_order_relaxed);
    return result;
  }

 private:
  alignas(64) std::atomic<Ticket> signals_{0};
  std::atomic<bool> sleeping_{false};
  std::mutex mutex_;
  std::condition_variable wakened_;
};

}  // namespace penstock
