#include "operators/window/general_window_operator.h"

#include <string>
#include <utility>

#include "operators/window/general_window_snapshot.h"
#include "operators/window/window_plan.h"
#include "operators/window/window_snapshot.h"

namespace penstock::window {

namespace {

// How many results may wait before the functions' lock is given back and they are sent.
constexpr size_t kResultsPerScope = 8192;

// Java's Long.MAX_VALUE stands in where the sum leaves the range.
Timestamp saturating_add(Timestamp timestamp, int64_t amount) {
  Timestamp sum = 0;
  return __builtin_add_overflow(timestamp, amount, &sum) ? kMaxTimestamp : sum;
}

}  // namespace

class GeneralWindowOperator::Context final : public TriggerContext {
 public:
  // `entry` may be nullptr: the window has no contents.
  Context(GeneralWindowOperator* self, KeyedWindowView where, WindowEntry* entry)
      : self_(self), where_(where), entry_(entry) {}
  [[nodiscard]] Timestamp current_watermark() const override { return self_->current_watermark_; }
  void register_event_time_timer(Timestamp timestamp) override {
    self_->register_timer(where_, entry_, timestamp);
  }
  void delete_event_time_timer(Timestamp timestamp) override {
    if (entry_ != nullptr) entry_->forget_timers();
    self_->timers_.remove({timestamp, std::string(where_.key), where_.window});
  }

 private:
  GeneralWindowOperator* self_;
  KeyedWindowView where_;
  WindowEntry* entry_;
};

Result<std::shared_ptr<GeneralWindowOperator>> GeneralWindowOperator::create(
    GeneralWindowOptions options) {
  if (options.allowed_lateness_ms < 0) {
    return Status::invalid("the allowed lateness of a window cannot be negative: " +
                           std::to_string(options.allowed_lateness_ms) + " ms");
  }
  return std::shared_ptr<GeneralWindowOperator>(new GeneralWindowOperator(std::move(options)));
}

GeneralWindowOperator::~GeneralWindowOperator() { drop_all(); }

Timestamp GeneralWindowOperator::cleanup_time(const TimeWindow& window) const {
  return saturating_add(window.max_timestamp(), options_.allowed_lateness_ms);
}

bool GeneralWindowOperator::is_window_late(const TimeWindow& window) const {
  return cleanup_time(window) <= current_watermark_;
}

bool GeneralWindowOperator::is_element_late(Timestamp timestamp) const {
  return saturating_add(timestamp, options_.allowed_lateness_ms) <= current_watermark_;
}

void GeneralWindowOperator::register_timer(const KeyedWindowView& where, WindowEntry* entry,
                                           Timestamp timestamp) {
  if (entry != nullptr) {
    if (entry->knows_timer(timestamp)) return;
    entry->remember_timer(timestamp);
  }
  timers_.add({timestamp, std::string(where.key), where.window});
}

Status GeneralWindowOperator::check_batch(const Batch& batch) const {
  if (batch.is_columnar()) {
    return Status::type_error(
        "a window with user functions got columns; convert the stream to rows first");
  }
  PENSTOCK_RETURN_NOT_OK(check_has_timestamps(batch));
  if (!options_.window_all && batch.keys == nullptr) {
    return Status::internal("a keyed window got records without keys; call key_by before window");
  }
  return Status::ok();
}

Status GeneralWindowOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_RETURN_NOT_OK(check_batch(batch));
  const Timestamp* const timestamps = batch.timestamp_data();
  std::vector<int32_t> late;
  {
    const FunctionsScope scope(options_.functions.get());
    for (int64_t i = 0; i < batch.num_rows; ++i) {
      const std::string_view key =
          options_.window_all ? std::string_view() : batch.keys->bytes.bytes_at(i);
      bool skipped = true;
      PENSTOCK_RETURN_NOT_OK(process_element(key, batch.rows.at(i), timestamps[i], &skipped));
      if (skipped && is_element_late(timestamps[i])) late.push_back(static_cast<int32_t>(i));
    }
  }
  if (!late.empty()) PENSTOCK_RETURN_NOT_OK(send_late(batch, late, output));
  return send_results(output);
}

Status GeneralWindowOperator::process_element(std::string_view key, ObjectPtr element,
                                              Timestamp timestamp, bool* skipped) {
  if (timestamp == kMinTimestamp) {
    return Status::invalid(
        "a record has the smallest possible timestamp, which means it has none; call "
        "assign_timestamps_and_watermarks "
        "before the window");
  }
  windows_.clear();
  options_.assigner->assign(timestamp, &windows_);
  for (const TimeWindow& window : windows_) {
    if (is_window_late(window)) continue;
    *skipped = false;
    PENSTOCK_RETURN_NOT_OK(add_to_window({key, window}, element, timestamp));
  }
  return Status::ok();
}

Status GeneralWindowOperator::add_to_window(const KeyedWindowView& where, ObjectPtr element,
                                            Timestamp timestamp) {
  WindowEntry* const entry = contents_.find_or_create(where);
  PENSTOCK_ASSIGN_OR_RETURN(const ObjectPtr accumulator,
                            options_.functions->add(entry->accumulator.get(), element));
  entry->accumulator = ObjectRef::adopt(accumulator);
  Context context(this, where, entry);
  const TriggerResult result = options_.trigger->on_element(timestamp, where.window, context);
  if (is_fire(result)) PENSTOCK_RETURN_NOT_OK(emit_window(where, accumulator));
  const Timestamp cleanup = cleanup_time(where.window);
  // A window that lives for ever needs no timer to end it.
  if (cleanup != kMaxTimestamp) register_timer(where, entry, cleanup);
  if (is_purge(result)) contents_.erase(where);
  return Status::ok();
}

Status GeneralWindowOperator::process_watermark(Watermark watermark, Output& output) {
  if (watermark.timestamp <= current_watermark_) return Status::ok();
  // First of all: triggers and functions see the watermark that made them fire.
  current_watermark_ = watermark.timestamp;
  if (context_.metrics != nullptr) context_.metrics->current_watermark = current_watermark_;
  bool more = true;
  while (more) {
    PENSTOCK_ASSIGN_OR_RETURN(more, fire_some_timers());
    PENSTOCK_RETURN_NOT_OK(send_results(output));
  }
  return output.emit_watermark(watermark);
}

Result<bool> GeneralWindowOperator::fire_some_timers() {
  const auto due = [this] {
    return !timers_.empty() && timers_.peek()->timestamp <= current_watermark_;
  };
  if (!due()) return false;
  const FunctionsScope scope(options_.functions.get());
  while (due() && results_.size() < kResultsPerScope) {
    const WindowTimer timer = timers_.pop();
    PENSTOCK_RETURN_NOT_OK(on_timer(timer));
  }
  return due();
}

Status GeneralWindowOperator::on_timer(const WindowTimer& timer) {
  const KeyedWindowView where{timer.key, timer.window};
  WindowEntry* const entry = contents_.find(where);
  if (entry != nullptr) entry->forget_timers();
  Context context(this, where, entry);
  const TriggerResult result =
      options_.trigger->on_event_time(timer.timestamp, timer.window, context);
  if (is_fire(result) && entry != nullptr) {
    PENSTOCK_RETURN_NOT_OK(emit_window(where, entry->accumulator.get()));
  }
  if (timer.timestamp == cleanup_time(timer.window)) {
    options_.trigger->clear(timer.window, context);
    contents_.erase(where);
  } else if (is_purge(result)) {
    contents_.erase(where);
  }
  return Status::ok();
}

Status GeneralWindowOperator::emit_window(const KeyedWindowView& where, ObjectPtr accumulator) {
  const Status status =
      options_.functions->emit(where.key, where.window, accumulator, current_watermark_, &results_);
  result_timestamps_.resize(results_.size(), where.window.max_timestamp());
  if (status.is_ok() && context_.metrics != nullptr) context_.metrics->windows_fired += 1;
  return status;
}

Status GeneralWindowOperator::send_results(Output& output) {
  if (results_.empty()) return Status::ok();
  const auto count = static_cast<int64_t>(results_.size());
  Batch batch = make_rows({ObjectVector::adopt(std::exchange(results_, {})), 0, count});
  batch.timestamps = int64_column(std::exchange(result_timestamps_, {}));
  return output.emit(std::move(batch));
}

Status GeneralWindowOperator::send_late(const Batch& batch, const std::vector<int32_t>& rows,
                                        Output& output) {
  const auto count = static_cast<int64_t>(rows.size());
  if (!options_.late_side.has_value()) {
    if (context_.metrics != nullptr) context_.metrics->late_records_dropped += count;
    return Status::ok();
  }
  PENSTOCK_ASSIGN_OR_RETURN(Batch late, batch.take(rows.data(), count));
  return output.emit_side(*options_.late_side, std::move(late));
}

Status GeneralWindowOperator::snapshot(OperatorState* state) {
  const FunctionsScope scope(options_.functions.get());
  const bool keyed = !options_.window_all;
  PENSTOCK_RETURN_NOT_OK(snapshot_contents(contents_, keyed, options_.functions.get(),
                                           context_.max_parallelism, state));
  KeyedStateData data = make_timer_state(keyed);
  timers_.for_each(
      [&](const WindowTimer& timer) { add_timer(timer, context_.max_parallelism, &data); });
  state->keyed.push_back(std::move(data));
  snapshot_watermark(current_watermark_, state);
  return Status::ok();
}

Status GeneralWindowOperator::restore(const OperatorState& state) {
  const FunctionsScope scope(options_.functions.get());
  const bool keyed = !options_.window_all;
  PENSTOCK_ASSIGN_OR_RETURN(current_watermark_, restore_watermark(state));
  if (context_.metrics != nullptr) context_.metrics->current_watermark = current_watermark_;
  PENSTOCK_RETURN_NOT_OK(restore_contents(state, keyed, options_.functions.get(), &contents_));
  return restore_timers(state, keyed, [this](WindowTimer timer) { timers_.add(std::move(timer)); });
}

void GeneralWindowOperator::drop_all() {
  timers_.clear();
  if (contents_.entries().empty() && results_.empty()) return;
  const FunctionsScope scope(options_.functions.get());
  contents_.clear();
  ObjectVector::adopt(std::exchange(results_, {}));
  result_timestamps_.clear();
}

Status GeneralWindowOperator::close() {
  drop_all();
  return Status::ok();
}

}  // namespace penstock::window
