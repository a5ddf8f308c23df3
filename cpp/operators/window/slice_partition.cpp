#include "operators/window/slice_partition.h"

namespace penstock::window {

namespace {

Status no_timestamp_error() {
  return Status::invalid(
      "a record has the smallest possible timestamp, which means it has none; call "
      "assign_timestamps_and_watermarks "
      "before the window");
}

}  // namespace

bool SlicePartition::all_in_current(const Timestamp* timestamps, int64_t count) const {
  if (!has_current_) return false;
  const auto start = static_cast<uint64_t>(current_start_);
  const auto size = static_cast<uint64_t>(assigner_.slice_size());
  uint64_t outside = 0;
  for (int64_t i = 0; i < count; ++i) {
    outside |= (static_cast<uint64_t>(timestamps[i]) - start) >= size ? 1U : 0U;
  }
  return outside == 0;
}

uint32_t SlicePartition::slot_of(Timestamp end) {
  uint32_t slot = 0;
  slots_.resolve(&end, nullptr, 1, &slot);
  if (slot == counts_.size()) counts_.push_back(0);
  return slot;
}

void SlicePartition::lay_out(int64_t count) {
  rows_.resize(static_cast<size_t>(count));
  slices_.clear();
  int64_t from = 0;
  for (size_t slot = 0; slot < counts_.size(); ++slot) {
    slices_.push_back({slots_.keys()[slot], rows_.data() + from, counts_[slot]});
    from += counts_[slot];
    counts_[slot] = from - counts_[slot];  // from now on: where the slot's next row goes
  }
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t slot = slot_of_row_[static_cast<size_t>(i)];
    rows_[static_cast<size_t>(counts_[slot]++)] = static_cast<int32_t>(i);
  }
}

Result<const std::vector<SliceRows>*> SlicePartition::by_timestamp(const Timestamp* timestamps,
                                                                   int64_t count) {
  if (all_in_current(timestamps, count)) {
    slices_.assign(1, {wrapping_add(current_start_, assigner_.slice_size()), nullptr, count});
    return &slices_;
  }
  slots_.clear();
  counts_.clear();
  slot_of_row_.resize(static_cast<size_t>(count));
  const auto size = static_cast<uint64_t>(assigner_.slice_size());
  Timestamp start = 0;
  uint32_t slot = kNoGroup;
  for (int64_t i = 0; i < count; ++i) {
    if (slot == kNoGroup ||
        static_cast<uint64_t>(timestamps[i]) - static_cast<uint64_t>(start) >= size) {
      if (timestamps[i] == kMinTimestamp) return no_timestamp_error();
      start = assigner_.slice_start(timestamps[i]);
      slot = slot_of(wrapping_add(start, assigner_.slice_size()));
    }
    slot_of_row_[static_cast<size_t>(i)] = slot;
    ++counts_[slot];
  }
  current_start_ = start;
  has_current_ = count > 0;
  if (counts_.size() == 1) {
    slices_.assign(1, {slots_.keys()[0], nullptr, count});
  } else {
    lay_out(count);
  }
  return &slices_;
}

const std::vector<SliceRows>& SlicePartition::by_end(const Timestamp* ends, int64_t count) {
  slots_.clear();
  counts_.clear();
  slot_of_row_.resize(static_cast<size_t>(count));
  uint32_t slot = kNoGroup;
  for (int64_t i = 0; i < count; ++i) {
    if (slot == kNoGroup || ends[i] != ends[i - 1]) slot = slot_of(ends[i]);
    slot_of_row_[static_cast<size_t>(i)] = slot;
    ++counts_[slot];
  }
  if (counts_.size() == 1) {
    slices_.assign(1, {ends[0], nullptr, count});
  } else {
    lay_out(count);
  }
  return slices_;
}

Status SlicePartition::slice_ends(const Timestamp* timestamps, int64_t count, Timestamp* ends) {
  const auto size = static_cast<uint64_t>(assigner_.slice_size());
  Timestamp start = current_start_;
  bool known = has_current_;
  for (int64_t i = 0; i < count; ++i) {
    if (!known || static_cast<uint64_t>(timestamps[i]) - static_cast<uint64_t>(start) >= size) {
      if (timestamps[i] == kMinTimestamp) return no_timestamp_error();
      start = assigner_.slice_start(timestamps[i]);
      known = true;
    }
    ends[i] = wrapping_add(start, assigner_.slice_size());
  }
  current_start_ = start;
  has_current_ = known;
  return Status::ok();
}

}  // namespace penstock::window
