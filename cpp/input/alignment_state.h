// Barrier alignment, the parts that its states share. Shaped after Flink's BarrierHandlerState: one
// small class per state, whose functions are the events; each gives back the next state.
//
//   WaitingForFirstBarrier --barrier--> CollectingBarriers --all barriers, or abort--> Waiting...
//
// At-least-once and unaligned alignment are other pairs of states over the same Alignment (one that
// never blocks; one that completes on the first barrier and collects what is in flight).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "record/element.h"

namespace penstock {

// What the outside learns from one event.
struct AlignmentOutcome {
  // Set: the barrier has arrived on every channel still open. The task takes its snapshot now,
  // before it handles anything else.
  std::optional<Barrier> complete;
  // Set: this pending checkpoint will never complete here; a newer one took its place.
  std::optional<CheckpointId> subsumed;
};

// The facts about the channels that the states work on. A channel is blocked from its barrier until
// the checkpoint completes or is aborted: what follows the barrier is not part of the snapshot, so
// it may not be processed before it.
class Alignment {
 public:
  explicit Alignment(size_t num_channels)
      : blocked_(num_channels, false), finished_(num_channels, false), open_(num_channels) {}

  void block(size_t channel) {
    if (blocked_[channel] || finished_[channel]) return;
    blocked_[channel] = true;
    ++num_blocked_;
  }
  void unblock_all() {
    blocked_.assign(blocked_.size(), false);
    num_blocked_ = 0;
  }
  void finish(size_t channel) {
    if (finished_[channel]) return;
    finished_[channel] = true;
    --open_;
    if (blocked_[channel]) {
      blocked_[channel] = false;
      --num_blocked_;
    }
  }

  [[nodiscard]] bool is_blocked(size_t channel) const { return blocked_[channel]; }
  [[nodiscard]] bool is_finished(size_t channel) const { return finished_[channel]; }
  // Every channel that can still deliver has delivered its barrier.
  [[nodiscard]] bool all_barriers_received() const { return num_blocked_ == open_; }
  [[nodiscard]] size_t num_open() const { return open_; }

 private:
  std::vector<bool> blocked_;
  std::vector<bool> finished_;
  size_t open_;             // channels not finished
  size_t num_blocked_ = 0;  // all of them open
};

class AlignmentState {
 public:
  virtual ~AlignmentState() = default;

  // The state after the event. `outcome` is filled when the event completes the checkpoint.
  virtual const AlignmentState* barrier_received(Alignment& alignment, size_t channel,
                                                 const Barrier& barrier,
                                                 AlignmentOutcome* outcome) const = 0;
  // `pending` is the barrier being collected, if any.
  virtual const AlignmentState* end_of_input(Alignment& alignment, size_t channel,
                                             const Barrier& pending,
                                             AlignmentOutcome* outcome) const = 0;
  // The pending checkpoint is given up.
  virtual const AlignmentState* abort(Alignment& alignment) const = 0;
};

}  // namespace penstock
