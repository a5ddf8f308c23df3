#include "input/barrier_aligner.h"

#include "input/waiting_for_first_barrier.h"

namespace penstock {

BarrierAligner::BarrierAligner(size_t num_channels)
    : alignment_(num_channels), state_(WaitingForFirstBarrier::instance()) {}

AlignmentOutcome BarrierAligner::barrier_received(size_t channel, const Barrier& barrier) {
  AlignmentOutcome outcome;
  if (aborted_.contains(barrier.id)) return outcome;
  const bool is_newer = barrier.id > current_.id;
  if (!is_newer && !(pending_ && barrier.id == current_.id)) return outcome;
  if (is_newer) {
    if (pending_) {
      outcome.subsumed = current_.id;
      // Before the new barrier is counted: channels blocked for the old one have not delivered it.
      state_ = state_->abort(alignment_);
    }
    current_ = barrier;
    aborted_.erase(aborted_.begin(), aborted_.upper_bound(barrier.id));
  }
  state_ = state_->barrier_received(alignment_, channel, current_, &outcome);
  pending_ = !outcome.complete.has_value();
  return outcome;
}

AlignmentOutcome BarrierAligner::end_of_input(size_t channel) {
  AlignmentOutcome outcome;
  state_ = state_->end_of_input(alignment_, channel, current_, &outcome);
  if (outcome.complete.has_value()) pending_ = false;
  return outcome;
}

void BarrierAligner::abort(CheckpointId id) {
  if (id > current_.id) {
    aborted_.insert(id);
  } else if (pending_ && id == current_.id) {
    state_ = state_->abort(alignment_);
    pending_ = false;
  }
}

}  // namespace penstock
