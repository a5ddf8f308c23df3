// AccumulatorCombiner: puts serialised accumulators of one key together.
//
// A value is the accumulators of all aggregates, one behind the other, as in snapshots; or several
// such values one behind the other, of which the older come first. The latter is what values become
// that cannot be combined (a sum overflows): whoever reads them then meets the same error.
//
// Thread safety: all methods may be called from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "operators/window/aggregates.h"
#include "operators/window/window_plan.h"
#include "state/rocksdb/blind_merge_store.h"

namespace penstock::window {

AccumulatorSet make_accumulator_set(const WindowPlan& plan);
// Sets a group to a value, or to several. REQUIRES: there is room for it.
Status read_value(std::string_view value, size_t group, const AccumulatorSet& set);

class AccumulatorCombiner final : public OperandCombiner {
 public:
  explicit AccumulatorCombiner(WindowPlanPtr plan) : plan_(std::move(plan)) {}
  void combine(const std::vector<std::string_view>& operands, std::string* out) const override;

 private:
  Status try_combine(const std::vector<std::string_view>& operands, const AccumulatorSet& set,
                     std::string* out) const;

  WindowPlanPtr plan_;
  mutable std::mutex mutex_;
  mutable std::vector<AccumulatorSet> free_;  // guarded by mutex_; each of one group
};

}  // namespace penstock::window
