// The user's window functions in Python: reduce functions and AggregateFunctions, with or without a
// window function behind them.
//
// begin() takes the GIL and end() gives it back; both are called by the subtask's thread. When the
// interpreter is gone they do nothing, and dropped accumulators are leaked.
// Accumulators enter snapshots as pickles: by pickle, or by cloudpickle where pickle cannot.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/user_code.h"
#include "operators/window/window_functions.h"

namespace penstock::bindings {

class PythonWindowFunctions : public window::WindowFunctions {
 public:
  // `window_function`(key, start, end, watermark, [result]) -> iterable or None; empty: the bare
  // result is emitted.
  explicit PythonWindowFunctions(PyRef window_function)
      : window_function_(std::move(window_function)) {}

  void begin() override;
  void end() override { gil_.reset(); }
  Status emit(std::string_view key, const window::TimeWindow& window, ObjectPtr accumulator,
              Timestamp watermark, std::vector<ObjectPtr>* out) override;
  Result<std::string> serialise(ObjectPtr accumulator) override;
  Result<ObjectPtr> deserialise(std::string_view bytes) override;
  CancelFlag* cancel_flag() { return &cancelled_; }

 protected:
  [[nodiscard]] bool is_cancelled() const { return cancelled_.is_set(); }
  // What a window with this accumulator results in.
  virtual Result<PyRef> result_of(PyObject* accumulator) = 0;

 private:
  Status evaluate(std::string_view key, const window::TimeWindow& window, Timestamp watermark,
                  PyObject* result, std::vector<ObjectPtr>* out);

  PyRef window_function_;
  std::optional<GilScope> gil_;
  CancelFlag cancelled_;
};

class ReduceWindowFunctions final : public PythonWindowFunctions {
 public:
  ReduceWindowFunctions(PyRef function, PyRef window_function)
      : PythonWindowFunctions(std::move(window_function)), function_(std::move(function)) {}
  Result<ObjectPtr> add(ObjectPtr accumulator, ObjectPtr element) override;
  [[nodiscard]] std::string value_type() const override { return "pickle:reduce"; }

 protected:
  Result<PyRef> result_of(PyObject* accumulator) override { return PyRef::share(accumulator); }

 private:
  PyRef function_;
};

class AggregateWindowFunctions final : public PythonWindowFunctions {
 public:
  // `function` is an AggregateFunction. Throws pybind11::error_already_set when it lacks a method.
  // REQUIRES: the GIL.
  AggregateWindowFunctions(const pybind11::object& function, PyRef window_function);
  Result<ObjectPtr> add(ObjectPtr accumulator, ObjectPtr element) override;
  [[nodiscard]] std::string value_type() const override { return "pickle:aggregate"; }

 protected:
  Result<PyRef> result_of(PyObject* accumulator) override;

 private:
  PyRef create_accumulator_;
  PyRef add_;
  PyRef get_result_;
};

}  // namespace penstock::bindings
