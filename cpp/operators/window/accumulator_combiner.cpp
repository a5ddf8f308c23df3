#include "operators/window/accumulator_combiner.h"

#include <utility>

namespace penstock::window {

AccumulatorSet make_accumulator_set(const WindowPlan& plan) {
  AccumulatorSet set;
  for (const BoundAggregate& aggregate : plan.aggregates())
    set.push_back(make_accumulators(aggregate));
  return set;
}

namespace {

Status merge_value(std::string_view value, size_t group, const AccumulatorSet& set) {
  if (set.empty() && !value.empty()) {
    return Status::corruption("window state: a value where there are no aggregates");
  }
  while (!value.empty()) {
    for (const auto& accumulators : set)
      PENSTOCK_RETURN_NOT_OK(accumulators->merge_serialised(group, &value));
  }
  return Status::ok();
}

}  // namespace

Status read_value(std::string_view value, size_t group, const AccumulatorSet& set) {
  for (const auto& accumulators : set)
    PENSTOCK_RETURN_NOT_OK(accumulators->deserialise(group, &value));
  return merge_value(value, group, set);
}

Status AccumulatorCombiner::try_combine(const std::vector<std::string_view>& operands,
                                        const AccumulatorSet& set, std::string* out) const {
  PENSTOCK_RETURN_NOT_OK(read_value(operands[0], 0, set));
  for (size_t i = 1; i < operands.size(); ++i)
    PENSTOCK_RETURN_NOT_OK(merge_value(operands[i], 0, set));
  for (const auto& accumulators : set) accumulators->serialise(0, out);
  return Status::ok();
}

void AccumulatorCombiner::combine(const std::vector<std::string_view>& operands,
                                  std::string* out) const {
  AccumulatorSet set;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      set = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (set.empty()) {
    set = make_accumulator_set(*plan_);
    for (const auto& accumulators : set) accumulators->resize(1);
  }
  if (!try_combine(operands, set, out).is_ok()) {
    for (const std::string_view operand : operands) out->append(operand);
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(set));
}

}  // namespace penstock::window
