// The watermark of an operator with several logical inputs: Flink's IndexedCombinedWatermarkStatus.
//
// The minimum over the inputs that are not idle; all idle: the maximum over all. Unlike a channel
// in the WatermarkValve, an input that becomes active again and is behind takes part in the minimum
// at once, i.e. it holds the operator where it is. Never goes back.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "record/element.h"

namespace penstock {

class CombinedWatermark {
 public:
  // What to forward; the watermark, when both are set, goes first.
  struct Output {
    std::optional<Watermark> watermark;
    std::optional<WatermarkStatus> status;
  };

  explicit CombinedWatermark(size_t num_inputs) : inputs_(num_inputs) {}

  Output input_watermark(Watermark watermark, size_t input) {
    inputs_[input].watermark = std::max(inputs_[input].watermark, watermark.timestamp);
    inputs_[input].idle = false;
    return update();
  }

  Output input_status(WatermarkStatus status, size_t input) {
    inputs_[input].idle = status.idle;
    return update();
  }

  [[nodiscard]] Timestamp watermark() const { return combined_; }
  [[nodiscard]] bool is_idle() const { return idle_; }

 private:
  struct Input {
    Timestamp watermark = kMinTimestamp;
    bool idle = false;
  };

  Output update() {
    Timestamp minimum = kMaxTimestamp;  // over the active ones
    Timestamp maximum = kMinTimestamp;  // over all
    bool all_idle = true;
    for (const Input& input : inputs_) {
      maximum = std::max(maximum, input.watermark);
      if (input.idle) continue;
      all_idle = false;
      minimum = std::min(minimum, input.watermark);
    }
    Output output;
    const Timestamp reached = all_idle ? maximum : minimum;
    if (reached > combined_) {
      combined_ = reached;
      output.watermark = Watermark{reached};
    }
    if (all_idle != idle_) {
      idle_ = all_idle;
      output.status = WatermarkStatus{all_idle};
    }
    return output;
  }

  std::vector<Input> inputs_;
  Timestamp combined_ = kMinTimestamp;
  bool idle_ = false;  // as last forwarded
};

}  // namespace penstock
