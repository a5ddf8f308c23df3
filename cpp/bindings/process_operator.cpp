#include "bindings/process_operator.h"

#include <utility>

#include "bindings/errors.h"
#include "bindings/key_codec.h"
#include "bindings/rows.h"
#include "bindings/state/keyed_state_store.h"
#include "bindings/state/process_context.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Results that may wait before they are sent, and timers that may fire before others get the GIL.
constexpr int64_t kMaxPendingRows = 65536;
constexpr int kTimersPerScope = 4096;

PyRef method_of(const py::object& object, const char* name) {
  return PyRef::adopt(object.attr(name).cast<py::object>().release().ptr());
}

// Sets the key of the record or timer that is processed for the length of a batch.
class KeyScope {
 public:
  explicit KeyScope(StateAccess* access) : access_(access) {}
  ~KeyScope() { access_->clear_key(); }
  KeyScope(const KeyScope&) = delete;
  KeyScope& operator=(const KeyScope&) = delete;

 private:
  StateAccess* access_;
};

}  // namespace

ProcessOperator::ProcessOperator(const py::object& function, Lifecycles lifecycles,
                                 std::vector<std::string> side_tags, bool keyed)
    : process_element_(method_of(function, "process_element")),
      lifecycles_(std::move(lifecycles)),
      side_tags_(std::move(side_tags)),
      keyed_(keyed),
      results_(1 + side_tags_.size()) {
  if (keyed_) on_timer_ = method_of(function, "on_timer");
  const py::object tag = py::module_::import("penstock.datastream.output_tag").attr("OutputTag");
  output_tag_class_ = PyRef::share(tag.ptr());
}

Status ProcessOperator::open(const OperatorContext& context) {
  PENSTOCK_RETURN_NOT_OK(Operator::open(context));
  PENSTOCK_RETURN_NOT_OK(keyed_ ? state_.open_keyed(context, /*timers=*/true)
                                : state_.open_unkeyed(context));
  const GilScope gil;
  context_object_ = PyRef::adopt(make_process_context(state_.access()));
  if (!context_object_) return status_from_python_error("making the context");
  py::object store = py::none();
  if (keyed_) store = py::cast(std::make_shared<KeyedStateStore>(state_.access()));
  return lifecycles_.open(context, store.ptr());
}

Status ProcessOperator::check_keys(const Batch& rows) const {
  if (!keyed_ || rows.keys != nullptr) return Status::ok();
  return Status::internal("a keyed process function got records without keys; call key_by before");
}

Status ProcessOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  Timed timed = Timed::kWithout;
  {
    const GilScope gil;
    const Batch input = std::move(batch);  // dropped while the GIL is held
    PENSTOCK_ASSIGN_OR_RETURN(const Batch rows, as_rows(input));
    PENSTOCK_RETURN_NOT_OK(check_keys(rows));
    if (keyed_) PENSTOCK_RETURN_NOT_OK(state_->backend->prepare(*rows.keys));
    timed = rows.has_timestamps() ? Timed::kWith : Timed::kWithout;
    PENSTOCK_RETURN_NOT_OK(process_rows(rows, output));
  }
  return send(timed, output);
}

Status ProcessOperator::process_rows(const Batch& rows, Output& output) {
  const KeyScope scope(state_.access().get());
  const Timestamp* const timestamps = rows.timestamp_data();
  const Timed timed = timestamps == nullptr ? Timed::kWithout : Timed::kWith;
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (context_.is_cancelled()) return cancelled_in_user_code();
    if (keyed_)
      state_->set_key(rows.keys->bytes.bytes_at(i), rows.keys->hashes[static_cast<size_t>(i)]);
    if (timestamps != nullptr) state_->timestamp = timestamps[i];
    PyObject* const row = row_at(rows, i);
    PENSTOCK_RETURN_NOT_OK(
        take_results(call_two(process_element_.get(), row, context_object_.get()), timed, output,
                     [row] { return raised_on_record("process_element()", row); }));
  }
  return Status::ok();
}

template <typename Raised>
Status ProcessOperator::take_results(PyObject* returned, Timed timed, Output& output,
                                     Raised raised) {
  if (returned == Py_None) {
    Py_DECREF(returned);
    return Status::ok();
  }
  const PyRef results = PyRef::adopt(returned);
  if (!results) return raised();
  Status status;
  const bool iterated = for_each_item(results.get(), &status, [&](PyObject* item) {
    return take_result(PyRef::adopt(item), timed, output);
  });
  return iterated ? status : raised();
}

Status ProcessOperator::take_result(PyRef result, Timed timed, Output& output) {
  if (context_.is_cancelled()) return cancelled_in_user_code();
  size_t place = 0;
  PyObject* const item = result.get();
  const bool may_be_tagged = PyTuple_CheckExact(item) && PyTuple_GET_SIZE(item) == 2;
  if (may_be_tagged &&
      PyObject_TypeCheck(PyTuple_GET_ITEM(item, 0),
                         reinterpret_cast<PyTypeObject*>(output_tag_class_.get()))) {
    const py::str id = py::handle(PyTuple_GET_ITEM(item, 0)).attr("tag_id");
    const auto text = static_cast<std::string>(id);
    for (size_t i = 0; i < side_tags_.size(); ++i) {
      if (side_tags_[i] == text) place = 1 + i;
    }
    if (place == 0) return Status::ok();  // nobody reads that side output
    result = PyRef::share(PyTuple_GET_ITEM(item, 1));
  }
  Results& results = results_[place];
  results.rows.append(result.release());
  results.timestamps.push_back(state_->timestamp.value_or(kMinTimestamp));
  if (results.rows.size() < kMaxPendingRows) return Status::ok();
  const GilRelease release;
  return send(timed, output);
}

Status ProcessOperator::process_watermark(Watermark watermark, Output& output) {
  if (watermark.timestamp <= state_->current_watermark) return Status::ok();
  // First of all: functions see the watermark that made their timers fire.
  state_->current_watermark = watermark.timestamp;
  if (keyed_)
    PENSTOCK_RETURN_NOT_OK(
        fire_all(state_->event_timers, watermark.timestamp, Timed::kWith, output));
  return output.emit_watermark(watermark);
}

int64_t ProcessOperator::next_processing_time() const {
  const TimerQueue* const queue = state_.access()->processing_timers;
  return queue == nullptr || queue->is_empty() ? kMaxTimestamp : queue->next();
}

Status ProcessOperator::on_processing_time(int64_t now_millis, Output& output) {
  if (!keyed_) return Status::ok();
  return fire_all(state_->processing_timers, now_millis, Timed::kWithout, output);
}

Status ProcessOperator::fire_all(TimerQueue* queue, Timestamp until, Timed timed, Output& output) {
  bool more = !queue->is_empty() && queue->next() <= until;
  while (more) {
    {
      const GilScope gil;
      PENSTOCK_RETURN_NOT_OK(fire_timers(queue, until, timed, output, &more));
    }
    PENSTOCK_RETURN_NOT_OK(send(timed, output));
    if (more && context_.yield) PENSTOCK_RETURN_NOT_OK(context_.yield());
  }
  return Status::ok();
}

Status ProcessOperator::fire_timers(TimerQueue* queue, Timestamp until, Timed timed, Output& output,
                                    bool* more) {
  const KeyScope scope(state_.access().get());
  state_->time_domain =
      queue == state_->event_timers ? event_time_domain() : processing_time_domain();
  for (int i = 0; i < kTimersPerScope; ++i) {
    if (context_.is_cancelled()) return cancelled_in_user_code();
    TimerView timer;
    PENSTOCK_ASSIGN_OR_RETURN(*more, queue->pop_due(until, &timer));
    if (!*more) return Status::ok();
    PENSTOCK_RETURN_NOT_OK(on_timer(timer, timed, output));
  }
  return Status::ok();
}

Status ProcessOperator::on_timer(const TimerView& timer, Timed timed, Output& output) {
  state_->set_key(timer.key, timer.hash);
  state_->timestamp = timer.timestamp;
  const PyRef timestamp = PyRef::adopt(PyLong_FromLongLong(timer.timestamp));
  if (!timestamp) return status_from_python_error("on_timer()");
  const auto raised = [&] {
    py::error_already_set error;  // fetched first: reading the key back runs Python code
    const PyRef key = PyRef::adopt(decode_object_key(timer.key));
    if (!key) PyErr_Clear();
    return status_from_python_error(error, "on_timer(" + std::to_string(timer.timestamp) +
                                               ") of key " + (key ? record_repr(key.get()) : "?") +
                                               " raised");
  };
  return take_results(call_two(on_timer_.get(), timestamp.get(), context_object_.get()), timed,
                      output, raised);
}

Status ProcessOperator::send_one(Results* results, Timed timed, Output& output, int32_t side) {
  if (results->rows.size() == 0) return Status::ok();
  Batch batch = results->rows.finish();
  std::vector<Timestamp> timestamps = std::exchange(results->timestamps, {});
  if (timed == Timed::kWith) batch.timestamps = int64_column(std::move(timestamps));
  return side < 0 ? output.emit(std::move(batch)) : output.emit_side(side, std::move(batch));
}

Status ProcessOperator::send(Timed timed, Output& output) {
  for (size_t i = 0; i < results_.size(); ++i) {
    PENSTOCK_RETURN_NOT_OK(send_one(&results_[i], timed, output, static_cast<int32_t>(i) - 1));
  }
  return Status::ok();
}

Status ProcessOperator::close() {
  Status status = lifecycles_.close();
  const GilScope gil;
  context_object_ = PyRef();
  Status closed = state_.close();
  return status.is_ok() ? closed : status;
}

}  // namespace penstock::bindings
