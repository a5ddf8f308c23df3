#include "bindings/errors.h"

#include <memory>

#include "bindings/object_ops.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

py::object own_exception(const char* name) {
  return py::module_::import("penstock.errors").attr(name);
}

py::object exception_type(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
      return py::reinterpret_borrow<py::object>(PyExc_ValueError);
    case StatusCode::kTypeError:
      return py::reinterpret_borrow<py::object>(PyExc_TypeError);
    case StatusCode::kKeyError:
      return py::reinterpret_borrow<py::object>(PyExc_KeyError);
    case StatusCode::kOverflow:
      return py::reinterpret_borrow<py::object>(PyExc_OverflowError);
    case StatusCode::kIoError:
      return py::reinterpret_borrow<py::object>(PyExc_OSError);
    case StatusCode::kNotSupported:
      return py::reinterpret_borrow<py::object>(PyExc_NotImplementedError);
    case StatusCode::kCorruption:
      return own_exception("CheckpointError");
    case StatusCode::kCancelled:
      return own_exception("JobCancelledError");
    case StatusCode::kUserError:
      return own_exception("UserCodeError");
    case StatusCode::kInternal:
    case StatusCode::kOk:
      break;
  }
  return own_exception("PenstockError");
}

// The exception object of `status`, chained to its cause.
py::object make_exception(const Status& status) {
  const py::str message = py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
      status.message().data(), static_cast<Py_ssize_t>(status.message().size()), "replace"));
  if (!message) throw py::error_already_set();
  py::object exception = exception_type(status.code())(message);
  if (const auto cause = status.cause()) {
    auto* object = static_cast<PyObject*>(cause.get());
    PyException_SetCause(exception.ptr(), Py_NewRef(object));
  }
  return exception;
}

Status status_of(py::object exception, const std::string& context) {
  std::string message = context.empty() ? "" : context + ": ";
  message += Py_TYPE(exception.ptr())->tp_name;
  const auto text = py::reinterpret_steal<py::object>(PyObject_Str(exception.ptr()));
  const char* bytes = text ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (bytes == nullptr) {
    PyErr_Clear();  // an exception whose str() fails is reported by its type alone
  } else if (*bytes != '\0') {
    message += std::string(": ") + bytes;
  }
  std::shared_ptr<void> cause(exception.release().ptr(),
                              [](void* object) { release_objects(&object, 1); });
  return {StatusCode::kUserError, std::move(message), std::move(cause)};
}

}  // namespace

PyObject* set_python_error(const Status& status) {
  try {
    const py::object exception = make_exception(status);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (py::error_already_set& error) {
    error.restore();
  }
  return nullptr;
}

void raise(const Status& status) {
  set_python_error(status);
  throw py::error_already_set();
}

Status status_from_python_error(const std::string& context) {
  py::error_already_set error;
  return status_from_python_error(error, context);
}

Status status_from_python_error(py::error_already_set& error, const std::string& context) {
  auto exception = py::reinterpret_borrow<py::object>(error.value());
  if (error.trace()) PyException_SetTraceback(exception.ptr(), error.trace().ptr());
  return status_of(std::move(exception), context);
}

}  // namespace penstock::bindings
