// KeyedStateStore: where a function gets its state from in open(), by way of the RuntimeContext.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "bindings/state/state_access.h"

namespace penstock::bindings {

class KeyedStateStore {
 public:
  explicit KeyedStateStore(StateAccessPtr access) : access_(std::move(access)) {}

  // Each returns a handle. Types are texts of penstock.common.typeinfo, `ttl` is None or a tuple of
  // StateTtlConfig's parts. Throws what is wrong with them.
  pybind11::object value_state(const std::string& name, const std::string& type,
                               const pybind11::object& ttl);
  pybind11::object list_state(const std::string& name, const std::string& element_type,
                              const pybind11::object& ttl);
  pybind11::object map_state(const std::string& name, const std::string& key_type,
                             const std::string& value_type, const pybind11::object& ttl);
  pybind11::object reducing_state(const std::string& name, const std::string& type,
                                  const pybind11::object& reduce, const pybind11::object& ttl);
  pybind11::object aggregating_state(const std::string& name, const std::string& accumulator_type,
                                     const pybind11::object& create_accumulator,
                                     const pybind11::object& add,
                                     const pybind11::object& get_result,
                                     const pybind11::object& merge, const pybind11::object& ttl);

 private:
  StateAccessPtr access_;
};

void register_keyed_state_store(pybind11::module_& module);

}  // namespace penstock::bindings
