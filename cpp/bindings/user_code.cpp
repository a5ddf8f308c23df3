#include "bindings/user_code.h"

#include <pybind11/pybind11.h>

#include <utility>

#include "bindings/errors.h"
#include "bindings/object_ops.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

constexpr Py_ssize_t kMaxReprLength = 200;

std::string utf8(PyObject* text) {
  const PyRef bytes = PyRef::adopt(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) return {};
  return {PyBytes_AS_STRING(bytes.get()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

}  // namespace

std::string record_repr(PyObject* record) {
  const PyRef repr = PyRef::adopt(PyObject_Repr(record));
  std::string text;
  if (repr && PyUnicode_GET_LENGTH(repr.get()) <= kMaxReprLength) {
    text = utf8(repr.get());
  } else if (repr) {
    const PyRef start = PyRef::adopt(PyUnicode_Substring(repr.get(), 0, kMaxReprLength - 3));
    if (start) text = utf8(start.get()) + "...";
  }
  if (PyErr_Occurred() != nullptr) PyErr_Clear();  // a repr that fails must not hide the real error
  if (text.empty()) text = std::string("<") + Py_TYPE(record)->tp_name + " without a repr>";
  return text;
}

Status raised_on_record(const std::string& what, PyObject* record) {
  py::error_already_set error;  // fetched first: repr runs Python code
  return status_from_python_error(error, what + " raised on record " + record_repr(record));
}

Status cancelled_in_user_code() {
  return Status::cancelled("cancelled while user code was running");
}

// Those of a batch that failed may be dropped with their operator, on any thread.
NewRows::~NewRows() {
  if (!objects_.empty()) release_objects(objects_.data(), size());
}

Batch NewRows::finish() {
  const auto count = static_cast<int64_t>(objects_.size());
  return make_rows({ObjectVector::adopt(std::exchange(objects_, {})), 0, count});
}

}  // namespace penstock::bindings
