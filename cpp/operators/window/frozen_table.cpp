#include "operators/window/frozen_table.h"

#include <algorithm>
#include <utility>

namespace penstock::window {

void FrozenBlock::serialise(size_t i, std::string* out) {
  while (i < parts_[last_part_].from) --last_part_;
  while (i >= parts_[last_part_].end) ++last_part_;
  const Part& part = parts_[last_part_];
  for (const auto& accumulators : *part.columns) accumulators->serialise(i - part.from, out);
}

std::shared_ptr<FrozenTable> FrozenTable::freeze(std::shared_ptr<SliceTable> table) {
  return std::shared_ptr<FrozenTable>(new FrozenTable(std::move(table)));
}

FrozenTable::FrozenTable(std::shared_ptr<SliceTable> table)
    : table_(std::move(table)),
      size_(table_->size()),
      saved_((size_ + kChunkGroups - 1) / kChunkGroups) {
  const std::lock_guard lock(table_->mutex_);
  table_->frozen_.push_back(this);
  table_->readers_.store(table_->frozen_.size(), std::memory_order_release);
}

FrozenTable::~FrozenTable() {
  const std::lock_guard lock(table_->mutex_);
  std::erase(table_->frozen_, this);
  table_->readers_.store(table_->frozen_.size(), std::memory_order_release);
}

AccumulatorSet FrozenTable::copy(size_t from, size_t count) const {
  AccumulatorSet columns;
  columns.reserve(table_->plan_->aggregates().size());
  for (size_t i = 0; i < table_->plan_->aggregates().size(); ++i)
    columns.push_back(table_->accumulators_[i]->copy(from, count));
  return columns;
}

void FrozenTable::save(const uint32_t* groups, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const size_t chunk = groups[i] / kChunkGroups;
    if (chunk >= saved_.size() || saved_[chunk] != nullptr) continue;
    const size_t from = chunk * kChunkGroups;
    saved_[chunk] =
        std::make_unique<AccumulatorSet>(copy(from, std::min(kChunkGroups, size_ - from)));
  }
}

Result<KeyCopy> FrozenTable::read_keys(size_t from, size_t count) const {
  const std::lock_guard lock(table_->mutex_);
  return table_->index_.copy_keys(from, count);
}

Result<FrozenBlock> FrozenTable::read(size_t from, size_t count) const {
  FrozenBlock block;
  const std::lock_guard lock(table_->mutex_);
  PENSTOCK_ASSIGN_OR_RETURN(block.keys_, table_->index_.copy_keys(from, count));
  const size_t end = from + count;
  for (size_t at = from; at < end;) {
    const size_t first = at / kChunkGroups;
    if (saved_[first] != nullptr) {
      const size_t until = std::min(end, (first + 1) * kChunkGroups);
      block.parts_.push_back({at - from, until - from, saved_[first].get()});
      at = until;
      continue;
    }
    size_t last = first;  // of the chunks behind it that have not changed either
    while ((last + 1) * kChunkGroups < end && saved_[last + 1] == nullptr) ++last;
    const size_t until = std::min(end, (last + 1) * kChunkGroups);
    block.copied_.push_back(std::make_unique<AccumulatorSet>(copy(at, until - at)));
    block.parts_.push_back({at - from, until - from, block.copied_.back().get()});
    at = until;
  }
  return block;
}

}  // namespace penstock::window
