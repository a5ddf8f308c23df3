// Opening and closing the user's Function objects, and the base of operators that have some.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/gil.h"
#include "operators/operator.h"

namespace penstock::bindings {

// What makes the argument of open(): factory(name, subtask, parallelism, max_parallelism). One for
// the process. REQUIRES: the GIL.
void set_runtime_context_factory(pybind11::object factory);

// Objects with open(runtime_context) and close(). close() runs once for each object whose open()
// was called, also when that raised.
class Lifecycles {
 public:
  Lifecycles() = default;
  // REQUIRES: the GIL.
  explicit Lifecycles(const pybind11::sequence& objects);

  Status open(const OperatorContext& context);
  // Closes all, the last opened first; the first failure wins.
  Status close();

 private:
  std::vector<PyRef> objects_;
  size_t opened_ = 0;
};

// An operator that hosts user code.
class PythonOperator : public Operator {
 public:
  explicit PythonOperator(Lifecycles lifecycles) : lifecycles_(std::move(lifecycles)) {}
  Status open(const OperatorContext& context) override {
    PENSTOCK_RETURN_NOT_OK(Operator::open(context));
    return lifecycles_.open(context);
  }
  Status close() override { return lifecycles_.close(); }

 private:
  Lifecycles lifecycles_;
};

}  // namespace penstock::bindings
