// The `ctx` of process functions and its timer service, as plain CPython types.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "bindings/state/state_access.h"

namespace penstock::bindings {

// New reference; nullptr with the Python error set.
PyObject* make_process_context(const StateAccessPtr& access);

// The members of penstock.datastream's TimeDomain. Kept for the life of the process.
void set_time_domains(pybind11::object event_time, pybind11::object processing_time);
// Borrowed; nullptr when they were not set.
PyObject* event_time_domain();
PyObject* processing_time_domain();

void register_process_context(pybind11::module_& module);

}  // namespace penstock::bindings
