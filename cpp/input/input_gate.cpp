#include "input/input_gate.h"

#include <optional>
#include <utility>

namespace penstock {

namespace {

std::vector<int32_t> inputs_of(const std::vector<GateChannel>& channels) {
  std::vector<int32_t> inputs;
  for (const GateChannel& channel : channels) inputs.push_back(channel.input);
  return inputs;
}

}  // namespace

InputGate::InputGate(const std::vector<GateChannel>& channels) : handler_(inputs_of(channels)) {
  for (const GateChannel& channel : channels) channels_.push_back(channel.channel);
}

Result<GateEvent> InputGate::poll() {
  const VisitGateEvent collect = [this](GateEvent event) {
    waiting_.push_back(std::move(event));
    return Status::ok();
  };
  // An element may mean nothing to the task (a watermark that does not move the minimum): then the
  // next one is read, at most until every channel has been found without one.
  size_t asked_in_vain = 0;
  while (waiting_.empty() && asked_in_vain < channels_.size()) {
    const size_t channel = next_;
    next_ = next_ + 1 == channels_.size() ? 0 : next_ + 1;
    std::optional<Element> element;
    if (handler_.may_read(static_cast<int32_t>(channel))) element = channels_[channel]->try_pop();
    if (!element) {
      ++asked_in_vain;
      continue;
    }
    asked_in_vain = 0;
    PENSTOCK_RETURN_NOT_OK(
        handler_.feed(static_cast<int32_t>(channel), std::move(*element), collect));
  }
  if (waiting_.empty()) return GateEvent{Nothing{}};
  GateEvent event = std::move(waiting_.front());
  waiting_.pop_front();
  return event;
}

}  // namespace penstock
