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
    if (!input->is_valid(row)) continue;
    const uint32_t group = rows.groups[i];
    const std::string_view value = input->bytes_at(row);
    std::string& acc = acc_[group];
    if (seen_[group] != 0 && (min_ ? value >= acc : value <= acc)) continue;
    if (value.size() > acc.capacity()) long_bytes_ += value.size() - acc.capacity();
    acc.assign(value);
    seen_[group] = 1;
  }
  return Status::ok();
}

Result<Column> BinaryAccumulators::finish(size_t from, size_t count) const {
  size_t total = 0;
  for (size_t i = from; i < from + count; ++i) total += acc_[i].size();
  const bool large = aggregate_.result_type->has_large_offsets();
  if (!large && total > static_cast<size_t>(INT32_MAX)) {
    return Status::invalid("the results of aggregate '" + aggregate_.alias +
                           "' exceed 2 GiB in one batch; use a column of type large_" +
                           aggregate_.result_type->to_string());
  }
  const size_t width = large ? sizeof(int64_t) : sizeof(int32_t);
  const MutableBuffer offsets = MutableBuffer::allocate(static_cast<int64_t>((count + 1) * width));
  const MutableBuffer values = MutableBuffer::allocate(static_cast<int64_t>(total));
  size_t end = 0;
  for (size_t i = 0; i <= count; ++i) {
    if (large) {
      reinterpret_cast<int64_t*>(offsets.data.get())[i] = static_cast<int64_t>(end);
    } else {
      reinterpret_cast<int32_t*>(offsets.data.get())[i] = static_cast<int32_t>(end);
    }
    if (i == count) break;
    const std::string& value = acc_[from + i];
    if (!value.empty()) std::memcpy(values.data.get() + end, value.data(), value.size());
    end += value.size();
  }
  Column column;
  column.type = aggregate_.result_type;
  column.length = static_cast<int64_t>(count);
  column.offsets = offsets.freeze();
  column.values = values.freeze();
  set_validity(seen_.data() + from, count, &column);
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

Status BinaryAccumulators::deserialise(size_t group, std::string_view* in) {
  uint32_t size = 0;
  PENSTOCK_RETURN_NOT_OK(take_raw(in, &seen_[group]));
  PENSTOCK_RETURN_NOT_OK(take_raw(in, &size));
  if (in->size() < size)
    return Status::corruption("window state: a string accumulator is cut short");
  acc_[group].assign(in->substr(0, size));
  in->remove_prefix(size);
  return Status::ok();
}

void BinaryAccumulators::clear() {
  acc_.clear();
  seen_.clear();
  long_bytes_ = 0;
}

}  // namespace penstock::window
