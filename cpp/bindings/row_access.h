// row[0] and row["name"] of penstock.common.Row, natively.
//
// Row is a Python class, whose own __getitem__ costs a Python call per access; user functions call
// it for every record. The class works without the core, so it keeps that method until the runtime
// puts this one in its place.
#pragma once

#include <pybind11/pybind11.h>

namespace penstock::bindings {

// Replaces __getitem__ of `row_class`, a subclass of tuple with a class attribute `_fields` (names,
// or None). What this does not know, a missing name say, it leaves to the method it replaced. Once
// per process.
void install_row_access(const pybind11::type& row_class);

}  // namespace penstock::bindings
