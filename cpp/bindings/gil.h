// Taking the GIL on any thread, and owning Python objects on any thread.
//
// A thread that Python did not make (a task's thread) keeps its Python thread state from its first
// GilScope until it ends. So threading.local and context variables (a Decimal context, for one)
// that user code sets in one batch are there in the next, and taking the GIL again is cheap.
// Whoever joins such a thread must not hold the GIL: the thread takes it once more when it ends.
#pragma once

#include <Python.h>

#include <utility>

namespace penstock::bindings {

// The interpreter has ended or is about to: a thread that asks for the GIL would never come back.
bool interpreter_is_gone();

// Holds the GIL. May be nested. REQUIRES: !interpreter_is_gone(), or the GIL is held already.
class GilScope {
 public:
  GilScope();
  ~GilScope() { PyGILState_Release(state_); }
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

 private:
  PyGILState_STATE state_;
};

// Gives the GIL back for as long as it lives. REQUIRES: the GIL.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { PyEval_RestoreThread(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// Owns one reference; may be dropped on any thread, with or without the GIL. Move-only.
class PyRef {
 public:
  PyRef() = default;
  // Takes over one reference.
  static PyRef adopt(PyObject* object) { return PyRef(object); }
  // Adds one. REQUIRES: the GIL.
  static PyRef share(PyObject* object) { return PyRef(Py_XNewRef(object)); }
  ~PyRef() { reset(); }
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  PyRef(const PyRef&) = delete;
  PyRef& operator=(const PyRef&) = delete;

  // Borrowed; nullptr when empty.
  [[nodiscard]] PyObject* get() const { return object_; }
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  // Gives the reference away.
  PyObject* release() { return std::exchange(object_, nullptr); }
  void reset();

 private:
  explicit PyRef(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

}  // namespace penstock::bindings
