// TimerQueue: the timers of one time domain of one operator in one subtask.
//
// A timer is (timestamp, key, namespace), and the queue is a set: registering one twice keeps it
// once, deleting an unknown one does nothing. Timers leave in the order (timestamp, key bytes,
// namespace bytes), the same whatever the order of registration and whichever the implementation.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/ids.h"
#include "common/status.h"

namespace penstock {

// Borrows its bytes.
struct TimerView {
  Timestamp timestamp = 0;
  std::string_view key;         // canonical key bytes
  uint32_t hash = 0;            // murmur of `key`
  std::string_view name_space;  // what it belongs to: a window's bytes, or empty
};

class TimerQueue {
 public:
  virtual ~TimerQueue() = default;
  virtual Status add(const TimerView& timer) = 0;
  virtual Status remove(const TimerView& timer) = 0;
  // The earliest timestamp; kMaxTimestamp + "empty" are told apart by is_empty().
  [[nodiscard]] virtual Timestamp next() const = 0;
  [[nodiscard]] virtual bool is_empty() const = 0;
  // Takes out the first timer if it is due (timestamp <= `until`): true, and `out` stays valid until
  // the next pop_due(). Timers added meanwhile that are due as well take part.
  virtual Result<bool> pop_due(Timestamp until, TimerView* out) = 0;
  // Every timer, in no particular order.
  virtual Status for_each(const std::function<Status(const TimerView&)>& visit) = 0;
};

}  // namespace penstock
