// OperatorStateStore: the state of a function that belongs to no key: lists that are split or given
// whole to every subtask when the parallelism changes, and broadcast maps.
//
// A CheckpointedFunction gets its lists in initialize_state() and fills them in snapshot_state(). They
// live here, as encoded items, until the operator closes; those of an earlier run that nobody asked
// for stay, and enter every later snapshot.
//
// Everything here but the destructor REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operators/operator.h"

namespace penstock::bindings {

class OperatorStateStore {
 public:
  // `restored` may be nullptr.
  void restore(const OperatorState* restored);
  void snapshot(OperatorState* state) const;
  [[nodiscard]] bool is_restored() const { return is_restored_; }

  // Each returns a handle. Throws when the name is known with another kind or type.
  pybind11::object list_state(const std::string& name, const std::string& element_type,
                              bool is_union);
  pybind11::object broadcast_state(const std::string& name, const std::string& key_type,
                                   const std::string& value_type);

 private:
  using ListPtr = std::shared_ptr<ListStateData>;
  ListPtr find_or_add(const StateMeta& meta);

  std::map<std::string, ListPtr> lists_;
  bool is_restored_ = false;
};

void register_operator_state_store(pybind11::module_& module);

}  // namespace penstock::bindings
