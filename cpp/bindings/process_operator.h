// ProcessOperator: hosts a ProcessFunction or a KeyedProcessFunction.
//
// Per record: process_element(value, ctx); per due timer: on_timer(timestamp, ctx); both may return
// None or anything that can be iterated over. A tuple (OutputTag, value) goes to that side output,
// everything else to the main one. Results have the timestamp of their record, or of the event-time
// timer; those of processing-time timers have none.
//
// The GIL is taken once per batch, and given back before results are emitted: many results go out in
// several batches. A watermark under which very many timers fire gives it back from time to time.
#pragma once

#include <string>
#include <vector>

#include "bindings/lifecycle.h"
#include "bindings/state/keyed_state_host.h"
#include "bindings/user_code.h"

namespace penstock::bindings {

class ProcessOperator final : public Operator {
 public:
  // `side_tags`: ids of the side outputs in the order of their numbers. REQUIRES: the GIL. Throws
  // pybind11::error_already_set when the function lacks a method.
  ProcessOperator(const pybind11::object& function, Lifecycles lifecycles,
                  std::vector<std::string> side_tags, bool keyed);

  Status open(const OperatorContext& context) override;
  Status process_batch(Batch batch, Output& output) override;
  Status process_watermark(Watermark watermark, Output& output) override;
  [[nodiscard]] int64_t next_processing_time() const override;
  Status on_processing_time(int64_t now_millis, Output& output) override;
  Status snapshot(OperatorState* state) override {
    PENSTOCK_RETURN_NOT_OK(lifecycles_.snapshot(state));
    return state_.snapshot(state);
  }
  Status checkpoint_completed(CheckpointId id) override { return state_.checkpoint_completed(id); }
  Status close() override;

 private:
  struct Results {
    NewRows rows;
    std::vector<Timestamp> timestamps;
  };
  enum class Timed : bool { kWithout, kWith };

  Status process_rows(const Batch& rows, Output& output);
  Status check_keys(const Batch& rows) const;
  // Fires due timers until none is left or it is time to let others have the GIL; `*more`: which of
  // the two.
  Status fire_timers(TimerQueue* queue, Timestamp until, Timed timed, Output& output, bool* more);
  Status fire_all(TimerQueue* queue, Timestamp until, Timed timed, Output& output);
  Status on_timer(const TimerView& timer, Timed timed, Output& output);
  // Takes the results of one call, a new reference or nullptr with the Python error set. `raised`
  // makes the failure of it.
  template <typename Raised>
  Status take_results(PyObject* returned, Timed timed, Output& output, Raised raised);
  // Sends what waits when it has become much: one call may yield without an end.
  Status take_result(PyRef result, Timed timed, Output& output);
  // REQUIRES: not the GIL.
  Status send(Timed timed, Output& output);
  static Status send_one(Results* results, Timed timed, Output& output, int32_t side);

  PyRef process_element_;
  PyRef on_timer_;
  Lifecycles lifecycles_;
  std::vector<std::string> side_tags_;
  const bool keyed_;
  KeyedStateHost state_;
  PyRef context_object_;
  PyRef output_tag_class_;
  std::vector<Results> results_;  // [0]: the main output, [1 + i]: side output i
};

}  // namespace penstock::bindings
