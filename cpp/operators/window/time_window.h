// TimeWindow: [start, end) in event time.
#pragma once

#include <compare>
#include <cstdint>

#include "common/ids.h"
#include "operators/window/slice_assigner.h"

namespace penstock::window {

struct TimeWindow {
  Timestamp start = 0;
  Timestamp end = 0;
  [[nodiscard]] Timestamp max_timestamp() const { return window::max_timestamp(end); }
  friend auto operator<=>(const TimeWindow&, const TimeWindow&) = default;
};

}  // namespace penstock::window
