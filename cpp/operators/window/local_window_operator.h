// LocalWindowOperator: pre-aggregation on the sending side of an exchange.
//
// Sends partials (WindowPlan::partial_schema) instead of rows: per slice and key the accumulators
// and the number of rows in them. What the final operator computes is the same as without it:
//   1. a slice's partials go out before any watermark >= slice end - 1 does, so they arrive as
//      early as needed;
//   2. a row that is late for the watermark seen here is passed on at once as a partial of its own:
//      whether it is late is decided where it would have been without this operator;
//   3. everything goes out before a barrier, the end of input, or before the stream turns idle (the
//      watermark of others may then overtake). So there is nothing to snapshot;
//   4. once the stream has been idle, rows are passed on one by one: active again, it does not hold
//      the receiver's watermark until it has caught up with it, and when that is is not known here.
//
// When most rows turn out to have a group of their own, the table is bypassed and rows become
// partials one by one, column-wise; now and then a new sample is taken.
//
// Thread safety: as every operator, called by its subtask's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "operators/operator.h"
#include "operators/window/slice_partition.h"
#include "operators/window/slice_table.h"

namespace penstock::window {

class LocalWindowOperator final : public Operator {
 public:
  struct Options {
    size_t max_groups = size_t{1} << 20;
    size_t max_bytes = size_t{256} << 20;
    int64_t sample_rows = 128 * 1024;       // decide anew after so many aggregated rows
    int64_t bypass_rows = 2 * 1024 * 1024;  // and sample again after so many bypassed ones
    double bypass_ratio = 0.5;              // groups per row
  };
  LocalWindowOperator(WindowPlanPtr plan, Options options);

  Status process_batch(Batch batch, Output& output) override;
  Status process_watermark(Watermark watermark, Output& output) override;
  Status process_status(WatermarkStatus status, Output& output) override;
  Status prepare_barrier(Output& output) override;
  Status end_input(Output& output) override;
  Status close() override;

  [[nodiscard]] bool bypassing() const { return bypass_left_ > 0 || was_idle_; }

 private:
  Status aggregate(const Batch& batch, Output& output);
  // Passes the given rows on, each as a partial of its own.
  Status pass_on(const Batch& batch, const int32_t* rows, int64_t count, Output& output);
  void take_sample(int64_t rows, size_t new_groups);
  Status flush(Timestamp end, const SliceTable& table, Output& output);
  Status flush_until(Timestamp watermark, Output& output);

  WindowPlanPtr plan_;
  Options options_;
  SlicePartition partition_;
  BatchKeys keys_;
  SliceTables tables_;
  std::vector<std::unique_ptr<Accumulators>> row_accumulators_;  // of pass_on: one group per row
  Timestamp current_watermark_ = kMinTimestamp;
  int64_t sampled_rows_ = 0;
  size_t sampled_groups_ = 0;
  int64_t bypass_left_ = 0;
  bool was_idle_ = false;
};

}  // namespace penstock::window
