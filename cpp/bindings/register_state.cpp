// _core.state: keyed state and its backends.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/errors.h"
#include "bindings/register.h"
#include "bindings/state/keyed_state_store.h"
#include "bindings/state/operator_state_store.h"
#include "bindings/state/process_context.h"
#include "bindings/state/state_handles.h"
#include "bindings/value_codec.h"
#include "state/rocksdb/database.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Bytes objects are immutable and the caller's reference keeps them alive for the length of the
// call, so a view of one stays valid after the GIL is released.
std::string_view view(const py::bytes& bytes) { return static_cast<std::string_view>(bytes); }

std::unique_ptr<RocksDatabase> open(const std::string& path,
                                    const std::vector<std::string>& column_families) {
  auto result = [&] {
    py::gil_scoped_release release;
    return RocksDatabase::open(path, column_families);
  }();
  return std::make_unique<RocksDatabase>(value_or_raise(std::move(result)));
}

void put(RocksDatabase& self, const std::string& column_family, const py::bytes& key,
         const py::bytes& value) {
  const std::string_view key_view = view(key);
  const std::string_view value_view = view(value);
  const Status status = [&] {
    py::gil_scoped_release release;
    return self.put(column_family, key_view, value_view);
  }();
  raise_not_ok(status);
}

std::optional<py::bytes> get(const RocksDatabase& self, const std::string& column_family,
                             const py::bytes& key) {
  const std::string_view key_view = view(key);
  auto result = [&] {
    py::gil_scoped_release release;
    return self.get(column_family, key_view);
  }();
  const std::optional<std::string> value = value_or_raise(std::move(result));
  return value ? std::optional<py::bytes>(*value) : std::nullopt;
}

void flush(RocksDatabase& self) {
  const Status status = [&] {
    py::gil_scoped_release release;
    return self.flush();
  }();
  raise_not_ok(status);
}

// Keeps the GIL: close() needs exclusive access, which other Python threads could break.
void close(RocksDatabase& self) { raise_not_ok(self.close()); }

std::unique_ptr<const ValueCodec> make_codec(const std::string& type) {
  return unwrap(ValueCodec::make(type));
}

py::bytes encode_value(const ValueCodec& self, const py::object& value) {
  std::string bytes;
  throw_status(self.encode(value.ptr(), &bytes));
  return py::bytes(bytes);
}

py::object adopt(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

void register_codecs(py::module_& state) {
  py::class_<ValueCodec>(state, "ValueCodec", "Python values <-> the bytes that state keeps.")
      .def(py::init([](const std::string& type) {
             return const_cast<ValueCodec*>(make_codec(type).release());  // NOLINT: it is immutable
           }),
           py::arg("type_spec"))
      .def("encode", &encode_value, py::arg("value"))
      .def(
          "decode",
          [](const ValueCodec& self, const py::bytes& bytes) {
            return adopt(self.decode_all(view(bytes)));
          },
          py::arg("data"))
      .def_property_readonly("type_spec", &ValueCodec::type_text);
  py::class_<UserKeyCodec>(state, "UserKeyCodec", "The bytes of the keys of a map state.")
      .def(py::init([](const std::string& type) {
             auto codec = unwrap(UserKeyCodec::make(type));
             return const_cast<UserKeyCodec*>(codec.release());  // NOLINT: it is immutable
           }),
           py::arg("type_spec"))
      .def(
          "encode",
          [](const UserKeyCodec& self, const py::object& key) {
            std::string bytes;
            throw_status(self.encode(key.ptr(), &bytes));
            return py::bytes(bytes);
          },
          py::arg("key"))
      .def(
          "decode",
          [](const UserKeyCodec& self, const py::bytes& bytes) {
            return adopt(self.decode(view(bytes)));
          },
          py::arg("data"));
}

}  // namespace

void register_state(py::module_& module) {
  py::module_ state = module.def_submodule("state", "Keyed state and its backends.");
  py::class_<RocksDatabase>(state, "RocksDatabase", "One open RocksDB with column families.")
      .def_static("open", &open, py::arg("path"), py::arg("column_families"))
      .def("put", &put, py::arg("column_family"), py::arg("key"), py::arg("value"))
      .def("get", &get, py::arg("column_family"), py::arg("key"))
      .def("flush", &flush)
      .def("close", &close)
      .def_property_readonly("column_families", &RocksDatabase::column_families);
  register_state_handles(state);
  register_keyed_state_store(state);
  register_process_context(state);
  register_operator_state_store(state);
  register_codecs(state);
}

}  // namespace penstock::bindings
