// RowsHost: puts a native operator that works on rows among user code.
//
// Turns batches of columns into rows in front of it, and opens and closes the Function objects
// whose methods it calls. `watch` tells the user code's host where to look whether the job is being
// cancelled. Everything else goes through unchanged.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "bindings/lifecycle.h"

namespace penstock::bindings {

class RowsHost final : public PythonOperator {
 public:
  using Watch = std::function<void(const std::atomic<bool>* cancelled)>;
  RowsHost(std::shared_ptr<Operator> guest, Lifecycles lifecycles, Watch watch)
      : PythonOperator(std::move(lifecycles)), guest_(std::move(guest)), watch_(std::move(watch)) {}

  Status open(const OperatorContext& context) override {
    watch_(context.cancelled);
    PENSTOCK_RETURN_NOT_OK(PythonOperator::open(context));
    return guest_->open(context);
  }
  Status process_batch(Batch batch, Output& output) override;
  Status process_watermark(Watermark watermark, Output& output) override {
    return guest_->process_watermark(watermark, output);
  }
  Status process_status(WatermarkStatus status, Output& output) override {
    return guest_->process_status(status, output);
  }
  [[nodiscard]] int64_t next_processing_time() const override {
    return guest_->next_processing_time();
  }
  Status on_processing_time(int64_t now_millis, Output& output) override {
    return guest_->on_processing_time(now_millis, output);
  }
  Status prepare_barrier(Output& output) override { return guest_->prepare_barrier(output); }
  Status snapshot(OperatorState* state) override {
    PENSTOCK_RETURN_NOT_OK(PythonOperator::snapshot(state));
    return guest_->snapshot(state);
  }
  Status restore(const OperatorState& state) override { return guest_->restore(state); }
  Status checkpoint_completed(CheckpointId id) override { return guest_->checkpoint_completed(id); }
  Status end_input(Output& output) override { return guest_->end_input(output); }
  Status close() override;

 private:
  std::shared_ptr<Operator> guest_;
  Watch watch_;
};

}  // namespace penstock::bindings
