// Calling user code: the calls themselves, what comes back, and what to say when they raise.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <Python.h>

#include <atomic>
#include <string>
#include <vector>

#include "bindings/gil.h"
#include "columnar/batch.h"
#include "common/status.h"

namespace penstock::bindings {

// New reference, or null with the Python error set.
inline PyObject* call_one(PyObject* callable, PyObject* argument) {
  PyObject* arguments[2] = {nullptr, argument};
  return PyObject_Vectorcall(callable, arguments + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}
inline PyObject* call_two(PyObject* callable, PyObject* first, PyObject* second) {
  PyObject* arguments[3] = {nullptr, first, second};
  return PyObject_Vectorcall(callable, arguments + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

// A row's object, borrowed.
inline PyObject* row_at(const Batch& rows, int64_t i) {
  return static_cast<PyObject*>(rows.rows.at(i));
}

// The record's repr for messages, cut to about 200 characters. Never fails.
std::string record_repr(PyObject* record);

// The current Python error as kUserError with the exception as its cause: "<what> raised on record
// <repr>: ZeroDivisionError: division by zero". REQUIRES: a Python error is set.
Status raised_on_record(const std::string& what, PyObject* record);

Status cancelled_in_user_code();

// Whether the job is being cancelled, for hosts of user code that have no OperatorContext.
class CancelFlag {
 public:
  // May be null: never cancelled.
  void watch(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }
  [[nodiscard]] bool is_set() const {
    return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<bool>* cancelled_ = nullptr;
};

// Collects new references until they become the rows of a batch; drops them when they do not.
class NewRows {
 public:
  NewRows() = default;
  ~NewRows();
  NewRows(const NewRows&) = delete;
  NewRows& operator=(const NewRows&) = delete;

  void reserve(int64_t count) { objects_.reserve(static_cast<size_t>(count)); }
  // Takes over the reference.
  void append(PyObject* object) { objects_.push_back(object); }
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(objects_.size()); }
  // Empty afterwards.
  Batch finish();

 private:
  std::vector<ObjectPtr> objects_;
};

// Calls `consume(new reference)` for each item of `iterable` until it returns a failure; false with
// a Python error set when `iterable` cannot be iterated over or raises.
template <typename Consume>
bool for_each_item(PyObject* iterable, Status* status, Consume consume) {
  if (PyList_CheckExact(iterable) || PyTuple_CheckExact(iterable)) {
    // The size is looked at each time: `consume` may let other Python code run.
    for (Py_ssize_t i = 0; status->is_ok() && i < PySequence_Fast_GET_SIZE(iterable); ++i) {
      *status = consume(Py_NewRef(PySequence_Fast_GET_ITEM(iterable, i)));
    }
    return true;
  }
  const PyRef iterator = PyRef::adopt(PyObject_GetIter(iterable));
  if (!iterator) return false;
  while (status->is_ok()) {
    PyObject* item = PyIter_Next(iterator.get());
    if (item == nullptr) return PyErr_Occurred() == nullptr;
    *status = consume(item);
  }
  return true;
}

}  // namespace penstock::bindings
