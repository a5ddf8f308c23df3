#include "operators/window/slice_table.h"

#include <utility>

#include "operators/window/frozen_table.h"

namespace penstock::window {

SliceTable::SliceTable(WindowPlanPtr plan, bool count_rows)
    : plan_(std::move(plan)), index_(plan_->key_types()) {
  const std::vector<BoundAggregate>& aggregates = plan_->aggregates();
  row_counts_ = aggregates.size();
  size_t column = plan_->first_accumulator_index();
  for (size_t i = 0; i < aggregates.size(); ++i) {
    accumulators_.push_back(make_accumulators(aggregates[i]));
    partial_columns_.push_back(column);
    column += aggregates[i].partial_types.size();
    if (aggregates[i].kind == AggregateKind::kCountStar) row_counts_ = i;
  }
  if (count_rows && row_counts_ == aggregates.size())
    accumulators_.push_back(make_accumulators(BoundAggregate{}));
}

const std::vector<uint32_t>& SliceTable::resolve(BatchKeys* keys, const int32_t* rows,
                                                 int64_t count) {
  if (groups_.size() < static_cast<size_t>(count)) groups_.resize(static_cast<size_t>(count));
  index_.resolve(keys, rows, count, groups_.data());
  for (const auto& accumulators : accumulators_) accumulators->resize(index_.size());
  return groups_;
}

const Column* SliceTable::row_input(const Batch& batch, size_t i) const {
  const int column = i < plan_->aggregates().size() ? plan_->aggregates()[i].column_index : -1;
  return column < 0 ? nullptr : &batch.columns[static_cast<size_t>(column)];
}

const Column* SliceTable::partial_input(const Batch& batch, size_t i) const {
  return &batch.columns[partial_columns_[i]];
}

const std::vector<uint32_t>& SliceTable::groups_to_change(Input input, const Batch& batch,
                                                          BatchKeys* keys, const int32_t* rows,
                                                          int64_t count) {
  if (!is_frozen()) [[likely]]
    return resolve(keys, rows, count);
  const std::lock_guard lock(mutex_);
  const std::vector<uint32_t>& groups = resolve(keys, rows, count);
  for (size_t i = 0; i < plan_->aggregates().size(); ++i)
    accumulators_[i]->prepare((this->*input)(batch, i));
  for (FrozenTable* const frozen : frozen_) frozen->save(groups.data(), count);
  return groups;
}

Status SliceTable::update(const Batch& batch, BatchKeys* keys, const int32_t* rows, int64_t count) {
  const std::vector<uint32_t>& groups =
      groups_to_change(&SliceTable::row_input, batch, keys, rows, count);
  const GroupedRows grouped{rows, groups.data(), count};
  for (size_t i = 0; i < accumulators_.size(); ++i)
    PENSTOCK_RETURN_NOT_OK(accumulators_[i]->update(row_input(batch, i), grouped));
  return Status::ok();
}

Status SliceTable::merge(const Batch& batch, BatchKeys* keys, const int32_t* rows, int64_t count) {
  const std::vector<uint32_t>& groups =
      groups_to_change(&SliceTable::partial_input, batch, keys, rows, count);
  const GroupedRows grouped{rows, groups.data(), count};
  for (size_t i = 0; i < plan_->aggregates().size(); ++i)
    PENSTOCK_RETURN_NOT_OK(accumulators_[i]->merge(partial_input(batch, i), grouped));
  return Status::ok();
}

void SliceTable::clear() {
  index_.clear();
  for (const auto& accumulators : accumulators_) accumulators->clear();
}

size_t SliceTable::bytes() const {
  size_t total = index_.bytes() + groups_.capacity() * sizeof(uint32_t);
  for (const auto& accumulators : accumulators_) total += accumulators->bytes();
  return total;
}

SliceTable* SliceTables::at(Timestamp end) {
  std::shared_ptr<SliceTable>& table = open_[end];
  if (table == nullptr) {
    if (spare_.empty()) {
      table = std::make_shared<SliceTable>(plan_, count_rows_);
    } else {
      table = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  return table.get();
}

void SliceTables::drop(Timestamp end) {
  const auto found = open_.find(end);
  if (found == open_.end()) return;
  if (spare_.size() < kSpareTables && !found->second->is_frozen() &&
      found->second->bytes() <= max_spare_bytes_) {
    found->second->clear();
    spare_.push_back(std::move(found->second));
  }
  open_.erase(found);
}

std::shared_ptr<SliceTable> SliceTables::take(Timestamp end) {
  std::shared_ptr<SliceTable> taken = std::move(open_[end]);
  open_[end] = nullptr;
  at(end);
  return taken;
}

void SliceTables::clear() {
  open_.clear();
  spare_.clear();
}

size_t SliceTables::groups() const {
  size_t total = 0;
  for (const auto& [end, table] : open_) total += table->size();
  return total;
}

size_t SliceTables::bytes() const {
  size_t total = 0;
  for (const auto& [end, table] : open_) total += table->bytes();
  return total;
}

size_t SliceTables::bytes_after(size_t rows) const {
  size_t total = 0;
  for (const auto& [end, table] : open_) total += table->bytes_after(rows);
  return total;
}

}  // namespace penstock::window
