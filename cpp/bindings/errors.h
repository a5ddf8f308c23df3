// The one point where a failed Status becomes a Python exception, and a Python exception a Status.
//
// Everything here REQUIRES that the GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "common/status.h"

namespace penstock::bindings {

// Sets the Python error that stands for `status` (its class from penstock.errors or a built-in one,
// its __cause__ from status.cause()) and returns null: for functions that speak the plain C API.
// REQUIRES: !status.is_ok().
PyObject* set_python_error(const Status& status);

// The same for functions bound by pybind11: throws. REQUIRES: !status.is_ok().
[[noreturn]] void raise(const Status& status);

// Does nothing when `status` is OK.
inline void throw_status(const Status& status) {
  if (!status.is_ok()) [[unlikely]] {
    raise(status);
  }
}

// The value of `result`, or its exception.
template <typename T>
T unwrap(Result<T> result) {
  throw_status(result.status());
  return std::move(result).value();
}

// Fetches the current Python exception (and clears it) into kUserError: "<context>: ValueError:
// ...", with the exception itself as the cause. The cause may be dropped on any thread: it takes
// the GIL. REQUIRES: a Python error is set.
Status status_from_python_error(const std::string& context);

// The same for an exception that pybind11 has caught already.
Status status_from_python_error(pybind11::error_already_set& error, const std::string& context);

// Names used by the first bindings; the same as throw_status and unwrap.
inline void raise_not_ok(const Status& status) { throw_status(status); }

template <typename T>
T value_or_raise(Result<T> result) {
  return unwrap(std::move(result));
}

}  // namespace penstock::bindings
