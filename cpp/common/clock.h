// The processing-time clock, injectable so that tests do not sleep.
//
// Thread safety: now_millis() may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual int64_t now_millis() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] int64_t now_millis() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t start = 0) : now_(start) {}
  [[nodiscard]] int64_t now_millis() const override { return now_.load(std::memory_order_acquire); }
  void set_millis(int64_t now) { now_.store(now, std::memory_order_release); }

 private:
  std::atomic<int64_t> now_;
};

}  // namespace penstock
