// Event times and watermarks: assigns each record's timestamp and emits watermarks behind the
// greatest seen.
//
// A watermark goes out after every `interval_rows` records of the subtask: batches are cut there
// (zero copy), so what is late does not depend on how the rows were batched. On live sources one
// also goes out when `interval_millis` have passed, as Flink's auto-watermark interval does.
// Without records for `idle_millis` the subtask turns idle.
#pragma once

#include <optional>
#include <string>

#include "operators/operator.h"

namespace penstock {

struct WatermarkOptions {
  std::optional<int64_t> delay_millis;  // nullopt: no watermarks; 0: monotonous
  std::optional<int64_t> idle_millis;
  int64_t interval_rows = 8192;
  int64_t interval_millis = 200;
};

// Where timestamps come from. One per operator.
class TimestampExtractor {
 public:
  virtual ~TimestampExtractor() = default;
  // An int64 column of milliseconds, one per row of `batch`.
  virtual Result<Column> extract(const Batch& batch) = 0;
};

// From a column: timestamp (any unit, floored to ms), date, or integer milliseconds. Null: an error
// naming the row.
class ColumnTimestamps final : public TimestampExtractor {
 public:
  explicit ColumnTimestamps(std::string column) : column_(std::move(column)) {}
  Result<Column> extract(const Batch& batch) override;

 private:
  std::string column_;
};

class TimestampsOperator final : public Operator {
 public:
  // `extractor` null: the records keep the timestamps they have.
  TimestampsOperator(std::unique_ptr<TimestampExtractor> extractor, WatermarkOptions options)
      : extractor_(std::move(extractor)), options_(options) {}

  Status open(const OperatorContext& context) override;
  Status process_batch(Batch batch, Output& output) override;
  // Watermarks from above are replaced by this operator's own, but for the end of input.
  Status process_watermark(Watermark watermark, Output& output) override;
  Status process_status(WatermarkStatus status, Output& output) override;
  [[nodiscard]] int64_t next_processing_time() const override { return next_tick_; }
  Status on_processing_time(int64_t now_millis, Output& output) override;
  Status snapshot(OperatorState* state) override;
  Status restore(const OperatorState& state) override;

 private:
  Status emit_watermark(Output& output);
  Status set_idle(bool idle, Output& output);

  std::unique_ptr<TimestampExtractor> extractor_;
  WatermarkOptions options_;
  int64_t rows_ = 0;  // records seen since the last watermark position
  Timestamp max_timestamp_ = kMinTimestamp;
  Timestamp emitted_ = kMinTimestamp;  // last watermark emitted; never goes back
  bool idle_ = false;
  int64_t next_tick_ = kMaxTimestamp;
  int64_t last_record_millis_ = 0;
  bool saw_records_ = false;  // since the last tick
};

}  // namespace penstock
