#include "bindings/python_window_functions.h"

#include "bindings/errors.h"
#include "bindings/key_codec.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

PyObject* object_of(ObjectPtr pointer) { return static_cast<PyObject*>(pointer); }

std::string describe(const window::TimeWindow& window) {
  return "[" + std::to_string(window.start) + ", " + std::to_string(window.end) + ")";
}

Result<PyRef> key_object(std::string_view key) {
  if (key.empty()) return PyRef::share(Py_None);  // a window over all keys
  PyObject* object = decode_object_key(key);
  if (object == nullptr) return status_from_python_error("reading a key back");
  return PyRef::adopt(object);
}

// Looks the method up once, so that each call is a plain one.
PyRef method_of(const py::object& object, const char* name) {
  return PyRef::adopt(object.attr(name).cast<py::object>().release().ptr());
}

}  // namespace

void PythonWindowFunctions::begin() {
  if (interpreter_is_gone() && PyGILState_Check() == 0) return;
  gil_.emplace();
}

Status PythonWindowFunctions::emit(std::string_view key, const window::TimeWindow& window,
                                   ObjectPtr accumulator, Timestamp watermark,
                                   std::vector<ObjectPtr>* out) {
  if (is_cancelled()) return cancelled_in_user_code();
  PENSTOCK_ASSIGN_OR_RETURN(PyRef result, result_of(object_of(accumulator)));
  if (window_function_) return evaluate(key, window, watermark, result.get(), out);
  out->push_back(result.release());
  return Status::ok();
}

Status PythonWindowFunctions::evaluate(std::string_view key, const window::TimeWindow& window,
                                       Timestamp watermark, PyObject* result,
                                       std::vector<ObjectPtr>* out) {
  PENSTOCK_ASSIGN_OR_RETURN(const PyRef key_value, key_object(key));
  const auto raised = [&] {
    py::error_already_set error;
    return status_from_python_error(error, "window function raised for key " +
                                               record_repr(key_value.get()) + " and window " +
                                               describe(window) + " on " + record_repr(result));
  };
  const PyRef results = PyRef::adopt(PyObject_CallFunction(
      window_function_.get(), "OLLL[O]", key_value.get(), static_cast<long long>(window.start),
      static_cast<long long>(window.end), static_cast<long long>(watermark), result));
  if (!results) return raised();
  if (results.get() == Py_None) return Status::ok();
  Status status;
  const bool iterated = for_each_item(results.get(), &status, [this, out](PyObject* item) {
    out->push_back(item);
    return is_cancelled() ? cancelled_in_user_code() : Status::ok();
  });
  return iterated ? status : raised();
}

Result<std::string> PythonWindowFunctions::serialise(ObjectPtr accumulator) {
  const auto dump = [&](const char* module) {
    const py::bytes bytes =
        py::module_::import(module).attr("dumps")(py::handle(object_of(accumulator)), 5);
    return static_cast<std::string>(bytes);
  };
  try {
    return dump("pickle");
  } catch (py::error_already_set&) {  // lambdas, and classes of a program that runs elsewhere
  }
  try {
    return dump("cloudpickle");
  } catch (py::error_already_set& error) {
    return status_from_python_error(
        error, "a window's accumulator cannot be pickled, so it cannot enter a checkpoint: " +
                   record_repr(object_of(accumulator)));
  }
}

Result<ObjectPtr> PythonWindowFunctions::deserialise(std::string_view bytes) {
  try {
    py::object object =
        py::module_::import("pickle").attr("loads")(py::bytes(bytes.data(), bytes.size()));
    return static_cast<ObjectPtr>(object.release().ptr());
  } catch (py::error_already_set& error) {
    return status_from_python_error(error, "reading a window's accumulator back");
  }
}

Result<ObjectPtr> ReduceWindowFunctions::add(ObjectPtr accumulator, ObjectPtr element) {
  if (is_cancelled()) return cancelled_in_user_code();
  if (accumulator == nullptr) return static_cast<ObjectPtr>(Py_NewRef(object_of(element)));
  PyObject* reduced = call_two(function_.get(), object_of(accumulator), object_of(element));
  if (reduced == nullptr) return raised_on_record("reduce function", object_of(element));
  return static_cast<ObjectPtr>(reduced);
}

AggregateWindowFunctions::AggregateWindowFunctions(const py::object& function,
                                                   PyRef window_function)
    : PythonWindowFunctions(std::move(window_function)),
      create_accumulator_(method_of(function, "create_accumulator")),
      add_(method_of(function, "add")),
      get_result_(method_of(function, "get_result")) {}

Result<ObjectPtr> AggregateWindowFunctions::add(ObjectPtr accumulator, ObjectPtr element) {
  if (is_cancelled()) return cancelled_in_user_code();
  PyRef first;
  if (accumulator == nullptr) {
    first = PyRef::adopt(PyObject_CallNoArgs(create_accumulator_.get()));
    if (!first) return raised_on_record("create_accumulator()", object_of(element));
    accumulator = first.get();
  }
  PyObject* added = call_two(add_.get(), object_of(element), object_of(accumulator));
  if (added == nullptr) return raised_on_record("aggregate function", object_of(element));
  return static_cast<ObjectPtr>(added);
}

Result<PyRef> AggregateWindowFunctions::result_of(PyObject* accumulator) {
  PyObject* result = call_one(get_result_.get(), accumulator);
  if (result == nullptr) {
    return status_from_python_error("get_result() raised on accumulator " +
                                    record_repr(accumulator));
  }
  return PyRef::adopt(result);
}

}  // namespace penstock::bindings
