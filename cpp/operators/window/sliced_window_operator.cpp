#include "operators/window/sliced_window_operator.h"

#include <algorithm>
#include <utility>

#include "operators/window/column_build.h"
#include "operators/window/window_snapshot.h"

namespace penstock::window {

Result<std::shared_ptr<SlicedWindowOperator>> SlicedWindowOperator::create(WindowPlanPtr plan,
                                                                           Options options) {
  if (options.allowed_lateness_ms != 0) {
    return Status::invalid(
        "a sliced window has no allowed lateness; use the general window operator");
  }
  if (options.partial_input && options.late_side.has_value()) {
    return Status::invalid("late rows can go to a side output only when the window gets raw rows");
  }
  return std::shared_ptr<SlicedWindowOperator>(new SlicedWindowOperator(std::move(plan), options));
}

SlicedWindowOperator::SlicedWindowOperator(WindowPlanPtr plan, Options options)
    : plan_(std::move(plan)),
      options_(options),
      partition_(plan_->assigner()),
      keys_(plan_->key_types()),
      tables_(plan_, /*count_rows=*/false) {}

Status SlicedWindowOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  return options_.partial_input ? process_partials(batch) : process_rows(batch, output);
}

Status SlicedWindowOperator::process_rows(const Batch& batch, Output& output) {
  PENSTOCK_RETURN_NOT_OK(WindowPlan::check_schema(batch, *plan_->input_schema()));
  PENSTOCK_RETURN_NOT_OK(check_has_timestamps(batch));
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<SliceRows>* slices,
                            partition_.by_timestamp(batch.timestamp_data(), batch.num_rows));
  const std::vector<Column> key_columns = plan_->key_columns(batch);
  PENSTOCK_RETURN_NOT_OK(keys_.prepare(key_columns, batch.num_rows));
  for (const SliceRows& slice : *slices) {
    if (is_late(slice.end)) {
      PENSTOCK_RETURN_NOT_OK(drop_late_rows(batch, slice, output));
    } else {
      PENSTOCK_RETURN_NOT_OK(tables_.at(slice.end)->update(batch, &keys_, slice.rows, slice.count));
    }
  }
  return Status::ok();
}

Status SlicedWindowOperator::process_partials(const Batch& batch) {
  PENSTOCK_RETURN_NOT_OK(WindowPlan::check_schema(batch, *plan_->partial_schema()));
  const auto* ends = batch.columns[plan_->slice_end_index()].data<Timestamp>();
  const auto* row_counts = batch.columns[plan_->rows_index()].data<int64_t>();
  const std::vector<Column> key_columns = plan_->partial_key_columns(batch);
  PENSTOCK_RETURN_NOT_OK(keys_.prepare(key_columns, batch.num_rows));
  for (const SliceRows& slice : partition_.by_end(ends, batch.num_rows)) {
    if (is_late(slice.end)) {
      int64_t rows = 0;
      for (int64_t i = 0; i < slice.count; ++i)
        rows += row_counts[slice.rows == nullptr ? i : slice.rows[i]];
      count_late(rows);
    } else {
      PENSTOCK_RETURN_NOT_OK(tables_.at(slice.end)->merge(batch, &keys_, slice.rows, slice.count));
    }
  }
  return Status::ok();
}

Status SlicedWindowOperator::drop_late_rows(const Batch& batch, const SliceRows& slice,
                                            Output& output) {
  if (!options_.late_side.has_value()) {
    count_late(slice.count);
    return Status::ok();
  }
  if (slice.rows == nullptr) return output.emit_side(*options_.late_side, batch);
  PENSTOCK_ASSIGN_OR_RETURN(Batch late, batch.take(slice.rows, slice.count));
  return output.emit_side(*options_.late_side, std::move(late));
}

void SlicedWindowOperator::count_late(int64_t rows) {
  if (context_.metrics != nullptr) context_.metrics->late_records_dropped += rows;
}

Status SlicedWindowOperator::process_watermark(Watermark watermark, Output& output) {
  if (watermark.timestamp <= current_watermark_) return Status::ok();
  current_watermark_ = watermark.timestamp;
  if (context_.metrics != nullptr) context_.metrics->current_watermark = current_watermark_;
  while (!tables_.open().empty() && is_late(tables_.open().begin()->first)) {
    const Timestamp end = tables_.open().begin()->first;
    PENSTOCK_RETURN_NOT_OK(fire(end, *tables_.open().begin()->second, output));
    tables_.drop(end);
  }
  return output.emit_watermark(watermark);
}

Status SlicedWindowOperator::fire(Timestamp end, const SliceTable& table, Output& output) {
  for (size_t from = 0; from < table.size(); from += kMaxEmitRows) {
    const size_t count = std::min(kMaxEmitRows, table.size() - from);
    std::vector<Column> columns;
    PENSTOCK_RETURN_NOT_OK(table.index().key_columns(from, count, &columns));
    columns.push_back(constant_column(timestamp_ms(), plan_->assigner().window_start(end), count));
    columns.push_back(constant_column(timestamp_ms(), end, count));
    for (size_t i = 0; i < plan_->aggregates().size(); ++i) {
      PENSTOCK_ASSIGN_OR_RETURN(Column column, table.accumulators(i).finish(from, count));
      columns.push_back(std::move(column));
    }
    Batch batch =
        make_batch(plan_->output_schema(), std::move(columns), static_cast<int64_t>(count));
    batch.timestamps = constant_column(int64(), max_timestamp(end), count);
    if (context_.metrics != nullptr) context_.metrics->windows_fired += static_cast<int64_t>(count);
    PENSTOCK_RETURN_NOT_OK(output.emit(std::move(batch)));
  }
  return Status::ok();
}

Status SlicedWindowOperator::snapshot(OperatorState* state) {
  snapshot_slices(tables_, *plan_, context_.max_parallelism, state);
  snapshot_watermark(current_watermark_, state);
  return Status::ok();
}

Status SlicedWindowOperator::restore(const OperatorState& state) {
  PENSTOCK_ASSIGN_OR_RETURN(current_watermark_, restore_watermark(state));
  if (context_.metrics != nullptr) context_.metrics->current_watermark = current_watermark_;
  return restore_slices(state, *plan_, &tables_);
}

Status SlicedWindowOperator::close() {
  tables_.clear();
  return Status::ok();
}

}  // namespace penstock::window
