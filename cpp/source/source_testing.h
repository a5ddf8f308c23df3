// Helpers of this room's tests: hand-made batches, and an output that writes down what it gets.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "columnar/builder.h"
#include "operators/operator.h"

namespace penstock::source_testing {

// Everything in the order it was emitted; batches cut into rows, so that where they were cut shows
// only in `batch_sizes`.
class RecordingOutput final : public Output {
 public:
  Status emit(Batch batch) override {
    batch_sizes.push_back(batch.num_rows);
    for (int64_t i = 0; i < batch.num_rows; ++i) {
      if (batch.has_timestamps()) log.push_back("t" + std::to_string(batch.timestamp_data()[i]));
    }
    batches.push_back(std::move(batch));
    return Status::ok();
  }
  Status emit_side(int32_t, Batch) override { return Status::internal("no side output here"); }
  Status emit_watermark(Watermark watermark) override {
    watermarks.push_back(watermark.timestamp);
    log.push_back("w" + std::to_string(watermark.timestamp));
    return Status::ok();
  }
  Status emit_status(WatermarkStatus status) override {
    log.emplace_back(status.idle ? "idle" : "active");
    return Status::ok();
  }

  std::vector<Batch> batches;
  std::vector<int64_t> batch_sizes;
  std::vector<Timestamp> watermarks;
  std::vector<std::string> log;  // "t<timestamp of a record>", "w<watermark>", "idle", "active"
};

inline OperatorContext make_context(const Clock* clock, int32_t subtask = 0,
                                    int32_t parallelism = 1, bool live = false) {
  OperatorContext context;
  context.subtask = subtask;
  context.parallelism = parallelism;
  context.clock = clock;
  context.live = live;
  return context;
}

template <typename T>
Column column_of(const DataTypePtr& type, const std::vector<std::optional<T>>& values) {
  FixedBuilder<T> builder(type);
  for (const auto& value : values) value ? builder.append(*value) : builder.append_null();
  return builder.finish();
}

// A batch of one column "c".
inline Batch batch_of(Column column) {
  Field field;
  field.name = "c";
  field.type = column.type;
  const int64_t rows = column.length;
  return make_batch(
      std::make_shared<const Schema>(std::vector{std::make_shared<const Field>(std::move(field))}),
      {std::move(column)}, rows);
}

// A batch of one int64 column "c".
inline Batch int64_batch(std::vector<int64_t> values) {
  return batch_of(int64_column(std::move(values)));
}

inline void expect_ok(const Status& status) { EXPECT_TRUE(status.is_ok()) << status.message(); }

inline bool mentions(const Status& status, const std::string& text) {
  return status.message().find(text) != std::string::npos;
}

}  // namespace penstock::source_testing
