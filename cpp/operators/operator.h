// The operator interface: what a chain is made of. Native and Python operators alike.
//
// One operator instance belongs to one subtask and is called by that subtask's thread only. Every
// call is per batch or per control element, never per record. `Output` leads to the next operator
// of the chain or to a partitioner; an operator may emit any number of batches during any call that
// has an Output.
//
// Order of calls: open, restore? (once, before any element), then process_* / on_processing_time,
// for each barrier prepare_barrier then snapshot, at the end end_input, then close (also after a
// failure).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "common/clock.h"
#include "common/ids.h"
#include "common/status.h"
#include "record/element.h"
#include "record/key_group.h"
#include "snapshot/operator_state.h"
#include "state/state_backend_config.h"

namespace penstock {

// Written by the subtask's thread, read by anybody (progress line, job client).
struct OperatorMetrics {
  std::atomic<int64_t> records_in{0};
  std::atomic<int64_t> records_out{0};
  std::atomic<int64_t> late_records_dropped{0};
  std::atomic<int64_t> windows_fired{0};
  std::atomic<int64_t> current_watermark{kMinTimestamp};
};

struct OperatorContext {
  std::string name;
  std::string uid;
  int32_t subtask = 0;
  int32_t parallelism = 1;
  int32_t max_parallelism = kDefaultMaxParallelism;
  const Clock* clock = nullptr;        // outlives the operator
  OperatorMetrics* metrics = nullptr;  // outlives the operator
  // Set when the job is being cancelled; whoever waits or loops for long looks at it. May be null
  // (never cancelled).
  const std::atomic<bool>* cancelled = nullptr;
  // The subtask reads a source that waits for its data, so time-driven emission is wanted. False:
  // the source runs as fast as it can, and what it emits depends on its rows alone.
  bool live = false;
  // Lets the task read the letters in its mailbox that can be read at any time. To be called between
  // two batches of output by whoever has very much to do for one element (a million timers under one
  // watermark), where the operator's state is consistent. May be null.
  std::function<Status()> yield;
  // Where keyed state is kept; null: on the heap.
  StateBackendConfigPtr state_backend;
  // Valid during open() only, null when there is none: for operators that need their state before
  // their users' open() runs. restore() gets the same.
  const OperatorState* restored = nullptr;
  [[nodiscard]] bool is_cancelled() const {
    return cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
  }
  [[nodiscard]] KeyGroupRange key_groups() const {
    return key_group_range(subtask, max_parallelism, parallelism);
  }
};

class Output {
 public:
  virtual ~Output() = default;
  virtual Status emit(Batch batch) = 0;
  // Side outputs are numbered per operator when the job graph is built; an unconnected one drops
  // its batches.
  virtual Status emit_side(int32_t side, Batch batch) = 0;
  virtual Status emit_watermark(Watermark watermark) = 0;
  virtual Status emit_status(WatermarkStatus status) = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;

  virtual Status open(const OperatorContext& context) {
    context_ = context;
    return Status::ok();
  }
  virtual Status process_batch(Batch batch, Output& output) = 0;
  // The default of both: forward.
  virtual Status process_watermark(Watermark watermark, Output& output) {
    return output.emit_watermark(watermark);
  }
  virtual Status process_status(WatermarkStatus status, Output& output) {
    return output.emit_status(status);
  }

  // When on_processing_time wants to be called next; kMaxTimestamp: not at all.
  [[nodiscard]] virtual int64_t next_processing_time() const { return kMaxTimestamp; }
  virtual Status on_processing_time(int64_t now_millis, Output& output) {
    (void)now_millis;
    (void)output;
    return Status::ok();
  }

  // Whatever must go out before the barrier does (a pre-aggregation flushes here).
  virtual Status prepare_barrier(Output& output) {
    (void)output;
    return Status::ok();
  }
  virtual Status snapshot(OperatorState* state) {
    (void)state;
    return Status::ok();
  }
  virtual Status restore(const OperatorState& state) {
    (void)state;
    return Status::ok();
  }
  virtual Status checkpoint_completed(CheckpointId id) {
    (void)id;
    return Status::ok();
  }
  virtual Status end_input(Output& output) {
    (void)output;
    return Status::ok();
  }
  virtual Status close() { return Status::ok(); }

  [[nodiscard]] const OperatorContext& context() const { return context_; }

 protected:
  OperatorContext context_;
};

}  // namespace penstock
