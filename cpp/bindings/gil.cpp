#include "bindings/gil.h"

#include "bindings/object_ops.h"

namespace penstock::bindings {

namespace {

class KeptThreadState {
 public:
  KeptThreadState() = default;
  ~KeptThreadState() {
    if (state_ == nullptr || interpreter_is_gone()) return;
    PyEval_RestoreThread(state_);
    PyGILState_Release(PyGILState_UNLOCKED);  // the counterpart of keep(): deletes the state
  }
  KeptThreadState(const KeptThreadState&) = delete;
  KeptThreadState& operator=(const KeptThreadState&) = delete;

  // Does nothing on a thread that has a state already, from here or from Python.
  void keep() {
    if (state_ != nullptr || PyGILState_GetThisThreadState() != nullptr) return;
    PyGILState_Ensure();
    state_ = PyEval_SaveThread();
  }

 private:
  PyThreadState* state_ = nullptr;
};

thread_local KeptThreadState kept_thread_state;

PyGILState_STATE take_gil() {
  kept_thread_state.keep();
  return PyGILState_Ensure();
}

}  // namespace

bool interpreter_is_gone() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() == 0 || Py_IsFinalizing() != 0;
#else
  return Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0;
#endif
}

GilScope::GilScope() : state_(take_gil()) {}

void PyRef::reset() {
  if (object_ == nullptr) return;
  if (PyGILState_Check() != 0) [[likely]] {  // much cheaper than taking it again
    Py_DECREF(std::exchange(object_, nullptr));
    return;
  }
  ObjectPtr object = std::exchange(object_, nullptr);
  release_objects(&object, 1);
}

}  // namespace penstock::bindings
