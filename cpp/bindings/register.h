// What each register_<area>.cpp offers to module.cpp: it adds its area to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace penstock::bindings {

void register_columnar(pybind11::module_& module);
void register_operators(pybind11::module_& module);
void register_record(pybind11::module_& module);
void register_snapshot(pybind11::module_& module);
void register_source(pybind11::module_& module);
void register_state(pybind11::module_& module);
void register_task(pybind11::module_& module);

}  // namespace penstock::bindings
