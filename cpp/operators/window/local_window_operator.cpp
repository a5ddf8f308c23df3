#include "operators/window/local_window_operator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "operators/window/column_build.h"

namespace penstock::window {

LocalWindowOperator::LocalWindowOperator(WindowPlanPtr plan, Options options)
    : plan_(std::move(plan)),
      options_(options),
      partition_(plan_->assigner()),
      keys_(plan_->key_types()),
      tables_(plan_, /*count_rows=*/true) {
  for (const BoundAggregate& aggregate : plan_->aggregates()) {
    row_accumulators_.push_back(make_accumulators(aggregate));
  }
}

Status LocalWindowOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_RETURN_NOT_OK(WindowPlan::check_schema(batch, *plan_->input_schema()));
  PENSTOCK_RETURN_NOT_OK(check_has_timestamps(batch));
  if (bypassing()) {
    bypass_left_ -= batch.num_rows;
    return pass_on(batch, nullptr, batch.num_rows, output);
  }
  PENSTOCK_RETURN_NOT_OK(aggregate(batch, output));
  if (tables_.groups() > options_.max_groups || tables_.bytes() > options_.max_bytes) {
    return flush_until(kMaxTimestamp, output);
  }
  return Status::ok();
}

Status LocalWindowOperator::aggregate(const Batch& batch, Output& output) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<SliceRows>* slices,
                            partition_.by_timestamp(batch.timestamp_data(), batch.num_rows));
  const std::vector<Column> key_columns = plan_->key_columns(batch);
  PENSTOCK_RETURN_NOT_OK(keys_.prepare(key_columns, batch.num_rows));
  for (const SliceRows& slice : *slices) {
    if (max_timestamp(slice.end) <= current_watermark_) {
      PENSTOCK_RETURN_NOT_OK(pass_on(batch, slice.rows, slice.count, output));
      continue;
    }
    SliceTable* const table = tables_.at(slice.end);
    const size_t before = table->size();
    PENSTOCK_RETURN_NOT_OK(table->update(batch, &keys_, slice.rows, slice.count));
    take_sample(slice.count, table->size() - before);
  }
  return Status::ok();
}

void LocalWindowOperator::take_sample(int64_t rows, size_t new_groups) {
  sampled_rows_ += rows;
  sampled_groups_ += new_groups;
  if (sampled_rows_ < options_.sample_rows) return;
  const double ratio = static_cast<double>(sampled_groups_) / static_cast<double>(sampled_rows_);
  if (ratio > options_.bypass_ratio) bypass_left_ = options_.bypass_rows;
  sampled_rows_ = 0;
  sampled_groups_ = 0;
}

Status LocalWindowOperator::pass_on(const Batch& batch, const int32_t* rows, int64_t count,
                                    Output& output) {
  const auto size = static_cast<size_t>(count);
  std::vector<Column> columns = plan_->key_columns(batch);
  std::vector<Timestamp> timestamps(size);
  for (size_t i = 0; i < size; ++i)
    timestamps[i] = batch.timestamp_data()[rows == nullptr ? static_cast<int32_t>(i) : rows[i]];
  if (rows != nullptr) {
    for (Column& column : columns) {
      PENSTOCK_ASSIGN_OR_RETURN(column, take(column, rows, count));
    }
  }
  std::vector<Timestamp> ends(size);
  PENSTOCK_RETURN_NOT_OK(partition_.slice_ends(timestamps.data(), count, ends.data()));
  for (size_t i = 0; i < size; ++i) timestamps[i] = max_timestamp(ends[i]);
  columns.push_back(int64_column(std::move(ends)));
  columns.push_back(constant_column(int64(), 1, size));

  std::vector<uint32_t> groups(size);
  std::iota(groups.begin(), groups.end(), 0U);
  const GroupedRows grouped{rows, groups.data(), count};
  for (size_t i = 0; i < row_accumulators_.size(); ++i) {
    const int index = plan_->aggregates()[i].column_index;
    row_accumulators_[i]->resize(size);
    PENSTOCK_RETURN_NOT_OK(row_accumulators_[i]->update(
        index < 0 ? nullptr : &batch.columns[static_cast<size_t>(index)], grouped));
    PENSTOCK_RETURN_NOT_OK(row_accumulators_[i]->partials(0, size, &columns));
    row_accumulators_[i]->clear();
  }
  Batch partials = make_batch(plan_->partial_schema(), std::move(columns), count);
  partials.timestamps = int64_column(std::move(timestamps));
  return output.emit(std::move(partials));
}

Status LocalWindowOperator::flush(Timestamp end, const SliceTable& table, Output& output) {
  for (size_t from = 0; from < table.size(); from += kMaxEmitRows) {
    const size_t count = std::min(kMaxEmitRows, table.size() - from);
    std::vector<Column> columns;
    PENSTOCK_RETURN_NOT_OK(table.index().key_columns(from, count, &columns));
    columns.push_back(constant_column(int64(), end, count));
    PENSTOCK_RETURN_NOT_OK(table.row_counts().partials(from, count, &columns));
    for (size_t i = 0; i < plan_->aggregates().size(); ++i) {
      PENSTOCK_RETURN_NOT_OK(table.accumulators(i).partials(from, count, &columns));
    }
    Batch batch =
        make_batch(plan_->partial_schema(), std::move(columns), static_cast<int64_t>(count));
    batch.timestamps = constant_column(int64(), max_timestamp(end), count);
    PENSTOCK_RETURN_NOT_OK(output.emit(std::move(batch)));
  }
  return Status::ok();
}

Status LocalWindowOperator::flush_until(Timestamp watermark, Output& output) {
  while (!tables_.open().empty() && max_timestamp(tables_.open().begin()->first) <= watermark) {
    const Timestamp end = tables_.open().begin()->first;
    PENSTOCK_RETURN_NOT_OK(flush(end, *tables_.open().begin()->second, output));
    tables_.drop(end);
  }
  return Status::ok();
}

Status LocalWindowOperator::process_watermark(Watermark watermark, Output& output) {
  if (watermark.timestamp <= current_watermark_) return Status::ok();
  // Before the watermark goes on: behind it the partials would be late.
  PENSTOCK_RETURN_NOT_OK(flush_until(watermark.timestamp, output));
  current_watermark_ = watermark.timestamp;
  if (context_.metrics != nullptr) context_.metrics->current_watermark = current_watermark_;
  return output.emit_watermark(watermark);
}

Status LocalWindowOperator::process_status(WatermarkStatus status, Output& output) {
  // An idle channel no longer holds the receiver's watermark back, so what is kept here would
  // become late.
  if (status.idle) {
    was_idle_ = true;
    PENSTOCK_RETURN_NOT_OK(flush_until(kMaxTimestamp, output));
  }
  return output.emit_status(status);
}

Status LocalWindowOperator::prepare_barrier(Output& output) {
  return flush_until(kMaxTimestamp, output);
}

Status LocalWindowOperator::end_input(Output& output) { return flush_until(kMaxTimestamp, output); }

Status LocalWindowOperator::close() {
  tables_.clear();
  return Status::ok();
}

}  // namespace penstock::window
