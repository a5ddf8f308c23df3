// The Python types that keys are made of, looked up once and kept for the life of the process.
#pragma once

#include <Python.h>

namespace penstock::bindings {

struct KeyTypes {
  PyObject* decimal;
  PyObject* uuid;
  PyObject* enum_base;
  PyObject* utc;

  // REQUIRES: the GIL. Throws pybind11::error_already_set when the standard library cannot be
  // imported.
  static const KeyTypes& get();
};

}  // namespace penstock::bindings
