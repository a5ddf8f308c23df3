#include "input/element_handler.h"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock {

namespace {

template <typename Output>
Status visit_output(const Output& output, const VisitGateEvent& visit) {
  if (output.watermark) PENSTOCK_RETURN_NOT_OK(visit(*output.watermark));
  if (output.status) PENSTOCK_RETURN_NOT_OK(visit(*output.status));
  return Status::ok();
}

std::vector<size_t> channels_per_input(const std::vector<int32_t>& input_of_channel) {
  std::vector<size_t> counts;
  for (const int32_t input : input_of_channel) {
    const auto i = static_cast<size_t>(input);
    if (i >= counts.size()) counts.resize(i + 1, 0);
    ++counts[i];
  }
  return counts;
}

}  // namespace

ElementHandler::ElementHandler(const std::vector<int32_t>& input_of_channel)
    : combined_(channels_per_input(input_of_channel).size()), aligner_(input_of_channel.size()) {
  std::vector<size_t> next(channels_per_input(input_of_channel).size(), 0);
  for (const int32_t input : input_of_channel) {
    const auto i = static_cast<size_t>(input);
    channels_.push_back({i, next[i]++});
  }
  for (const size_t count : next) valves_.emplace_back(count);
}

Status ElementHandler::feed(int32_t channel, Element element, const VisitGateEvent& visit) {
  PENSTOCK_RETURN_NOT_OK(check_readable(channel));
  const auto c = static_cast<size_t>(channel);
  const ChannelPlace& place = channels_[c];
  if (auto* batch = std::get_if<Batch>(&element)) {
    return visit(BatchReceived{std::move(*batch), channel, static_cast<int32_t>(place.input)});
  }
  if (const auto* watermark = std::get_if<Watermark>(&element)) {
    return handle_watermark(place, *watermark, visit);
  }
  if (const auto* status = std::get_if<WatermarkStatus>(&element)) {
    return handle_status(place, *status, visit);
  }
  if (const auto* barrier = std::get_if<Barrier>(&element)) {
    return handle_barrier(c, *barrier, visit);
  }
  return handle_end(c, visit);
}

Timestamp ElementHandler::watermark() const {
  if (valves_.empty()) return kMinTimestamp;
  return valves_.size() == 1 ? valves_.front().last_watermark() : combined_.watermark();
}

Status ElementHandler::check_readable(int32_t channel) const {
  if (channel < 0 || static_cast<size_t>(channel) >= channels_.size()) {
    return Status::internal("element for channel " + std::to_string(channel) + " of " +
                            std::to_string(channels_.size()));
  }
  if (may_read(channel)) return Status::ok();
  const bool finished = aligner_.is_finished(static_cast<size_t>(channel));
  return Status::internal("element for channel " + std::to_string(channel) + " that " +
                          (finished ? "has ended" : "is blocked until the checkpoint is complete"));
}

Status ElementHandler::handle_watermark(const ChannelPlace& place, Watermark watermark,
                                        const VisitGateEvent& visit) {
  return forward(place.input,
                 valves_[place.input].input_watermark(watermark, place.channel_of_input), visit);
}

Status ElementHandler::handle_status(const ChannelPlace& place, WatermarkStatus status,
                                     const VisitGateEvent& visit) {
  return forward(place.input, valves_[place.input].input_status(status, place.channel_of_input),
                 visit);
}

Status ElementHandler::handle_barrier(size_t channel, const Barrier& barrier,
                                      const VisitGateEvent& visit) {
  const AlignmentOutcome outcome = aligner_.barrier_received(channel, barrier);
  if (outcome.subsumed) PENSTOCK_RETURN_NOT_OK(visit(CheckpointSubsumed{*outcome.subsumed}));
  if (outcome.complete) PENSTOCK_RETURN_NOT_OK(visit(CheckpointReady{*outcome.complete}));
  return Status::ok();
}

Status ElementHandler::handle_end(size_t channel, const VisitGateEvent& visit) {
  const ChannelPlace& place = channels_[channel];
  // The end of a channel is as good as the last watermark. An idle channel would not be heard, so
  // it becomes active first.
  if (valves_[place.input].channel_watermark(place.channel_of_input) != kMaxTimestamp) {
    PENSTOCK_RETURN_NOT_OK(handle_status(place, WatermarkStatus{false}, visit));
    PENSTOCK_RETURN_NOT_OK(handle_watermark(place, Watermark{kMaxTimestamp}, visit));
  }
  const AlignmentOutcome outcome = aligner_.end_of_input(channel);
  if (outcome.complete) PENSTOCK_RETURN_NOT_OK(visit(CheckpointReady{*outcome.complete}));
  return all_ended() ? visit(EndOfAllInput{}) : Status::ok();
}

Status ElementHandler::forward(size_t input, const WatermarkValve::Output& output,
                               const VisitGateEvent& visit) {
  if (valves_.size() == 1) return visit_output(output, visit);
  if (output.watermark) {
    PENSTOCK_RETURN_NOT_OK(
        visit_output(combined_.input_watermark(*output.watermark, input), visit));
  }
  if (output.status) {
    PENSTOCK_RETURN_NOT_OK(visit_output(combined_.input_status(*output.status, input), visit));
  }
  return Status::ok();
}

}  // namespace penstock
