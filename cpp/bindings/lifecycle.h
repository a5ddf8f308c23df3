// Opening and closing the user's Function objects, and the base of operators that have some.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/gil.h"
#include "bindings/state/operator_state_store.h"
#include "operators/operator.h"

namespace penstock::bindings {

// What makes the argument of open(): factory(name, subtask, parallelism, max_parallelism[, state
// store]). One for
// the process. REQUIRES: the GIL.
void set_runtime_context_factory(pybind11::object factory);

// Objects with open(runtime_context) and close(), and perhaps, of a CheckpointedFunction,
// _initialize_state(store) (called before open) and _snapshot_state(checkpoint id). close() runs once for each object whose open()
// was called, also when that raised.
class Lifecycles {
 public:
  Lifecycles() = default;
  // REQUIRES: the GIL.
  explicit Lifecycles(const pybind11::sequence& objects);

  // `state_store`: what keyed functions get their state from, the factory's fifth argument; nullptr
  // or None: there is none.
  Status open(const OperatorContext& context, PyObject* state_store = nullptr);
  // What the CheckpointedFunctions among them want to keep.
  Status snapshot(OperatorState* state);
  // Closes all, the last opened first; the first failure wins.
  Status close();

 private:
  Status initialize_state(const OperatorContext& context);

  std::vector<PyRef> objects_;
  std::shared_ptr<OperatorStateStore> operator_state_;  // null: no object is a CheckpointedFunction
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
  Status snapshot(OperatorState* state) override { return lifecycles_.snapshot(state); }
  Status close() override { return lifecycles_.close(); }

 private:
  Lifecycles lifecycles_;
};

}  // namespace penstock::bindings
