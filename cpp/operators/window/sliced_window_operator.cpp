#include "operators/window/sliced_window_operator.h"

#include <algorithm>
#include <utility>

#include "operators/window/column_build.h"
#include "operators/window/window_snapshot.h"
#include "record/key_encoding.h"

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
  if (uses_rocksdb() && spilled_ == nullptr) PENSTOCK_RETURN_NOT_OK(open_spilled({}));
  if (spilled_ != nullptr) {
    PENSTOCK_RETURN_NOT_OK(spilled_->make_room(static_cast<size_t>(batch.num_rows), &tables_));
  }
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
    const bool spilled = spilled_ != nullptr && spilled_->is_spilled(end);
    PENSTOCK_RETURN_NOT_OK(spilled ? fire_spilled(end, output)
                                   : fire(end, *tables_.open().begin()->second, output));
    if (spilled_ != nullptr) spilled_->drop(end);
    tables_.drop(end);
  }
  return output.emit_watermark(watermark);
}

Status SlicedWindowOperator::fire(Timestamp end, const SliceTable& table, Output& output) {
  for (size_t from = 0; from < table.size(); from += kMaxEmitRows) {
    const size_t count = std::min(kMaxEmitRows, table.size() - from);
    std::vector<Column> keys;
    PENSTOCK_RETURN_NOT_OK(table.index().key_columns(from, count, &keys));
    PENSTOCK_RETURN_NOT_OK(emit(end, std::move(keys), table.accumulators(), from, count, output));
  }
  return Status::ok();
}

Status SlicedWindowOperator::fire_spilled(Timestamp end, Output& output) {
  return spilled_->read(
      end, &tables_,
      [&](const std::vector<std::string_view>& keys, const AccumulatorSet& set) -> Status {
        std::vector<Column> columns;
        const std::vector<DataTypePtr>& types = plan_->key_types();
        for (size_t i = 0; i < types.size(); ++i) {
          PENSTOCK_ASSIGN_OR_RETURN(
              Column column,
              decode_keys(keys, types[i], types.size() == 1 ? -1 : static_cast<int>(i)));
          columns.push_back(std::move(column));
        }
        return emit(end, std::move(columns), set, 0, keys.size(), output);
      });
}

Status SlicedWindowOperator::emit(Timestamp end, std::vector<Column> columns,
                                  const AccumulatorSet& accumulators, size_t from, size_t count,
                                  Output& output) {
  columns.push_back(constant_column(timestamp_ms(), plan_->assigner().window_start(end), count));
  columns.push_back(constant_column(timestamp_ms(), end, count));
  for (size_t i = 0; i < plan_->aggregates().size(); ++i) {
    PENSTOCK_ASSIGN_OR_RETURN(Column column, accumulators[i]->finish(from, count));
    columns.push_back(std::move(column));
  }
  Batch batch = make_batch(plan_->output_schema(), std::move(columns), static_cast<int64_t>(count));
  batch.timestamps = constant_column(int64(), max_timestamp(end), count);
  if (context_.metrics != nullptr) context_.metrics->windows_fired += static_cast<int64_t>(count);
  return output.emit(std::move(batch));
}

bool SlicedWindowOperator::uses_rocksdb() const {
  return context_.state_backend != nullptr && context_.state_backend->kind == "rocksdb";
}

Status SlicedWindowOperator::open_spilled(const std::vector<NativeState>& restored) {
  const StateMeta meta = contents_meta(*plan_);
  for (const NativeState& native : restored) {
    for (const StateMeta& written : native.states)
      PENSTOCK_RETURN_NOT_OK(check_same_meta(written, meta));
  }
  PENSTOCK_ASSIGN_OR_RETURN(spilled_, SpilledSlices::open(context_, plan_, meta, restored));
  tables_.limit_spares(kMaxSpareBytes);
  return spilled_->load(&tables_);
}

Status SlicedWindowOperator::snapshot(OperatorState* state) {
  if (uses_rocksdb() && spilled_ == nullptr) PENSTOCK_RETURN_NOT_OK(open_spilled({}));
  if (spilled_ == nullptr) {
    snapshot_slices(tables_, *plan_, context_.max_parallelism, state);
  } else {
    PENSTOCK_RETURN_NOT_OK(spilled_->snapshot(state->request, &tables_, state));
  }
  snapshot_watermark(current_watermark_, state);
  return Status::ok();
}

Status SlicedWindowOperator::restore(const OperatorState& state) {
  PENSTOCK_ASSIGN_OR_RETURN(current_watermark_, restore_watermark(state));
  if (context_.metrics != nullptr) context_.metrics->current_watermark = current_watermark_;
  if (!uses_rocksdb()) {
    if (state.native.empty()) return restore_slices(state, *plan_, {}, &tables_);
    return Status::not_supported(
        "the window's state is files of the backend '" + state.native[0].backend +
        "', which 'hashmap' cannot read; start from a savepoint in canonical form");
  }
  PENSTOCK_RETURN_NOT_OK(open_spilled(state.native));
  return restore_slices(
      state, *plan_, [this] { return spilled_->make_room(kMaxEmitRows, &tables_); }, &tables_);
}

Status SlicedWindowOperator::close() {
  tables_.clear();
  spilled_.reset();
  return Status::ok();
}

}  // namespace penstock::window
