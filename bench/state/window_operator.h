// The sliced window operator over rows of (key, value) in one window: count and sum per key.
#pragma once

#include <memory>

#include "bench/state/bench.h"
#include "common/clock.h"
#include "operators/window/sliced_window_operator.h"

namespace penstock::bench {

class WindowSubtask {
 public:
  // On `backend` (hashmap or rocksdb, there with a write-back tier of 64 MiB).
  explicit WindowSubtask(const std::string& backend = "hashmap");
  // All rows that there are, in batches of kBatchRows, without a copy.
  void add(std::vector<int64_t> keys, std::vector<int64_t> values);
  // Ends the window: no more add() after it.
  uint64_t digest();
  ~WindowSubtask() { require(operator_->close()); }
  WindowSubtask(const WindowSubtask&) = delete;
  WindowSubtask& operator=(const WindowSubtask&) = delete;

 private:
  window::WindowPlanPtr plan_;
  std::shared_ptr<window::SlicedWindowOperator> operator_;
  OperatorMetrics metrics_;
  SystemClock clock_;
  Column timestamps_;  // of a batch: all in one window
};

}  // namespace penstock::bench
