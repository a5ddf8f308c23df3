#include "input/collecting_barriers.h"

#include "input/waiting_for_first_barrier.h"

namespace penstock {

const CollectingBarriers* CollectingBarriers::instance() {
  static const CollectingBarriers kInstance;
  return &kInstance;
}

const AlignmentState* CollectingBarriers::barrier_received(Alignment& alignment, size_t channel,
                                                           const Barrier& barrier,
                                                           AlignmentOutcome* outcome) const {
  alignment.block(channel);
  return complete_if_all_received(alignment, barrier, outcome);
}

const AlignmentState* CollectingBarriers::end_of_input(Alignment& alignment, size_t channel,
                                                       const Barrier& pending,
                                                       AlignmentOutcome* outcome) const {
  alignment.finish(channel);
  return complete_if_all_received(alignment, pending, outcome);
}

const AlignmentState* CollectingBarriers::abort(Alignment& alignment) const {
  alignment.unblock_all();
  return WaitingForFirstBarrier::instance();
}

const AlignmentState* CollectingBarriers::complete_if_all_received(
    Alignment& alignment, const Barrier& barrier, AlignmentOutcome* outcome) const {
  if (!alignment.all_barriers_received()) return this;
  // Unblocking before the snapshot is taken is safe: the caller takes it before it reads on.
  alignment.unblock_all();
  outcome->complete = barrier;
  return WaitingForFirstBarrier::instance();
}

}  // namespace penstock
