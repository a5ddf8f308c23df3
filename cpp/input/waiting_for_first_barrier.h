// No checkpoint is pending; all channels are read.
#pragma once

#include "input/alignment_state.h"

namespace penstock {

class WaitingForFirstBarrier final : public AlignmentState {
 public:
  static const WaitingForFirstBarrier* instance();

  const AlignmentState* barrier_received(Alignment& alignment, size_t channel,
                                         const Barrier& barrier,
                                         AlignmentOutcome* outcome) const override;
  const AlignmentState* end_of_input(Alignment& alignment, size_t channel, const Barrier& pending,
                                     AlignmentOutcome* outcome) const override;
  const AlignmentState* abort(Alignment& alignment) const override;
};

}  // namespace penstock
