// Stream elements <-> Python tuples: ("batch", Batch), ("watermark", ms), ("status", idle),
// ("barrier", id), ("end",).
//
// Everything here REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "record/element.h"

namespace penstock::bindings {

// Throws ValueError or TypeError when the tuple is no element.
Element element_from_python(const pybind11::tuple& tuple);
pybind11::tuple element_to_python(Element element);

}  // namespace penstock::bindings
