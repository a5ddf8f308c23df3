// WindowPlan: a sliced window whose columns and types are known. Shared by the local and the final
// operator, and asked by the planner for schemas when the job is built.
//
// Immutable after bind(); may be shared between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "columnar/batch.h"
#include "operators/window/aggregates.h"
#include "operators/window/slice_assigner.h"

namespace penstock::window {

inline constexpr const char* kSliceEndColumn = "__slice_end";
inline constexpr const char* kRowsColumn = "__rows";
// Results are cut into batches of at most so many rows.
inline constexpr size_t kMaxEmitRows = 65536;

struct WindowOptions {
  std::vector<std::string> key_columns;  // none: one window over all keys
  int64_t size_ms = 0;
  int64_t offset_ms = 0;
  std::vector<AggregateSpec> aggregates;
  OverflowMode overflow = OverflowMode::kError;
};

class WindowPlan {
 public:
  // `input` is the schema of the raw rows, also for an operator that gets partials.
  static Result<std::shared_ptr<const WindowPlan>> bind(const WindowOptions& options,
                                                        SchemaPtr input);

  [[nodiscard]] const SchemaPtr& input_schema() const { return input_; }
  // Keys, window_start, window_end, aggregates.
  [[nodiscard]] const SchemaPtr& output_schema() const { return output_; }
  // Keys, __slice_end, __rows, accumulator columns.
  [[nodiscard]] const SchemaPtr& partial_schema() const { return partial_; }

  [[nodiscard]] const std::vector<int>& key_indices() const { return key_indices_; }
  [[nodiscard]] const std::vector<DataTypePtr>& key_types() const { return key_types_; }
  [[nodiscard]] const std::vector<BoundAggregate>& aggregates() const { return aggregates_; }
  [[nodiscard]] const SliceAssigner& assigner() const { return assigner_; }

  // The key columns of a batch of raw rows.
  [[nodiscard]] std::vector<Column> key_columns(const Batch& rows) const;
  // Of a batch of partials.
  [[nodiscard]] std::vector<Column> partial_key_columns(const Batch& partials) const;
  [[nodiscard]] size_t slice_end_index() const { return key_indices_.size(); }
  [[nodiscard]] size_t rows_index() const { return key_indices_.size() + 1; }
  [[nodiscard]] size_t first_accumulator_index() const { return key_indices_.size() + 2; }

  // What a snapshot says about keys, windows and accumulators. Never to change.
  [[nodiscard]] std::string key_type() const;
  [[nodiscard]] std::string namespace_type() const {
    return "window_end:int64," + assigner_.describe();
  }
  [[nodiscard]] std::string value_type() const;

  // kTypeError when the batch is not one of `expected`.
  static Status check_schema(const Batch& batch, const Schema& expected);

 private:
  explicit WindowPlan(SliceAssigner assigner) : assigner_(assigner) {}
  Status bind_keys(const std::vector<std::string>& names);
  Status build_output_schema();
  void build_partial_schema();

  SliceAssigner assigner_;
  SchemaPtr input_;
  SchemaPtr output_;
  SchemaPtr partial_;
  std::vector<int> key_indices_;
  std::vector<DataTypePtr> key_types_;
  std::vector<BoundAggregate> aggregates_;
};
using WindowPlanPtr = std::shared_ptr<const WindowPlan>;

// kInvalidArgument saying what to do when the records have no event time.
Status check_has_timestamps(const Batch& batch);

}  // namespace penstock::window
