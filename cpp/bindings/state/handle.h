// Plain CPython types around C++ objects: for what user code calls per record, where the dispatch
// of pybind11 costs more than the call itself.
//
// Handle<Impl> owns its Impl. Its methods are functions (Impl&, ...) -> new reference or nullptr with
// the Python error set, made into PyCFunctions by no_arguments<> and one_argument<>.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <Python.h>

#include <memory>
#include <utility>

#include "bindings/gil.h"

namespace penstock::bindings {

template <typename Impl>
struct Handle {
  PyObject_HEAD;
  Impl* impl;
};

template <typename Impl>
Impl& impl_of(PyObject* self) {
  return *reinterpret_cast<Handle<Impl>*>(self)->impl;
}

template <auto Method>
struct Bound;

template <typename Impl, PyObject* (*Function)(Impl&)>
struct Bound<Function> {
  static PyObject* call(PyObject* self, PyObject*) { return Function(impl_of<Impl>(self)); }
  static constexpr int kFlags = METH_NOARGS;
};
template <typename Impl, PyObject* (*Function)(Impl&, PyObject*)>
struct Bound<Function> {
  static PyObject* call(PyObject* self, PyObject* argument) {
    return Function(impl_of<Impl>(self), argument);
  }
  static constexpr int kFlags = METH_O;
};

template <auto Function>
constexpr PyMethodDef method(const char* name, const char* doc) {
  return {name, &Bound<Function>::call, Bound<Function>::kFlags, doc};
}

template <typename Impl>
void destroy_handle(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(self);
  delete reinterpret_cast<Handle<Impl>*>(self)->impl;
  type->tp_free(self);
  Py_DECREF(type);
}

// For an Impl that refers to objects of the user, which may refer back to the handle: their cycle is
// garbage that Python must be able to see. Impl::references() are pointers to its PyRefs.
template <typename Impl>
int traverse_handle(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Impl* const impl = reinterpret_cast<Handle<Impl>*>(self)->impl;
  if (impl == nullptr) return 0;  // not yet made
  for (const PyRef* reference : impl->references()) Py_VISIT(reference->get());
  return 0;
}
template <typename Impl>
int clear_handle(PyObject* self) {
  for (PyRef* reference : impl_of<Impl>(self).references()) reference->reset();
  return 0;
}
template <typename Impl>
concept RefersToObjects = requires(Impl& impl) { impl.references(); };

// A new type that Python code cannot make objects of. `slots` end with {0, nullptr} and hold at least
// the methods. nullptr with the Python error set.
template <typename Impl>
PyTypeObject* make_handle_type(const char* name, PyType_Slot* slots) {
  constexpr unsigned kCollected = RefersToObjects<Impl> ? Py_TPFLAGS_HAVE_GC : 0;
  PyType_Spec spec = {name, sizeof(Handle<Impl>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | kCollected, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

// New reference; nullptr with the Python error set.
template <typename Impl>
PyObject* make_handle(PyTypeObject* type, std::unique_ptr<Impl> impl) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self != nullptr) reinterpret_cast<Handle<Impl>*>(self)->impl = impl.release();
  return self;
}

inline PyObject* none() { return Py_NewRef(Py_None); }

}  // namespace penstock::bindings
