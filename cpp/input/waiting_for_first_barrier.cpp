#include "input/waiting_for_first_barrier.h"

#include "input/collecting_barriers.h"

namespace penstock {

const WaitingForFirstBarrier* WaitingForFirstBarrier::instance() {
  static const WaitingForFirstBarrier kInstance;
  return &kInstance;
}

// The first barrier is collected like any other; with one open channel it is also the last.
const AlignmentState* WaitingForFirstBarrier::barrier_received(Alignment& alignment, size_t channel,
                                                               const Barrier& barrier,
                                                               AlignmentOutcome* outcome) const {
  return CollectingBarriers::instance()->barrier_received(alignment, channel, barrier, outcome);
}

const AlignmentState* WaitingForFirstBarrier::end_of_input(Alignment& alignment, size_t channel,
                                                           const Barrier&,
                                                           AlignmentOutcome*) const {
  alignment.finish(channel);
  return this;
}

const AlignmentState* WaitingForFirstBarrier::abort(Alignment&) const { return this; }

}  // namespace penstock
