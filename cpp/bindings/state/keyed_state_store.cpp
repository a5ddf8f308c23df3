#include "bindings/state/keyed_state_store.h"

#include <utility>

#include "bindings/errors.h"
#include "bindings/state/state_handles.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

TtlUpdateType update_type(const std::string& name) {
  if (name == "OnCreateAndWrite") return TtlUpdateType::kOnCreateAndWrite;
  if (name == "OnReadAndWrite") return TtlUpdateType::kOnReadAndWrite;
  raise(Status::invalid("a time to live is updated OnCreateAndWrite or OnReadAndWrite, not '" +
                        name + "'"));
}

TtlVisibility visibility(const std::string& name) {
  if (name == "NeverReturnExpired") return TtlVisibility::kNeverReturnExpired;
  if (name == "ReturnExpiredIfNotCleanedUp") return TtlVisibility::kReturnExpiredIfNotCleanedUp;
  raise(Status::invalid(
      "what has expired is seen NeverReturnExpired or ReturnExpiredIfNotCleanedUp, not '" + name +
      "'"));
}

// (ttl_ms, update type, visibility, cleanup in full snapshots, incremental entries, incremental per
// record, compaction asks for the time after so many entries or -1).
TtlConfig ttl_of(const py::object& object) {
  TtlConfig ttl;
  if (object.is_none()) return ttl;
  const auto parts = object.cast<py::tuple>();
  if (parts.size() != 7) throw_status(Status::invalid("a time to live has seven parts"));
  ttl.ttl_millis = parts[0].cast<int64_t>();
  if (ttl.ttl_millis <= 0) throw_status(Status::invalid("a time to live must be positive"));
  ttl.update = update_type(parts[1].cast<std::string>());
  ttl.visibility = visibility(parts[2].cast<std::string>());
  ttl.cleanup_in_full_snapshot = parts[3].cast<bool>();
  ttl.incremental_cleanup_entries = parts[4].cast<int32_t>();
  ttl.incremental_cleanup_per_record = parts[5].cast<bool>();
  const auto query_after = parts[6].cast<int64_t>();
  ttl.cleanup_in_compaction = query_after >= 0;
  if (query_after > 0) ttl.compaction_query_time_after = query_after;
  return ttl;
}

StateDescriptor descriptor(const std::string& name, StateKind kind, const std::string& value_type,
                           const py::object& ttl) {
  if (name.empty()) throw_status(Status::invalid("a state needs a name"));
  if (name == "event-time-timers" || name == "processing-time-timers") {
    throw_status(Status::invalid("'" + name +
                                 "' is the name of a state of the engine's own; choose another"));
  }
  StateDescriptor out;
  out.name = name;
  out.kind = kind;
  out.value_type = value_type;
  out.ttl = ttl_of(ttl);
  return out;
}

PyRef callable(const py::object& object, const std::string& what) {
  if (PyCallable_Check(object.ptr()) == 0) {
    throw_status(
        Status::type_error(what + " must be callable, not " + std::string(py::repr(object))));
  }
  return PyRef::share(object.ptr());
}

StateHandle base_of(const StateAccessPtr& access, const std::string& name,
                    const std::string& value_type) {
  if (access->backend == nullptr) {
    throw_status(Status::invalid("state '" + name + "': operator '" + access->operator_name +
                                 "' has no keyed state any more, or never had"));
  }
  StateHandle base;
  base.access = access;
  base.what = "state '" + name + "'";
  auto codec = ValueCodec::make(value_type);
  throw_status(codec.status().with_context(base.what));
  base.codec = std::move(codec).value();
  return base;
}

py::object adopt(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

}  // namespace

py::object KeyedStateStore::value_state(const std::string& name, const std::string& type,
                                        const py::object& ttl) {
  StateHandle base = base_of(access_, name, type);
  ValueTable* const table =
      unwrap(access_->backend->value_table(descriptor(name, StateKind::kValue, type, ttl)));
  return adopt(make_value_state(std::move(base), table));
}

py::object KeyedStateStore::list_state(const std::string& name, const std::string& element_type,
                                       const py::object& ttl) {
  StateHandle base = base_of(access_, name, element_type);
  ListTable* const table =
      unwrap(access_->backend->list_table(descriptor(name, StateKind::kList, element_type, ttl)));
  return adopt(make_list_state(std::move(base), table));
}

py::object KeyedStateStore::map_state(const std::string& name, const std::string& key_type,
                                      const std::string& value_type, const py::object& ttl) {
  StateHandle base = base_of(access_, name, value_type);
  auto keys = UserKeyCodec::make(key_type);
  throw_status(keys.status().with_context(base.what));
  StateDescriptor wanted = descriptor(name, StateKind::kMap, value_type, ttl);
  wanted.user_key_type = key_type;
  MapTable* const table = unwrap(access_->backend->map_table(wanted));
  return adopt(make_map_state(std::move(base), std::move(keys).value(), table));
}

py::object KeyedStateStore::reducing_state(const std::string& name, const std::string& type,
                                           const py::object& reduce, const py::object& ttl) {
  StateHandle base = base_of(access_, name, type);
  PyRef function = callable(reduce, "the reduce function of " + base.what);
  ValueTable* const table =
      unwrap(access_->backend->value_table(descriptor(name, StateKind::kReducing, type, ttl)));
  return adopt(make_reducing_state(std::move(base), std::move(function), table));
}

py::object KeyedStateStore::aggregating_state(const std::string& name,
                                              const std::string& accumulator_type,
                                              const py::object& create_accumulator,
                                              const py::object& add, const py::object& get_result,
                                              const py::object& merge, const py::object& ttl) {
  StateHandle base = base_of(access_, name, accumulator_type);
  (void)callable(merge, "merge() of " + base.what);  // for merging windows, which keep their own
  AggregateMethods methods{callable(create_accumulator, "create_accumulator() of " + base.what),
                           callable(add, "add() of " + base.what),
                           callable(get_result, "get_result() of " + base.what)};
  ValueTable* const table = unwrap(access_->backend->value_table(
      descriptor(name, StateKind::kAggregating, accumulator_type, ttl)));
  return adopt(make_aggregating_state(std::move(base), std::move(methods), table));
}

void register_keyed_state_store(py::module_& module) {
  py::class_<KeyedStateStore, std::shared_ptr<KeyedStateStore>>(
      module, "KeyedStateStore", "Where a function gets its state from.")
      .def("value_state", &KeyedStateStore::value_state, py::arg("name"), py::arg("type_spec"),
           py::arg("ttl") = py::none())
      .def("list_state", &KeyedStateStore::list_state, py::arg("name"),
           py::arg("element_type_spec"), py::arg("ttl") = py::none())
      .def("map_state", &KeyedStateStore::map_state, py::arg("name"), py::arg("key_type_spec"),
           py::arg("value_type_spec"), py::arg("ttl") = py::none())
      .def("reducing_state", &KeyedStateStore::reducing_state, py::arg("name"),
           py::arg("type_spec"), py::arg("reduce"), py::arg("ttl") = py::none())
      .def("aggregating_state", &KeyedStateStore::aggregating_state, py::arg("name"),
           py::arg("accumulator_type_spec"), py::arg("create_accumulator"), py::arg("add"),
           py::arg("get_result"), py::arg("merge"), py::arg("ttl") = py::none());
}

}  // namespace penstock::bindings
