#include "source/scripted_source.h"

#include <cstring>

namespace penstock {

namespace {
constexpr const char* kStateName = "script-position";
}

Result<Poll> ScriptedSource::poll(Output& output) {
  // Only the first subtask plays.
  if (context_.subtask != 0 || position_ >= script_.size()) return Poll{PollKind::kEnd};
  const Element& element = script_[position_++];
  if (const auto* batch = std::get_if<Batch>(&element)) {
    PENSTOCK_RETURN_NOT_OK(output.emit(*batch));
  } else if (const auto* watermark = std::get_if<Watermark>(&element)) {
    PENSTOCK_RETURN_NOT_OK(output.emit_watermark(*watermark));
  } else if (const auto* status = std::get_if<WatermarkStatus>(&element)) {
    PENSTOCK_RETURN_NOT_OK(output.emit_status(*status));
  } else {
    return Status::invalid("a script may hold batches, watermarks and statuses only");
  }
  return Poll{PollKind::kMore};
}

Status ScriptedSource::snapshot(OperatorState* state) {
  ListStateData list;
  list.meta = StateMeta{kStateName, StateKind::kOperatorUnionList, "", "", "position:int64"};
  const auto position = static_cast<int64_t>(position_);
  if (context_.subtask == 0)
    list.items.emplace_back(reinterpret_cast<const char*>(&position), sizeof position);
  state->lists.push_back(std::move(list));
  return Status::ok();
}

Status ScriptedSource::restore(const OperatorState& state) {
  const ListStateData* list = state.find_list(kStateName);
  if (list == nullptr || list->items.size() != 1 || list->items[0].size() != sizeof(int64_t)) {
    return Status::corruption("the checkpoint has no position for this script");
  }
  int64_t position = 0;
  std::memcpy(&position, list->items[0].data(), sizeof position);
  position_ = static_cast<size_t>(position);
  return Status::ok();
}

}  // namespace penstock
