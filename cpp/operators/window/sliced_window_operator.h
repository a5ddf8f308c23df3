// SlicedWindowOperator: tumbling windows with built-in aggregates, on columns, without touching an
// object.
//
// Gets raw rows, or the partials of LocalWindowOperators. Per open slice there is one table {keys,
// accumulators}; when the watermark reaches the slice's last millisecond the table becomes result
// batches and is dropped whole. One comparison per watermark decides what fires: there is no timer
// per key.
//
// With the backend "rocksdb" tables that outgrow their budget are written down (spilled_slices.h);
// with any other they are all in memory. Either way a snapshot does not stop the subtask.
//
// A row is late when its slice has fired already (slice end - 1 <= watermark): dropped and counted,
// or sent to the late side output. Allowed lateness needs GeneralWindowOperator.
//
// Thread safety: as every operator, called by its subtask's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "operators/operator.h"
#include "operators/window/slice_partition.h"
#include "operators/window/slice_table.h"
#include "operators/window/spilled_slices.h"

namespace penstock::window {

class SlicedWindowOperator final : public Operator {
 public:
  struct Options {
    bool partial_input = false;
    std::optional<int32_t> late_side;  // raw rows only
    int64_t allowed_lateness_ms = 0;   // anything but 0 is refused
  };
  static Result<std::shared_ptr<SlicedWindowOperator>> create(WindowPlanPtr plan, Options options);

  Status process_batch(Batch batch, Output& output) override;
  Status process_watermark(Watermark watermark, Output& output) override;
  Status snapshot(OperatorState* state) override;
  Status restore(const OperatorState& state) override;
  Status close() override;

 private:
  SlicedWindowOperator(WindowPlanPtr plan, Options options);
  [[nodiscard]] bool is_late(Timestamp slice_end) const {
    return max_timestamp(slice_end) <= current_watermark_;
  }
  Status process_rows(const Batch& batch, Output& output);
  Status process_partials(const Batch& batch);
  Status drop_late_rows(const Batch& batch, const SliceRows& slice, Output& output);
  void count_late(int64_t rows);
  Status fire(Timestamp end, const SliceTable& table, Output& output);
  Status fire_spilled(Timestamp end, Output& output);
  // Groups [from, from + count) of `accumulators`, whose keys are `columns`, as results.
  Status emit(Timestamp end, std::vector<Column> columns, const AccumulatorSet& accumulators,
              size_t from, size_t count, Output& output);
  [[nodiscard]] bool uses_rocksdb() const;
  Status open_spilled(const std::vector<NativeState>& restored);

  // With rocksdb: a fired slice's table is kept for the next when it is at most so large.
  static constexpr size_t kMaxSpareBytes = size_t{1} << 20;

  WindowPlanPtr plan_;
  Options options_;
  SlicePartition partition_;
  BatchKeys keys_;
  SliceTables tables_;
  std::unique_ptr<SpilledSlices> spilled_;  // backend rocksdb, from the first element on
  Timestamp current_watermark_ = kMinTimestamp;
};

}  // namespace penstock::window
