#include "operators/window/accumulators.h"

namespace penstock::window {

Status CountAccumulators::update(const Column* input, const GroupedRows& rows) {
  int64_t* const counts = counts_.data();
  if (input != nullptr && may_have_nulls(*input)) {
    visit_rows(rows, counts, counts_.size(),
               [&](uint32_t group, int64_t row) { counts[group] += input->is_valid(row) ? 1 : 0; });
  } else {
    visit_rows(rows, counts, counts_.size(), [&](uint32_t group, int64_t) { counts[group] += 1; });
  }
  return Status::ok();
}

Status CountAccumulators::merge(const Column* partials, const GroupedRows& rows) {
  int64_t* const counts = counts_.data();
  const int64_t* const values = partials[0].data<int64_t>();
  visit_rows(rows, counts, counts_.size(),
             [&](uint32_t group, int64_t row) { counts[group] += values[row]; });
  return Status::ok();
}

Result<Column> CountAccumulators::finish(size_t from, size_t count) const {
  return copy_column(int64(), counts_.data() + from, count);
}

Status CountAccumulators::partials(size_t from, size_t count, std::vector<Column>* out) const {
  out->push_back(copy_column(int64(), counts_.data() + from, count));
  return Status::ok();
}

void BinaryAccumulators::resize(size_t groups) {
  acc_.resize(groups);
  seen_.resize(groups, 0);
}

Status BinaryAccumulators::update(const Column* input, const GroupedRows& rows) {
  for (int64_t i = 0; i < rows.count; ++i) {
    const int64_t row = rows.rows == nullptr ? i : rows.rows[i];
    if (input->is_valid(row)) take_value(rows.groups[i], input->bytes_at(row));
  }
  return Status::ok();
}

Result<Column> BinaryAccumulators::finish(size_t from, size_t count) const {
  auto column = binary_column(aggregate_->result_type, count,
                              [&](size_t i) { return std::string_view(acc_[from + i]); });
  if (!column.is_ok()) {
    return column.status().with_context("aggregate '" + aggregate_->alias + "'");
  }
  set_validity(seen_.data() + from, count, &column.value());
  return column;
}

Status BinaryAccumulators::partials(size_t from, size_t count, std::vector<Column>* out) const {
  PENSTOCK_ASSIGN_OR_RETURN(Column column, finish(from, count));
  out->push_back(std::move(column));
  return Status::ok();
}

void BinaryAccumulators::serialise(size_t group, std::string* out) const {
  append_raw(seen_[group], out);
  append_raw(static_cast<uint32_t>(acc_[group].size()), out);
  out->append(acc_[group]);
}

namespace {
Status take_text(std::string_view* in, uint8_t* seen, std::string_view* text) {
  uint32_t size = 0;
  PENSTOCK_RETURN_NOT_OK(take_raw(in, seen));
  PENSTOCK_RETURN_NOT_OK(take_raw(in, &size));
  if (in->size() < size)
    return Status::corruption("window state: a string accumulator is cut short");
  *text = in->substr(0, size);
  in->remove_prefix(size);
  return Status::ok();
}
}  // namespace

Status BinaryAccumulators::deserialise(size_t group, std::string_view* in) {
  uint8_t seen = 0;
  std::string_view text;
  PENSTOCK_RETURN_NOT_OK(take_text(in, &seen, &text));
  seen_[group] = seen;
  acc_[group].assign(text);
  return Status::ok();
}

Status BinaryAccumulators::merge_serialised(size_t group, std::string_view* in) {
  uint8_t seen = 0;
  std::string_view text;
  PENSTOCK_RETURN_NOT_OK(take_text(in, &seen, &text));
  if (seen != 0) take_value(group, text);
  return Status::ok();
}

void BinaryAccumulators::take_value(size_t group, std::string_view value) {
  std::string& acc = acc_[group];
  if (seen_[group] != 0 && (min_ ? value >= acc : value <= acc)) return;
  if (value.size() > acc.capacity()) long_bytes_ += value.size() - acc.capacity();
  acc.assign(value);
  seen_[group] = 1;
}

std::unique_ptr<Accumulators> BinaryAccumulators::copy(size_t from, size_t count) const {
  auto result = std::make_unique<BinaryAccumulators>(aggregate_);
  result->acc_.assign(acc_.data() + from, acc_.data() + from + count);
  result->seen_.assign(seen_.data() + from, seen_.data() + from + count);
  return result;
}

void BinaryAccumulators::clear() {
  acc_.clear();
  seen_.clear();
  long_bytes_ = 0;
}

}  // namespace penstock::window
