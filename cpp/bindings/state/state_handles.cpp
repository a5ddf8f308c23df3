#include "bindings/state/state_handles.h"

#include <array>
#include <utility>
#include <vector>

#include "bindings/errors.h"
#include "bindings/state/handle.h"
#include "bindings/user_code.h"

namespace py = pybind11;

namespace penstock::bindings {

PyObject* StateHandle::fail(const Status& status) const {
  return set_python_error(status.with_context(what));
}

PyObject* StateHandle::done(const Status& status) const {
  return status.is_ok() ? none() : fail(status);
}

bool StateHandle::encode(PyObject* value) {
  scratch.clear();
  const Converting converting(access.get());
  const Status status = codec->encode(value, &scratch);
  if (!status.is_ok()) (void)fail(status);
  return status.is_ok();
}

PyObject* StateHandle::decode(std::string_view bytes) const {
  const Converting converting(access.get());
  return codec->decode_all(bytes);
}

namespace {

// --- ValueState ------------------------------------------------------------------------------------

struct ValueState : StateHandle {
  ValueTable* table;
  ValueState(StateHandle base, ValueTable* t) : StateHandle(std::move(base)), table(t) {}
};

// The stored value; None (borrowed from nowhere: a new reference) when there is none.
PyObject* stored_value(StateHandle& self, ValueTable* table) {
  auto found = table->get(self.access->current);
  if (!found.is_ok()) return self.fail(found.status());
  return found.value() ? self.decode(*found.value()) : none();
}

PyObject* value_get(ValueState& self) {
  return self.ready() ? stored_value(self, self.table) : nullptr;
}

PyObject* value_clear(ValueState& self) {
  return self.ready() ? self.done(self.table->remove(self.access->current)) : nullptr;
}

PyObject* value_update(ValueState& self, PyObject* value) {
  if (value == Py_None) return value_clear(self);
  if (!self.ready() || !self.encode(value)) return nullptr;
  return self.done(self.table->put(self.access->current, self.scratch));
}

// --- ListState -------------------------------------------------------------------------------------

struct ListState : StateHandle {
  ListTable* table;
  std::vector<std::string_view> elements{};
  ListState(StateHandle base, ListTable* t) : StateHandle(std::move(base)), table(t) {}
};

PyObject* list_get(ListState& self) {
  if (!self.ready()) return nullptr;
  const Status status = self.table->get(self.access->current, &self.elements);
  if (!status.is_ok()) return self.fail(status);
  PyRef list = PyRef::adopt(PyList_New(static_cast<Py_ssize_t>(self.elements.size())));
  for (size_t i = 0; list && i < self.elements.size(); ++i) {
    PyObject* const element = self.decode(self.elements[i]);
    if (element == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), element);
  }
  return list.release();
}

PyObject* list_add(ListState& self, PyObject* value) {
  if (!self.ready() || !self.encode(value)) return nullptr;
  return self.done(self.table->add(self.access->current, self.scratch));
}

// The encodings of all `values`; false with the Python error set, and nothing was changed.
bool encode_all(ListState& self, PyObject* values, std::vector<std::string>* out) {
  const PyRef items = PyRef::adopt(PySequence_Fast(values, "a list of elements is needed"));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    if (!self.encode(PySequence_Fast_GET_ITEM(items.get(), i))) return false;
    out->push_back(self.scratch);
  }
  return true;
}

PyObject* list_add_all(ListState& self, PyObject* values) {
  std::vector<std::string> encoded;
  if (!self.ready() || !encode_all(self, values, &encoded)) return nullptr;
  for (const std::string& element : encoded) {
    const Status status = self.table->add(self.access->current, element);
    if (!status.is_ok()) return self.fail(status);
  }
  return none();
}

PyObject* list_update(ListState& self, PyObject* values) {
  std::vector<std::string> encoded;
  if (!self.ready() || !encode_all(self, values, &encoded)) return nullptr;
  return self.done(self.table->update(self.access->current, {encoded.begin(), encoded.end()}));
}

PyObject* list_clear(ListState& self) {
  return self.ready() ? self.done(self.table->clear(self.access->current)) : nullptr;
}

PyObject* list_iterate(PyObject* self) {
  const PyRef list = PyRef::adopt(list_get(impl_of<ListState>(self)));
  return list ? PyObject_GetIter(list.get()) : nullptr;
}

// --- ReducingState and AggregatingState ---------------------------------------------------------------

struct ReducingState : StateHandle {
  PyRef reduce;
  ValueTable* table;
  ReducingState(StateHandle base, PyRef function, ValueTable* t)
      : StateHandle(std::move(base)), reduce(std::move(function)), table(t) {}
  std::array<PyRef*, 1> references() { return {&reduce}; }
};

PyObject* reducing_get(ReducingState& self) {
  return self.ready() ? stored_value(self, self.table) : nullptr;
}

PyObject* reducing_clear(ReducingState& self) {
  return self.ready() ? self.done(self.table->remove(self.access->current)) : nullptr;
}

PyObject* reducing_add(ReducingState& self, PyObject* value) {
  const PyRef before = PyRef::adopt(reducing_get(self));
  if (!before) return nullptr;
  const PyRef after = before.get() == Py_None
                          ? PyRef::share(value)
                          : PyRef::adopt(call_two(self.reduce.get(), before.get(), value));
  if (!after || !self.encode(after.get())) return nullptr;
  return self.done(self.table->put(self.access->current, self.scratch));
}

struct AggregatingState : StateHandle {
  AggregateMethods methods;
  ValueTable* table;
  AggregatingState(StateHandle base, AggregateMethods m, ValueTable* t)
      : StateHandle(std::move(base)), methods(std::move(m)), table(t) {}
  std::array<PyRef*, 3> references() {
    return {&methods.create_accumulator, &methods.add, &methods.get_result};
  }
};

PyObject* aggregating_get(AggregatingState& self) {
  if (!self.ready()) return nullptr;
  auto found = self.table->get(self.access->current);
  if (!found.is_ok()) return self.fail(found.status());
  if (!found.value()) return none();
  const PyRef accumulator = PyRef::adopt(self.decode(*found.value()));
  return accumulator ? call_one(self.methods.get_result.get(), accumulator.get()) : nullptr;
}

PyObject* aggregating_add(AggregatingState& self, PyObject* value) {
  if (!self.ready()) return nullptr;
  auto found = self.table->get(self.access->current);
  if (!found.is_ok()) return self.fail(found.status());
  const PyRef before =
      PyRef::adopt(found.value() ? self.decode(*found.value())
                                 : PyObject_CallNoArgs(self.methods.create_accumulator.get()));
  if (!before) return nullptr;
  const PyRef after = PyRef::adopt(call_two(self.methods.add.get(), value, before.get()));
  if (!after || !self.encode(after.get())) return nullptr;
  return self.done(self.table->put(self.access->current, self.scratch));
}

PyObject* aggregating_clear(AggregatingState& self) {
  return self.ready() ? self.done(self.table->remove(self.access->current)) : nullptr;
}

// --- the types -----------------------------------------------------------------------------------------

// Made once, kept for the life of the process.
PyTypeObject* value_type = nullptr;
PyTypeObject* list_type = nullptr;
PyTypeObject* reducing_type = nullptr;
PyTypeObject* aggregating_type = nullptr;

template <typename Impl>
PyTypeObject* make_type(const char* name, PyMethodDef* methods, PyType_Slot extra = {0, nullptr}) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_methods, methods}, {Py_tp_dealloc, reinterpret_cast<void*>(&destroy_handle<Impl>)}};
  if constexpr (RefersToObjects<Impl>) {
    slots.push_back({Py_tp_traverse, reinterpret_cast<void*>(&traverse_handle<Impl>)});
    slots.push_back({Py_tp_clear, reinterpret_cast<void*>(&clear_handle<Impl>)});
  }
  slots.push_back(extra);
  slots.push_back({0, nullptr});
  PyTypeObject* const type = make_handle_type<Impl>(name, slots.data());
  if (type == nullptr) throw py::error_already_set();
  return type;
}

PyMethodDef value_methods[] = {
    method<&value_get>("value",
                       "value($self, /)\n--\n\n"
                       "The value of the current key; None when there is none."),
    method<&value_update>("update",
                          "update($self, value, /)\n--\n\n"
                          "Sets the value; None clears it."),
    method<&value_clear>("clear",
                         "clear($self, /)\n--\n\n"
                         "Removes the value."),
    {}};
PyMethodDef list_methods[] = {method<&list_get>("get",
                                                "get($self, /)\n--\n\n"
                                                "A new list of the elements."),
                              method<&list_add>("add",
                                                "add($self, value, /)\n--\n\n"
                                                "Appends one element."),
                              method<&list_add_all>("add_all",
                                                    "add_all($self, values, /)\n--\n\n"
                                                    "Appends all elements of a list."),
                              method<&list_update>("update",
                                                   "update($self, values, /)\n--\n\n"
                                                   "Replaces all elements."),
                              method<&list_clear>("clear",
                                                  "clear($self, /)\n--\n\n"
                                                  "Removes all elements."),
                              {}};
PyMethodDef reducing_methods[] = {
    method<&reducing_get>("get",
                          "get($self, /)\n--\n\n"
                          "What all values since the last clear() were reduced to, or None."),
    method<&reducing_add>("add",
                          "add($self, value, /)\n--\n\n"
                          "Reduces one more value into it."),
    method<&reducing_clear>("clear",
                            "clear($self, /)\n--\n\n"
                            "Removes the value."),
    {}};
PyMethodDef aggregating_methods[] = {
    method<&aggregating_get>("get",
                             "get($self, /)\n--\n\n"
                             "The result for all values since the last clear(), or None."),
    method<&aggregating_add>("add",
                             "add($self, value, /)\n--\n\n"
                             "Adds one more value."),
    method<&aggregating_clear>("clear",
                               "clear($self, /)\n--\n\n"
                               "Removes the accumulator."),
    {}};

}  // namespace

PyObject* make_value_state(StateHandle base, ValueTable* table) {
  return make_handle(value_type, std::make_unique<ValueState>(std::move(base), table));
}

PyObject* make_list_state(StateHandle base, ListTable* table) {
  return make_handle(list_type, std::make_unique<ListState>(std::move(base), table));
}

PyObject* make_reducing_state(StateHandle base, PyRef reduce, ValueTable* table) {
  return make_handle(reducing_type,
                     std::make_unique<ReducingState>(std::move(base), std::move(reduce), table));
}

PyObject* make_aggregating_state(StateHandle base, AggregateMethods methods, ValueTable* table) {
  return make_handle(aggregating_type, std::make_unique<AggregatingState>(
                                           std::move(base), std::move(methods), table));
}

void register_map_state(py::module_& module);

void register_state_handles(py::module_& module) {
  value_type = make_type<ValueState>("penstock._core.state.ValueStateHandle", value_methods);
  list_type = make_type<ListState>("penstock._core.state.ListStateHandle", list_methods,
                                   {Py_tp_iter, reinterpret_cast<void*>(&list_iterate)});
  reducing_type =
      make_type<ReducingState>("penstock._core.state.ReducingStateHandle", reducing_methods);
  aggregating_type = make_type<AggregatingState>("penstock._core.state.AggregatingStateHandle",
                                                 aggregating_methods);
  for (PyTypeObject* type : {value_type, list_type, reducing_type, aggregating_type}) {
    const py::handle handle(reinterpret_cast<PyObject*>(type));
    module.add_object(py::str(handle.attr("__name__")).cast<std::string>().c_str(), handle);
  }
  register_map_state(module);
}

}  // namespace penstock::bindings
