// A checkpoint is pending: at least one channel has delivered its barrier and is blocked.
#pragma once

#include "input/alignment_state.h"

namespace penstock {

class CollectingBarriers final : public AlignmentState {
 public:
  static const CollectingBarriers* instance();

  const AlignmentState* barrier_received(Alignment& alignment, size_t channel,
                                         const Barrier& barrier,
                                         AlignmentOutcome* outcome) const override;
  // A finished channel has nothing left to deliver: it may have been the last one waited for.
  const AlignmentState* end_of_input(Alignment& alignment, size_t channel, const Barrier& pending,
                                     AlignmentOutcome* outcome) const override;
  const AlignmentState* abort(Alignment& alignment) const override;

 private:
  const AlignmentState* complete_if_all_received(Alignment& alignment, const Barrier& barrier,
                                                 AlignmentOutcome* outcome) const;
};

}  // namespace penstock
