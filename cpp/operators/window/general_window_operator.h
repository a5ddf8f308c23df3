// GeneralWindowOperator: any assigner, trigger and user function, one record at a time, on rows of
// foreign objects.
//
// Flink's WindowOperator, step for step. Per record: each window of it that is not past its cleanup
// time takes the record in and asks the trigger; a record that no window took and that is late goes
// to the late side output or is dropped and counted. Per watermark: timers fire in the order
// (timestamp, key); a window's contents go when the watermark reaches its cleanup time (end - 1 +
// allowed lateness).
//
// Batches come in row form with timestamps, and with encoded keys unless `window_all`.
//
// Ownership: accumulators are references held in WindowContents; results are handed to the batch
// that carries them. Thread safety: as every operator, called by its subtask's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "operators/operator.h"
#include "operators/window/trigger.h"
#include "operators/window/window_assigner.h"
#include "operators/window/window_contents.h"
#include "operators/window/window_functions.h"
#include "timers/timer_heap.h"

namespace penstock::window {

struct GeneralWindowOptions {
  std::shared_ptr<const WindowAssigner> assigner;
  std::shared_ptr<Trigger> trigger;
  std::shared_ptr<WindowFunctions> functions;
  int64_t allowed_lateness_ms = 0;
  std::optional<int32_t> late_side;
  bool window_all = false;
};

class GeneralWindowOperator final : public Operator {
 public:
  // kInvalidArgument: negative lateness.
  static Result<std::shared_ptr<GeneralWindowOperator>> create(GeneralWindowOptions options);
  ~GeneralWindowOperator() override;

  Status process_batch(Batch batch, Output& output) override;
  Status process_watermark(Watermark watermark, Output& output) override;
  Status snapshot(OperatorState* state) override;
  Status restore(const OperatorState& state) override;
  Status close() override;

 private:
  class Context;
  using Timers = HeapSet<WindowTimer, WindowTimerHash>;

  explicit GeneralWindowOperator(GeneralWindowOptions options) : options_(std::move(options)) {}
  Status check_batch(const Batch& batch) const;
  // `skipped`: no window took the record.
  Status process_element(std::string_view key, ObjectPtr element, Timestamp timestamp,
                         bool* skipped);
  Status add_to_window(const KeyedWindowView& where, ObjectPtr element, Timestamp timestamp);
  Status on_timer(const WindowTimer& timer);
  // Fires timers until the watermark or until enough results are waiting; false: nothing left.
  Result<bool> fire_some_timers();
  Status emit_window(const KeyedWindowView& where, ObjectPtr accumulator);
  Status send_results(Output& output);
  Status send_late(const Batch& batch, const std::vector<int32_t>& rows, Output& output);

  [[nodiscard]] Timestamp cleanup_time(const TimeWindow& window) const;
  [[nodiscard]] bool is_window_late(const TimeWindow& window) const;
  [[nodiscard]] bool is_element_late(Timestamp timestamp) const;
  void register_timer(const KeyedWindowView& where, WindowEntry* entry, Timestamp timestamp);
  void drop_all();

  GeneralWindowOptions options_;
  WindowContents contents_;
  Timers timers_;
  Timestamp current_watermark_ = kMinTimestamp;
  std::vector<TimeWindow> windows_;  // of the current record
  // Results not sent yet: owned references and the timestamp of each.
  std::vector<ObjectPtr> results_;
  std::vector<Timestamp> result_timestamps_;
};

}  // namespace penstock::window
