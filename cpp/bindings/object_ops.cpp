#include "bindings/object_ops.h"

#include <Python.h>

#include "bindings/gil.h"

namespace penstock::bindings {

void release_objects(ObjectPtr const* objects, int64_t count) {
  // While finalizing, the main thread may still drop what it holds; any other thread would hang.
  if (interpreter_is_gone() && PyGILState_Check() == 0) return;
  const GilScope gil;
  for (int64_t i = 0; i < count; ++i) Py_XDECREF(static_cast<PyObject*>(objects[i]));
}

void retain_objects(ObjectPtr const* objects, int64_t count) {
  const GilScope gil;
  for (int64_t i = 0; i < count; ++i) Py_XINCREF(static_cast<PyObject*>(objects[i]));
}

void install_python_object_ops() {
  install_object_ops({.retain_many = retain_objects, .release_many = release_objects});
}

}  // namespace penstock::bindings
