// The state that user functions hold in their hands: ValueState, ListState, MapState, ReducingState
// and AggregatingState, as plain CPython types.
//
// A handle looks at the current key of its StateAccess for each call. What it gives out is new: to
// change a list that was read changes nothing that is stored.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <string_view>

#include "bindings/state/state_access.h"
#include "bindings/value_codec.h"

namespace penstock::bindings {

// What all handles have.
struct StateHandle {
  StateAccessPtr access;
  std::string what;  // "state 'count'", for messages
  std::unique_ptr<const ValueCodec> codec;
  std::string scratch;

  [[nodiscard]] bool ready() const { return check_has_key(*access, what); }
  // Sets the Python error for `status`. Returns nullptr.
  PyObject* fail(const Status& status) const;
  // None when the status is good, else fail().
  PyObject* done(const Status& status) const;
  // `value` in scratch; false with the Python error set.
  bool encode(PyObject* value);
  // New reference; nullptr with the Python error set.
  [[nodiscard]] PyObject* decode(std::string_view bytes) const;
};

// New references, or nullptr with the Python error set.
PyObject* make_value_state(StateHandle base, ValueTable* table);
PyObject* make_list_state(StateHandle base, ListTable* table);
PyObject* make_map_state(StateHandle base, std::unique_ptr<const UserKeyCodec> keys,
                         MapTable* table);
PyObject* make_reducing_state(StateHandle base, PyRef reduce, ValueTable* table);
// The methods of the AggregateFunction.
struct AggregateMethods {
  PyRef create_accumulator;
  PyRef add;
  PyRef get_result;
};
PyObject* make_aggregating_state(StateHandle base, AggregateMethods methods, ValueTable* table);

// Makes the types and puts them into `module`, for isinstance() and the like.
void register_state_handles(pybind11::module_& module);

}  // namespace penstock::bindings
