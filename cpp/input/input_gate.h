// InputGate: a task's inputs as one sequence of events. Reads the local channels in turn, skipping
// the ones that alignment blocks, and lets the ElementHandler say what each element means.
//
// Thread safety: none; belongs to the task's thread (the channels' consumer side).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/status.h"
#include "exchange/channel.h"
#include "input/element_handler.h"

namespace penstock {

struct GateChannel {
  Channel* channel = nullptr;  // outlives the gate
  int32_t input = 0;           // the logical input it belongs to
};

class InputGate {
 public:
  // REQUIRES: at least one channel; a source task has no gate.
  explicit InputGate(const std::vector<GateChannel>& channels);

  // The next thing to do; Nothing when no channel has an element that may be read. Fair: after an
  // element of a channel all others are asked before it is asked again. After EndOfAllInput:
  // Nothing.
  Result<GateEvent> poll();

  void abort_checkpoint(CheckpointId id) { handler_.abort_checkpoint(id); }
  [[nodiscard]] const ElementHandler& handler() const { return handler_; }

 private:
  std::vector<Channel*> channels_;
  ElementHandler handler_;
  size_t next_ = 0;                // the channel to ask first
  std::deque<GateEvent> waiting_;  // events of the last element that were not given yet
};

}  // namespace penstock
