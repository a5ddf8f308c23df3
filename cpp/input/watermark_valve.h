// The watermark of one logical input that has several channels: Flink's StatusWatermarkValve.
//
// A channel is *aligned* while it takes part in the minimum. An idle channel does not. One that
// becomes active again but is behind the valve's watermark stays out until it has caught up: the
// watermark never goes back and a late-comer never holds it.
//
//   channel 0: w10           idle          active  w11                     w20
//   channel 1: w5     w12                               w14                      w30
//   valve:     5      10     12 (1 alone)               14 (0 is behind)         20
//
// Thread safety: none.
//
// Invariants: 1. last_watermark_ never decreases; 2. an idle channel is not aligned; 3. an aligned
// channel's watermark is >= last_watermark_.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "record/element.h"

namespace penstock {

class WatermarkValve {
 public:
  // What to forward; the watermark, when both are set, goes first.
  struct Output {
    std::optional<Watermark> watermark;
    std::optional<WatermarkStatus> status;
  };

  // All channels begin active with no watermark seen.
  explicit WatermarkValve(size_t num_channels) : channels_(num_channels) {}

  // A watermark that is not above the channel's last, or on an idle channel, is ignored.
  Output input_watermark(Watermark watermark, size_t channel);
  Output input_status(WatermarkStatus status, size_t channel);

  [[nodiscard]] Timestamp last_watermark() const { return last_watermark_; }
  [[nodiscard]] bool is_idle() const { return idle_; }
  [[nodiscard]] bool is_channel_idle(size_t channel) const { return channels_[channel].idle; }
  [[nodiscard]] Timestamp channel_watermark(size_t channel) const {
    return channels_[channel].watermark;
  }

 private:
  struct ChannelState {
    Timestamp watermark = kMinTimestamp;
    bool idle = false;
    bool aligned = true;
  };

  Output channel_became_idle(ChannelState& channel);
  Output channel_became_active(ChannelState& channel);
  // The new minimum over the aligned channels, when there is one above the last.
  std::optional<Watermark> advance_to_minimum();
  std::optional<Watermark> advance_to_maximum();

  std::vector<ChannelState> channels_;
  Timestamp last_watermark_ = kMinTimestamp;
  bool idle_ = false;  // as last forwarded
};

}  // namespace penstock
