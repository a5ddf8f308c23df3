#include "bindings/state/process_context.h"

#include "bindings/errors.h"
#include "bindings/key_codec.h"
#include "bindings/state/handle.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Guarded by the GIL, kept for the life of the process.
PyTypeObject* context_type = nullptr;
PyTypeObject* timer_service_type = nullptr;
PyObject* event_time = nullptr;
PyObject* processing_time = nullptr;

// --- the timer service ----------------------------------------------------------------------------------

struct TimerService {
  StateAccessPtr access;
};

using Queue = TimerQueue* StateAccess::*;
using Change = Status (TimerQueue::*)(const TimerView&);

// Changes a timer of the current key.
template <Queue kQueue, Change kChange>
PyObject* change_timer(TimerService& self, PyObject* time) {
  StateAccess& access = *self.access;
  if (access.*kQueue == nullptr) {
    return set_python_error(Status::type_error(
        "operator '" + access.operator_name +
        "' has no timers: they belong to keys, so they need a keyed stream (key_by) and an open "
        "operator"));
  }
  if (!check_has_key(access, "the timer service")) return nullptr;
  const long long timestamp = PyLong_AsLongLong(time);
  if (timestamp == -1 && PyErr_Occurred() != nullptr) return nullptr;
  const Status status = ((access.*kQueue)->*kChange)(
      {timestamp, access.current.key, access.current.hash, access.current.name_space});
  return status.is_ok() ? none() : set_python_error(status);
}

PyObject* current_watermark(TimerService& self) {
  return PyLong_FromLongLong(self.access->current_watermark);
}

PyObject* current_processing_time(TimerService& self) {
  if (self.access->clock == nullptr) {
    return set_python_error(Status::invalid("the timer service of operator '" +
                                            self.access->operator_name +
                                            "' was used after the operator was closed"));
  }
  return PyLong_FromLongLong(self.access->clock->now_millis());
}

constexpr auto kEvent = &StateAccess::event_timers;
constexpr auto kProcessing = &StateAccess::processing_timers;

PyMethodDef timer_service_methods[] = {
    method<&current_watermark>("current_watermark",
                               "current_watermark($self, /)\n--\n\n"
                               "The watermark, in milliseconds."),
    method<&current_processing_time>("current_processing_time",
                                     "current_processing_time($self, /)\n--\n\n"
                                     "The time, in milliseconds."),
    method<&change_timer<kEvent, &TimerQueue::add>>(
        "register_event_time_timer",
        "register_event_time_timer($self, timestamp, /)\n--\n\n"
        "on_timer() is called when the watermark passes the time."),
    method<&change_timer<kProcessing, &TimerQueue::add>>(
        "register_processing_time_timer",
        "register_processing_time_timer($self, timestamp, /)\n--\n\n"
        "on_timer() is called at the time."),
    method<&change_timer<kEvent, &TimerQueue::remove>>(
        "delete_event_time_timer",
        "delete_event_time_timer($self, timestamp, /)\n--\n\n"
        "Fine when there is no such timer."),
    method<&change_timer<kProcessing, &TimerQueue::remove>>(
        "delete_processing_time_timer",
        "delete_processing_time_timer($self, timestamp, /)\n--\n\n"
        "Fine when there is no such timer."),
    {}};

// --- the context ------------------------------------------------------------------------------------------

struct ProcessContext {
  StateAccessPtr access;
  PyRef timer_service;
};

PyObject* timestamp(ProcessContext& self) {
  return self.access->timestamp ? PyLong_FromLongLong(*self.access->timestamp) : none();
}

PyObject* timer_service(ProcessContext& self) { return Py_NewRef(self.timer_service.get()); }

PyObject* current_key(ProcessContext& self) {
  if (!check_has_key(*self.access, "the current key")) return nullptr;
  return decode_object_key(self.access->current.key);
}

PyObject* time_domain(ProcessContext& self) {
  if (self.access->time_domain != nullptr) return Py_NewRef(self.access->time_domain);
  return set_python_error(Status::invalid("only on_timer() has a time domain"));
}

PyMethodDef context_methods[] = {
    method<&timestamp>("timestamp",
                       "timestamp($self, /)\n--\n\n"
                       "Of the record or of the timer; None when there is none."),
    method<&timer_service>("timer_service",
                           "timer_service($self, /)\n--\n\n"
                           "Time, and timers of the current key."),
    method<&current_key>("get_current_key",
                         "get_current_key($self, /)\n--\n\n"
                         "The key of the record or of the timer."),
    method<&time_domain>("time_domain",
                         "time_domain($self, /)\n--\n\n"
                         "In on_timer(): whether event or processing time fired."),
    {}};

template <typename Impl>
PyTypeObject* make_type(py::module_& module, const char* name, PyMethodDef* methods) {
  PyType_Slot slots[] = {{Py_tp_methods, methods},
                         {Py_tp_dealloc, reinterpret_cast<void*>(&destroy_handle<Impl>)},
                         {0, nullptr}};
  const std::string full_name = std::string("penstock._core.state.") + name;
  PyTypeObject* const type = make_handle_type<Impl>(full_name.c_str(), slots);
  if (type == nullptr) throw py::error_already_set();
  module.add_object(name, py::handle(reinterpret_cast<PyObject*>(type)));
  return type;
}

}  // namespace

PyObject* make_process_context(const StateAccessPtr& access) {
  PyRef timers = PyRef::adopt(
      make_handle(timer_service_type, std::make_unique<TimerService>(TimerService{access})));
  if (!timers) return nullptr;
  auto context = std::make_unique<ProcessContext>(ProcessContext{access, std::move(timers)});
  return make_handle(context_type, std::move(context));
}

void set_time_domains(py::object event, py::object processing) {
  event_time = event.release().ptr();
  processing_time = processing.release().ptr();
}
PyObject* event_time_domain() { return event_time; }
PyObject* processing_time_domain() { return processing_time; }

void register_process_context(py::module_& module) {
  timer_service_type = make_type<TimerService>(module, "TimerServiceHandle", timer_service_methods);
  context_type = make_type<ProcessContext>(module, "ProcessContextHandle", context_methods);
}

}  // namespace penstock::bindings
