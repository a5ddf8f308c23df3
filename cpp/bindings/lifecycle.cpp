#include "bindings/lifecycle.h"

#include <string>

#include "bindings/errors.h"
#include "bindings/user_code.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Guarded by the GIL. Never freed: it may be asked for until the process ends.
PyObject* runtime_context_factory = nullptr;

Result<PyRef> make_runtime_context(const OperatorContext& context, PyObject* state_store) {
  if (runtime_context_factory == nullptr) {
    return Status::internal("functions cannot be opened: there is no runtime context factory");
  }
  const PyRef name = PyRef::adopt(PyUnicode_DecodeUTF8(
      context.name.data(), static_cast<Py_ssize_t>(context.name.size()), "replace"));
  const bool has_store = state_store != nullptr && state_store != Py_None;
  PyObject* made =
      name ? PyObject_CallFunction(runtime_context_factory, has_store ? "OiiiO" : "Oiii",
                                   name.get(), static_cast<int>(context.subtask),
                                   static_cast<int>(context.parallelism),
                                   static_cast<int>(context.max_parallelism), state_store)
           : nullptr;
  if (made == nullptr) return status_from_python_error("making the runtime context");
  return PyRef::adopt(made);
}

std::string name_of(const PyRef& object, const char* method) {
  return std::string(Py_TYPE(object.get())->tp_name) + "." + method + "() raised";
}

}  // namespace

void set_runtime_context_factory(py::object factory) {
  PyObject* const previous = runtime_context_factory;
  runtime_context_factory = factory.release().ptr();
  Py_XDECREF(previous);
}

Lifecycles::Lifecycles(const py::sequence& objects) {
  for (const py::handle object : objects) objects_.push_back(PyRef::share(object.ptr()));
}

Status Lifecycles::open(const OperatorContext& context, PyObject* state_store) {
  if (objects_.empty()) return Status::ok();
  const GilScope gil;
  PENSTOCK_RETURN_NOT_OK(initialize_state(context));
  PENSTOCK_ASSIGN_OR_RETURN(const PyRef runtime_context,
                            make_runtime_context(context, state_store));
  for (const PyRef& object : objects_) {
    ++opened_;  // first: close() is due even when open() fails half-way
    const PyRef result =
        PyRef::adopt(PyObject_CallMethod(object.get(), "open", "(O)", runtime_context.get()));
    if (!result) return status_from_python_error(name_of(object, "open"));
  }
  return Status::ok();
}

// As in Flink, before open().
Status Lifecycles::initialize_state(const OperatorContext& context) {
  for (const PyRef& object : objects_) {
    if (PyObject_HasAttrString(object.get(), "_initialize_state") == 0) continue;
    if (operator_state_ == nullptr) {
      operator_state_ = std::make_shared<OperatorStateStore>();
      operator_state_->restore(context.restored);
    }
    const py::object store = py::cast(operator_state_);
    const PyRef result =
        PyRef::adopt(PyObject_CallMethod(object.get(), "_initialize_state", "(O)", store.ptr()));
    if (!result) return status_from_python_error(name_of(object, "initialize_state"));
  }
  return Status::ok();
}

Status Lifecycles::snapshot(OperatorState* state) {
  if (operator_state_ == nullptr) return Status::ok();
  const GilScope gil;
  for (const PyRef& object : objects_) {
    if (PyObject_HasAttrString(object.get(), "_snapshot_state") == 0) continue;
    const PyRef result = PyRef::adopt(PyObject_CallMethod(
        object.get(), "_snapshot_state", "(L)", static_cast<long long>(state->request.id.value)));
    if (!result) return status_from_python_error(name_of(object, "snapshot_state"));
  }
  operator_state_->snapshot(state);
  return Status::ok();
}

Status Lifecycles::close() {
  if (opened_ == 0) return Status::ok();
  const GilScope gil;
  Status first;
  while (opened_ > 0) {
    const PyRef& object = objects_[--opened_];
    const PyRef result = PyRef::adopt(PyObject_CallMethod(object.get(), "close", nullptr));
    if (result) continue;
    Status status = status_from_python_error(name_of(object, "close"));
    if (first.is_ok()) first = std::move(status);
  }
  return first;
}

}  // namespace penstock::bindings
