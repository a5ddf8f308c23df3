// Which slice a record belongs to, and which window a slice makes.
//
// A slice is the stretch of event time that no window of the operator cuts: a record belongs to
// exactly one, named by its (exclusive) end. A tumbling window is one slice; hopping and cumulating
// windows are merges of several, so they will add "which windows does this slice end" here and
// change nothing in how records enter slices.
//
// Starts are Flink's TimeWindow.getWindowStartWithOffset: floor, also for negative times, and
// Java's wrap-around at the ends of the range.
#pragma once

#include <cstdint>
#include <string>

#include "common/ids.h"
#include "common/status.h"

namespace penstock::window {

inline Timestamp wrapping_add(Timestamp a, int64_t b) {
  return static_cast<Timestamp>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

inline Timestamp wrapping_sub(Timestamp a, int64_t b) {
  return static_cast<Timestamp>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// Start of the window of length `size` that holds `timestamp`; windows begin at multiples of `size`
// plus `offset`.
inline Timestamp window_start_with_offset(Timestamp timestamp, int64_t offset, int64_t size) {
  const int64_t remainder = wrapping_sub(timestamp, offset) % size;
  return wrapping_sub(timestamp, remainder < 0 ? remainder + size : remainder);
}

// The largest timestamp of a window or slice; it is complete when the watermark reaches this.
inline Timestamp max_timestamp(Timestamp end) { return wrapping_sub(end, 1); }

inline Status check_tumbling(int64_t size, int64_t offset) {
  if (size <= 0) {
    return Status::invalid("a tumbling window needs a size of at least 1 ms, not " +
                           std::to_string(size));
  }
  if (offset <= -size || offset >= size) {
    return Status::invalid(
        "the offset of a tumbling window must lie between -size and size (exclusive): offset " +
        std::to_string(offset) + ", size " + std::to_string(size));
  }
  return Status::ok();
}

class SliceAssigner {
 public:
  // REQUIRES: check_tumbling(size, offset).
  static SliceAssigner tumbling(int64_t size, int64_t offset) { return {size, offset}; }

  [[nodiscard]] int64_t slice_size() const { return size_; }
  [[nodiscard]] Timestamp slice_start(Timestamp timestamp) const {
    return window_start_with_offset(timestamp, offset_, size_);
  }
  [[nodiscard]] Timestamp slice_end(Timestamp timestamp) const {
    return wrapping_add(slice_start(timestamp), size_);
  }
  // Of the window that ends with the slice that ends at `end`.
  [[nodiscard]] Timestamp window_start(Timestamp end) const { return wrapping_sub(end, size_); }
  // Reaches snapshots: never to change.
  [[nodiscard]] std::string describe() const {
    return "tumbling(size=" + std::to_string(size_) + ", offset=" + std::to_string(offset_) + ")";
  }

 private:
  SliceAssigner(int64_t size, int64_t offset) : size_(size), offset_(offset) {}
  int64_t size_;
  int64_t offset_;
};

}  // namespace penstock::window
