#include "input/watermark_valve.h"

#include <algorithm>

namespace penstock {

WatermarkValve::Output WatermarkValve::input_watermark(Watermark watermark, size_t channel) {
  ChannelState& state = channels_[channel];
  if (state.idle || watermark.timestamp <= state.watermark) return {};
  state.watermark = watermark.timestamp;
  state.aligned = state.aligned || watermark.timestamp >= last_watermark_;
  return {advance_to_minimum(), std::nullopt};
}

WatermarkValve::Output WatermarkValve::input_status(WatermarkStatus status, size_t channel) {
  ChannelState& state = channels_[channel];
  if (status.idle == state.idle) return {};
  return status.idle ? channel_became_idle(state) : channel_became_active(state);
}

WatermarkValve::Output WatermarkValve::channel_became_idle(ChannelState& channel) {
  channel.idle = true;
  channel.aligned = false;
  // Only a channel that held the valve back can let it go on by leaving.
  const bool held_back = channel.watermark == last_watermark_;
  const bool all_idle =
      std::all_of(channels_.begin(), channels_.end(), [](const auto& c) { return c.idle; });
  if (!all_idle) {
    return {held_back ? advance_to_minimum() : std::nullopt, std::nullopt};
  }
  // Nobody is left who could advance: what any channel has reached counts. The watermark must be
  // out before the status, since downstream ignores watermarks of an idle channel.
  Output output;
  if (held_back) output.watermark = advance_to_maximum();
  idle_ = true;
  output.status = WatermarkStatus{true};
  return output;
}

WatermarkValve::Output WatermarkValve::channel_became_active(ChannelState& channel) {
  channel.idle = false;
  channel.aligned = channel.watermark >= last_watermark_;
  if (!idle_) return {};
  idle_ = false;
  return {std::nullopt, WatermarkStatus{false}};
}

std::optional<Watermark> WatermarkValve::advance_to_minimum() {
  bool any = false;
  Timestamp minimum = kMaxTimestamp;
  for (const ChannelState& channel : channels_) {
    if (!channel.aligned) continue;
    any = true;
    minimum = std::min(minimum, channel.watermark);
  }
  if (!any || minimum <= last_watermark_) return std::nullopt;
  last_watermark_ = minimum;
  return Watermark{minimum};
}

std::optional<Watermark> WatermarkValve::advance_to_maximum() {
  Timestamp maximum = kMinTimestamp;
  for (const ChannelState& channel : channels_) maximum = std::max(maximum, channel.watermark);
  if (maximum <= last_watermark_) return std::nullopt;
  last_watermark_ = maximum;
  return Watermark{maximum};
}

}  // namespace penstock
