// _core.snapshot: reading and writing snapshots outside of a job.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/errors.h"
#include "bindings/python_file_system.h"
#include "bindings/register.h"
#include "bindings/snapshot_access.h"
#include "common/clock.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

py::bytes to_bytes(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

std::unique_ptr<SnapshotReader> open_snapshot(std::string path, const py::object& file_system) {
  const StorageLocation location = storage_location(std::move(path), file_system);
  return unwrap([&] {
    const py::gil_scoped_release release;
    return SnapshotReader::open(location);
  }());
}

py::list states_of(const SnapshotReader& self) {
  py::list out;
  for (const StateInfo& info : unwrap(self.states())) {
    out.append(py::make_tuple(info.uid, info.meta.name, static_cast<int>(info.meta.kind),
                              to_string(info.meta.kind), info.meta.key_type,
                              info.meta.namespace_type, info.meta.value_type, info.backend,
                              info.entries, info.bytes));
  }
  return out;
}

// Three lists: keys, namespaces, values.
py::tuple entries_of(const SnapshotReader& self, const std::string& uid, const std::string& name) {
  py::list keys;
  py::list namespaces;
  py::list values;
  for (const KeyedStateData* state : self.keyed(uid, name)) {
    throw_status(state->for_each([&](int32_t, auto key, auto name_space, auto value) {
      keys.append(to_bytes(key));
      namespaces.append(to_bytes(name_space));
      values.append(to_bytes(value));
      return Status::ok();
    }));
  }
  return py::make_tuple(keys, namespaces, values);
}

py::list items_of(const SnapshotReader& self, const std::string& uid, const std::string& name) {
  py::list out;
  for (const ListStateData* list : self.lists(uid, name)) {
    py::list items;
    for (const std::string& item : list->items) items.append(to_bytes(item));
    out.append(items);
  }
  return out;
}

using PlainEntry = std::tuple<py::bytes, py::bytes, py::bytes>;
using PlainState = std::tuple<std::string, int, std::string, std::string, std::vector<PlainEntry>>;
using PlainOperator = std::pair<std::string, std::vector<PlainState>>;

void write_savepoint(std::string path, int32_t max_parallelism,
                     const std::vector<PlainOperator>& operators, const py::object& file_system) {
  std::vector<NewOperator> out;
  for (const auto& [uid, states] : operators) {
    NewOperator& one = out.emplace_back();
    one.uid = uid;
    for (const auto& [name, kind, namespace_type, value_type, entries] : states) {
      NewState& state = one.states.emplace_back();
      state.meta = {name, static_cast<StateKind>(kind), "encoded", namespace_type, value_type};
      for (const auto& [key, name_space, value] : entries) {
        state.entries.push_back({key, name_space, value});
      }
    }
  }
  const StorageLocation location = storage_location(std::move(path), file_system);
  throw_status([&] {
    const py::gil_scoped_release release;
    return write_new_savepoint(location, max_parallelism, out, SystemClock().now_millis());
  }());
}

}  // namespace

void register_snapshot(py::module_& module) {
  py::module_ snapshot = module.def_submodule("snapshot", "Snapshots from outside of a job.");
  py::class_<SnapshotReader>(snapshot, "SnapshotReader", "A checkpoint or savepoint, read whole.")
      .def_static("open", &open_snapshot, py::arg("path"), py::arg("file_system") = py::none())
      .def_property_readonly(
          "metadata", [](const SnapshotReader& self) { return metadata_to_json(self.metadata()); })
      .def("states", &states_of)
      .def("entries", &entries_of, py::arg("uid"), py::arg("name"))
      .def("items", &items_of, py::arg("uid"), py::arg("name"));
  snapshot.def("write_savepoint", &write_savepoint, py::arg("path"), py::arg("max_parallelism"),
               py::arg("operators"), py::arg("file_system") = py::none());
}

}  // namespace penstock::bindings
