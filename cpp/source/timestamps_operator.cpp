#include "source/timestamps_operator.h"

#include <algorithm>
#include <cstring>

namespace penstock {

namespace {

constexpr const char* kStateName = "watermark-generator";

int64_t floor_div(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return quotient - static_cast<int64_t>((value % by) < 0);
}

template <typename T>
Result<Column> multiply(const Column& column, int64_t by) {
  std::vector<int64_t> out(static_cast<size_t>(column.length));
  const T* in = column.data<T>();
  for (size_t i = 0; i < out.size(); ++i) {
    if (__builtin_mul_overflow(static_cast<int64_t>(in[i]), by, &out[i])) {
      return Status::invalid("a time of " + std::to_string(in[i]) + " s in row " +
                             std::to_string(i) + " of the batch is beyond what milliseconds hold");
    }
  }
  return int64_column(std::move(out));
}

Column divide(const Column& column, int64_t by) {
  std::vector<int64_t> out(static_cast<size_t>(column.length));
  const auto* in = column.data<int64_t>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = floor_div(in[i], by);
  return int64_column(std::move(out));
}

Result<Column> convert_timestamp(const Column& column) {
  switch (column.type->unit) {
    case TimeUnit::kSecond:
      return multiply<int64_t>(column, 1000);
    case TimeUnit::kMicro:
      return divide(column, 1000);
    case TimeUnit::kNano:
      return divide(column, 1000000);
    case TimeUnit::kMilli:
      break;
  }
  return column;
}

constexpr int64_t kMillisOfDay = 86400000;

// Milliseconds; a column of int64 values, whatever type it says it has.
Result<Column> to_millis(const Column& column) {
  switch (column.type->id) {
    case TypeId::kTimestamp:
      return convert_timestamp(column);
    case TypeId::kInt32:
      return multiply<int32_t>(column, 1);
    case TypeId::kUInt32:
      return multiply<uint32_t>(column, 1);
    case TypeId::kDate32:
      return multiply<int32_t>(column, kMillisOfDay);
    case TypeId::kInt64:
    case TypeId::kDate64:
      return column;
    default:
      return Status::type_error(
          "type " + column.type->to_string() +
          " is not a time; event times are timestamps, dates or integer milliseconds");
  }
}

}  // namespace

Result<Column> ColumnTimestamps::extract(const Batch& batch) {
  if (!batch.is_columnar())
    return Status::internal("timestamps from a column need a columnar batch");
  const int index = batch.schema->index_of(column_);
  if (index < 0) return Status::key_error("no column '" + column_ + "' to take timestamps from");
  const Column& column = batch.columns[static_cast<size_t>(index)];
  if (column.count_nulls() > 0) {
    int64_t row = 0;
    while (column.is_valid(row)) ++row;
    return Status::invalid(
        "timestamp column '" + column_ + "' is null in row " + std::to_string(row) +
        " of the batch; filter such rows out or give them a time before assigning timestamps");
  }
  auto millis = to_millis(column);
  if (!millis.is_ok()) return millis.status().with_context("timestamp column '" + column_ + "'");
  Column out = std::move(millis).value();
  out.type = int64();
  out.validity = {};
  out.null_count = 0;
  return out;
}

Status TimestampsOperator::open(const OperatorContext& context) {
  PENSTOCK_RETURN_NOT_OK(Operator::open(context));
  last_record_millis_ = context_.clock->now_millis();
  if ((context_.live && options_.delay_millis) || options_.idle_millis) {
    next_tick_ = last_record_millis_ + options_.interval_millis;
  }
  return Status::ok();
}

Status TimestampsOperator::process_batch(Batch batch, Output& output) {
  if (extractor_) {
    PENSTOCK_ASSIGN_OR_RETURN(batch.timestamps, extractor_->extract(batch));
  }
  if (batch.num_rows == 0) return Status::ok();
  saw_records_ = true;
  PENSTOCK_RETURN_NOT_OK(set_idle(false, output));
  if (!options_.delay_millis) return output.emit(std::move(batch));
  if (!batch.has_timestamps()) {
    return Status::invalid(
        "the records have no timestamps; give the WatermarkStrategy a timestamp assigner or "
        "column");
  }
  int64_t done = 0;
  while (done < batch.num_rows) {
    const int64_t count = std::min(batch.num_rows - done, options_.interval_rows - rows_);
    const bool whole = count == batch.num_rows;
    Batch part = whole ? std::move(batch) : batch.slice(done, count);
    const Timestamp* times = part.timestamp_data();
    Timestamp greatest = max_timestamp_;
    for (int64_t i = 0; i < count; ++i) greatest = std::max(greatest, times[i]);
    max_timestamp_ = greatest;
    rows_ += count;
    done += count;
    PENSTOCK_RETURN_NOT_OK(output.emit(std::move(part)));
    if (rows_ >= options_.interval_rows) {
      rows_ = 0;
      PENSTOCK_RETURN_NOT_OK(emit_watermark(output));
    }
    if (whole) break;
  }
  return Status::ok();
}

Status TimestampsOperator::emit_watermark(Output& output) {
  if (!options_.delay_millis || max_timestamp_ == kMinTimestamp) return Status::ok();
  const Timestamp floor = kMinTimestamp + *options_.delay_millis + 1;
  const Timestamp watermark =
      max_timestamp_ < floor ? kMinTimestamp : max_timestamp_ - *options_.delay_millis - 1;
  if (watermark <= emitted_) return Status::ok();
  emitted_ = watermark;
  return output.emit_watermark(Watermark{watermark});
}

Status TimestampsOperator::set_idle(bool idle, Output& output) {
  if (idle == idle_) return Status::ok();
  idle_ = idle;
  return output.emit_status(WatermarkStatus{idle});
}

Status TimestampsOperator::process_watermark(Watermark watermark, Output& output) {
  if (!options_.delay_millis && !extractor_) return output.emit_watermark(watermark);
  if (watermark.timestamp != kMaxTimestamp) return Status::ok();
  PENSTOCK_RETURN_NOT_OK(set_idle(false, output));
  emitted_ = kMaxTimestamp;
  return output.emit_watermark(watermark);
}

Status TimestampsOperator::process_status(WatermarkStatus status, Output& output) {
  // Own idleness detection replaces what comes from above, unless there is none.
  return options_.idle_millis ? Status::ok() : output.emit_status(status);
}

Status TimestampsOperator::on_processing_time(int64_t now_millis, Output& output) {
  next_tick_ = now_millis + options_.interval_millis;
  if (context_.live) PENSTOCK_RETURN_NOT_OK(emit_watermark(output));
  if (saw_records_) last_record_millis_ = now_millis;
  saw_records_ = false;
  if (options_.idle_millis && !idle_ && now_millis - last_record_millis_ >= *options_.idle_millis) {
    // What was seen before going idle still counts.
    PENSTOCK_RETURN_NOT_OK(emit_watermark(output));
    return set_idle(true, output);
  }
  return Status::ok();
}

Status TimestampsOperator::snapshot(OperatorState* state) {
  ListStateData list;
  list.meta = StateMeta{kStateName, StateKind::kOperatorUnionList, "", "",
                        "subtask:int64,rows:int64,max_timestamp:int64,emitted:int64"};
  const int64_t values[4] = {context_.subtask, rows_, max_timestamp_, emitted_};
  list.items.emplace_back(reinterpret_cast<const char*>(values), sizeof values);
  state->lists.push_back(std::move(list));
  return Status::ok();
}

Status TimestampsOperator::restore(const OperatorState& state) {
  const ListStateData* list = state.find_list(kStateName);
  if (list == nullptr) return Status::ok();
  // With the parallelism it was written with, each subtask goes on where it was. With another,
  // everybody starts from the least advanced: no watermark may pass a record that is yet to be
  // read.
  int64_t least_max = kMaxTimestamp;
  int64_t least_emitted = kMaxTimestamp;
  for (const std::string& item : list->items) {
    int64_t values[4];
    if (item.size() != sizeof values)
      return Status::corruption("a watermark generator state of wrong size");
    std::memcpy(values, item.data(), sizeof values);
    least_max = std::min(least_max, values[2]);
    least_emitted = std::min(least_emitted, values[3]);
    if (values[0] == context_.subtask &&
        static_cast<int32_t>(list->items.size()) == context_.parallelism) {
      // The interval may have become shorter since.
      rows_ = std::clamp<int64_t>(values[1], 0, options_.interval_rows - 1);
      max_timestamp_ = values[2];
      emitted_ = values[3];
      return Status::ok();
    }
  }
  if (!list->items.empty()) {
    max_timestamp_ = least_max;
    emitted_ = least_emitted;
  }
  return Status::ok();
}

}  // namespace penstock
