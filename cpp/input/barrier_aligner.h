// Aligns the barriers of one task's channels, exactly-once: which channels may be read, and when
// the task takes its snapshot. Collects barriers of at most one checkpoint at a time: a barrier of a
// newer one subsumes it, a barrier of an older one, or of one completed or aborted already, is
// ignored.
//
// Thread safety: none; belongs to the task's thread.
#pragma once

#include <cstddef>
#include <set>

#include "input/alignment_state.h"

namespace penstock {

class BarrierAligner {
 public:
  explicit BarrierAligner(size_t num_channels);

  // REQUIRES: the channel is neither blocked nor finished.
  AlignmentOutcome barrier_received(size_t channel, const Barrier& barrier);
  // The channel is no longer needed for any alignment.
  AlignmentOutcome end_of_input(size_t channel);
  // Gives up checkpoint `id`: channels blocked for it are read again, and barriers of it that still
  // come are ignored, whether one was seen here or not. An older one goes on: the coordinator may
  // still wait for it, and takes a task that ends without it for one that never saw its barrier.
  void abort(CheckpointId id);

  [[nodiscard]] bool is_blocked(size_t channel) const { return alignment_.is_blocked(channel); }
  [[nodiscard]] bool is_finished(size_t channel) const { return alignment_.is_finished(channel); }
  [[nodiscard]] size_t num_open() const { return alignment_.num_open(); }
  [[nodiscard]] bool is_pending() const { return pending_; }

 private:
  Alignment alignment_;
  const AlignmentState* state_;
  Barrier current_{CheckpointId{-1}, 0};  // pending, or the last one completed or aborted
  bool pending_ = false;
  std::set<CheckpointId> aborted_;  // newer than current_
};

}  // namespace penstock
