// Which windows a record belongs to. One implementation per kind of window.
#pragma once

#include <vector>

#include "operators/window/time_window.h"

namespace penstock::window {

class WindowAssigner {
 public:
  virtual ~WindowAssigner() = default;
  // Appends the windows of a record with this timestamp.
  virtual void assign(Timestamp timestamp, std::vector<TimeWindow>* windows) const = 0;
};

class TumblingEventTimeWindows final : public WindowAssigner {
 public:
  // REQUIRES: check_tumbling(size, offset).
  TumblingEventTimeWindows(int64_t size, int64_t offset) : size_(size), offset_(offset) {}
  void assign(Timestamp timestamp, std::vector<TimeWindow>* windows) const override {
    const Timestamp start = window_start_with_offset(timestamp, offset_, size_);
    windows->push_back({start, wrapping_add(start, size_)});
  }

 private:
  int64_t size_;
  int64_t offset_;
};

}  // namespace penstock::window
