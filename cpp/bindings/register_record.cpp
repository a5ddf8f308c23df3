// _core.record: keys, key groups and the subtasks that own them.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/errors.h"
#include "bindings/key_codec.h"
#include "bindings/register.h"
#include "record/key_encoding.h"
#include "record/key_group.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

std::string encoded(const py::handle& key) {
  std::string bytes;
  throw_status(encode_object_key(key.ptr(), &bytes));
  return bytes;
}

py::bytes encode_key(const py::object& key) { return encoded(key); }

py::object decode_key(const py::bytes& bytes) {
  PyObject* key = decode_object_key(static_cast<std::string_view>(bytes));
  if (key == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(key);
}

uint32_t hash_key(const py::object& key) {
  const std::string bytes = encoded(key);
  return murmur3_32(bytes.data(), bytes.size());
}

void check_max_parallelism(int32_t max_parallelism) {
  if (max_parallelism >= 1 && max_parallelism <= kUpperBoundMaxParallelism) return;
  throw_status(Status::invalid("max parallelism must be in [1, " +
                               std::to_string(kUpperBoundMaxParallelism) + "], not " +
                               std::to_string(max_parallelism)));
}

void check_parallelism(int32_t parallelism, int32_t max_parallelism) {
  check_max_parallelism(max_parallelism);
  if (parallelism >= 1 && parallelism <= max_parallelism) return;
  throw_status(Status::invalid("parallelism must be in [1, max parallelism " +
                               std::to_string(max_parallelism) + "], not " +
                               std::to_string(parallelism)));
}

int32_t key_group(const py::object& key, int32_t max_parallelism) {
  check_max_parallelism(max_parallelism);
  return key_group_of(hash_key(key), max_parallelism);
}

int32_t subtask_of(const py::object& key, int32_t max_parallelism, int32_t parallelism) {
  check_parallelism(parallelism, max_parallelism);
  return subtask_of_key_group(key_group(key, max_parallelism), max_parallelism, parallelism);
}

std::pair<int32_t, int32_t> range_of(int32_t subtask, int32_t max_parallelism,
                                     int32_t parallelism) {
  check_parallelism(parallelism, max_parallelism);
  if (subtask < 0 || subtask >= parallelism) {
    throw_status(Status::invalid("subtask must be in [0, " + std::to_string(parallelism) +
                                 "), not " + std::to_string(subtask)));
  }
  const KeyGroupRange range = key_group_range(subtask, max_parallelism, parallelism);
  return {range.start, range.end};
}

Result<std::vector<Column>> key_columns(const Batch& batch, const std::vector<std::string>& names) {
  if (!batch.is_columnar()) return Status::invalid("a batch of rows has no key columns");
  std::vector<Column> columns;
  for (const std::string& name : names) {
    const int index = batch.schema->index_of(name);
    if (index < 0) return Status::key_error("no column '" + name + "'");
    columns.push_back(batch.columns[static_cast<size_t>(index)]);
  }
  return columns;
}

py::bytes hash_columns(const Batch& batch, const std::vector<std::string>& names) {
  const std::vector<Column> columns = unwrap(key_columns(batch, names));
  std::vector<uint32_t> hashes(static_cast<size_t>(batch.num_rows));
  throw_status(hash_keys(columns, batch.num_rows, hashes.data()));
  return {reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(uint32_t)};
}

std::vector<py::bytes> encode_columns(const Batch& batch, const std::vector<std::string>& names) {
  const std::vector<Column> columns = unwrap(key_columns(batch, names));
  const EncodedKeys keys = unwrap(encode_keys(columns, batch.num_rows));
  std::vector<py::bytes> out;
  for (int64_t i = 0; i < batch.num_rows; ++i) {
    const std::string_view bytes = keys.bytes.bytes_at(i);
    out.emplace_back(bytes.data(), bytes.size());
  }
  return out;
}

}  // namespace

void register_record(py::module_& module) {
  py::module_ record = module.def_submodule("record", "Keys and key groups.");
  record.attr("DEFAULT_MAX_PARALLELISM") = kDefaultMaxParallelism;
  record.attr("UPPER_BOUND_MAX_PARALLELISM") = kUpperBoundMaxParallelism;
  record.def("encode_key", &encode_key, py::arg("key"), "The canonical bytes of a key.");
  record.def("decode_key", &decode_key, py::arg("data"), "The key of these canonical bytes.");
  record.def("hash_key", &hash_key, py::arg("key"), "Murmur hash of the key's canonical bytes.");
  record.def("key_group", &key_group, py::arg("key"),
             py::arg("max_parallelism") = kDefaultMaxParallelism);
  record.def("subtask_of", &subtask_of, py::arg("key"), py::arg("max_parallelism"),
             py::arg("parallelism"), "The subtask that owns the key.");
  record.def("key_group_range", &range_of, py::arg("subtask"), py::arg("max_parallelism"),
             py::arg("parallelism"), "First and last key group of a subtask, both inclusive.");
  record.def("hash_columns", &hash_columns, py::arg("batch"), py::arg("names"),
             "The hash of each row's key, as native uint32 values.");
  record.def("encode_columns", &encode_columns, py::arg("batch"), py::arg("names"),
             "The canonical bytes of each row's key.");
}

}  // namespace penstock::bindings
