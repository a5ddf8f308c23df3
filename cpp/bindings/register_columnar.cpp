// _core.columnar: batches, and how they come from and go to Arrow and rows.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/capsules.h"
#include "bindings/errors.h"
#include "bindings/object_ops.h"
#include "bindings/register.h"
#include "bindings/row_access.h"
#include "bindings/rows.h"
#include "columnar/builder.h"
#include "record/key_encoding.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Event times to look at through the buffer protocol; keeps them alive.
struct TimestampBuffer {
  Column column;
};

const Schema& schema_of(const Batch& batch) {
  if (!batch.is_columnar()) throw_status(Status::invalid("a batch of rows has no schema"));
  return *batch.schema;
}

py::capsule arrow_schema(const Batch& batch) {
  UniqueSchema schema;
  throw_status(export_schema(schema_of(batch), schema.out()));
  return schema_capsule(std::move(schema));
}

// A requested schema is a wish that the protocol lets us ignore.
py::tuple arrow_array(const Batch& batch, const py::object& /*requested_schema*/) {
  py::capsule schema = arrow_schema(batch);
  UniqueArray array;
  throw_status(export_batch(batch, array.out()));
  return py::make_tuple(std::move(schema), array_capsule(std::move(array)));
}

std::vector<std::string> column_names(const Batch& batch) {
  std::vector<std::string> names;
  for (const FieldPtr& field : schema_of(batch).fields()) names.push_back(field->name);
  return names;
}

Status unknown_column(const Batch& batch, const std::string& name) {
  std::string known;
  for (const std::string& column : column_names(batch)) {
    known += (known.empty() ? "" : ", ") + column;
  }
  return Status::key_error("no column '" + name + "'; the columns are " + known);
}

Batch select(const Batch& batch, const std::vector<std::string>& names) {
  std::vector<FieldPtr> fields;
  std::vector<Column> columns;
  for (const std::string& name : names) {
    const int index = schema_of(batch).index_of(name);
    if (index < 0) throw_status(unknown_column(batch, name));
    fields.push_back(batch.schema->fields()[static_cast<size_t>(index)]);
    columns.push_back(batch.columns[static_cast<size_t>(index)]);
  }
  Batch out = batch;
  out.schema = std::make_shared<const Schema>(std::move(fields), batch.schema->metadata());
  out.columns = std::move(columns);
  return out;
}

Batch slice(const Batch& batch, int64_t offset, int64_t length) {
  if (offset < 0 || length < 0 || offset > batch.num_rows || length > batch.num_rows - offset) {
    throw_status(Status::invalid("slice(" + std::to_string(offset) + ", " + std::to_string(length) +
                                 ") of a batch of " + std::to_string(batch.num_rows) + " rows"));
  }
  return batch.slice(offset, length);
}

Batch take_rows(const Batch& batch, const std::vector<int32_t>& indices) {
  for (const int32_t index : indices) {
    if (index < 0 || index >= batch.num_rows) {
      throw_status(Status::invalid("row " + std::to_string(index) + " of a batch of " +
                                   std::to_string(batch.num_rows) + " rows"));
    }
  }
  return unwrap(batch.take(indices.data(), static_cast<int64_t>(indices.size())));
}

// A list of ints, or anything with a buffer of native int64.
std::vector<int64_t> read_timestamps(const py::object& source) {
  if (PyObject_CheckBuffer(source.ptr()) == 0) return source.cast<std::vector<int64_t>>();
  const py::buffer_info info = py::reinterpret_borrow<py::buffer>(source).request();
  if (info.ndim != 1 || !info.item_type_is_equivalent_to<int64_t>() ||
      (info.size > 1 && info.strides[0] != sizeof(int64_t))) {
    throw_status(Status::type_error("timestamps must be one contiguous row of int64"));
  }
  const auto* first = static_cast<const int64_t*>(info.ptr);
  return {first, first + info.size};
}

Batch with_timestamps(const Batch& batch, const py::object& timestamps) {
  Batch out = batch;
  out.timestamps = {};
  if (timestamps.is_none()) return out;
  std::vector<int64_t> values = read_timestamps(timestamps);
  if (static_cast<int64_t>(values.size()) != batch.num_rows) {
    throw_status(Status::invalid(std::to_string(values.size()) + " timestamps for " +
                                 std::to_string(batch.num_rows) + " rows"));
  }
  out.timestamps = int64_column(std::move(values));
  return out;
}

Batch from_rows(const py::object& rows, const py::object& timestamps) {
  return with_timestamps(make_rows(unwrap(objects_from_iterable(rows))), timestamps);
}

py::list to_rows(const Batch& batch) { return list_from_objects(unwrap(as_rows(batch)).rows); }

Batch to_columns(const Batch& batch, const py::object& schema) {
  return batch.is_columnar() ? batch : unwrap(columns_from_rows(batch, schema));
}

py::object timestamps(const Batch& batch) {
  if (!batch.has_timestamps()) return py::none();
  const Timestamp* data = batch.timestamp_data();
  return py::cast(std::vector<Timestamp>(data, data + batch.num_rows));
}

py::object encoded_keys(const Batch& batch) {
  if (batch.keys == nullptr) return py::none();
  py::list keys;
  for (int64_t i = 0; i < batch.num_rows; ++i) {
    const std::string_view key = batch.keys->bytes.bytes_at(i);
    keys.append(py::bytes(key.data(), key.size()));
  }
  return keys;
}

Batch with_encoded_keys(const Batch& batch, const std::optional<std::vector<std::string>>& keys) {
  Batch out = batch;
  out.keys = nullptr;
  if (!keys) return out;
  if (static_cast<int64_t>(keys->size()) != batch.num_rows) {
    throw_status(Status::invalid(std::to_string(keys->size()) + " keys for " +
                                 std::to_string(batch.num_rows) + " rows"));
  }
  BinaryBuilder bytes(binary());
  std::vector<uint32_t> hashes;
  for (const std::string& key : *keys) {
    bytes.append(key);
    hashes.push_back(murmur3_32(key.data(), key.size()));
  }
  out.keys =
      std::make_shared<const EncodedKeys>(EncodedKeys{unwrap(bytes.finish()), std::move(hashes)});
  return out;
}

py::object timestamp_buffer(const Batch& batch) {
  if (!batch.has_timestamps()) return py::none();
  return py::cast(TimestampBuffer{batch.timestamps});
}

void append_addresses(const Column& column, py::list* out) {
  for (const Buffer& buffer : {column.validity, column.offsets, column.values}) {
    if (buffer) out->append(reinterpret_cast<uintptr_t>(buffer.data));
  }
  for (const Column& child : column.children) append_addresses(child, out);
}

// Of each column: where its buffers lie, those of its children included.
std::vector<py::list> buffer_addresses(const Batch& batch) {
  std::vector<py::list> out;
  for (const Column& column : batch.columns) {
    py::list addresses;
    append_addresses(column, &addresses);
    out.push_back(std::move(addresses));
  }
  return out;
}

py::tuple batches_from_stream(const py::object& object) {
  ArrowStreamContents contents = unwrap(read_arrow_stream(object));
  Batch empty = make_batch(contents.schema, {}, 0);
  for (const FieldPtr& field : contents.schema->fields()) {
    empty.columns.push_back(unwrap(make_nulls(field->type, 0)));
  }
  return py::make_tuple(std::move(empty), std::move(contents.batches));
}

std::string describe(const Batch& batch) {
  const std::string rows = std::to_string(batch.num_rows) + " rows";
  if (!batch.is_columnar()) return "Batch(" + rows + " of objects)";
  std::string columns;
  for (const FieldPtr& field : batch.schema->fields()) {
    columns += (columns.empty() ? "" : ", ") + field->name + ": " + field->type->to_string();
  }
  return "Batch(" + rows + "; " + columns + ")";
}

void register_timestamp_buffer(py::module_& columnar) {
  py::class_<TimestampBuffer>(columnar, "TimestampBuffer", py::buffer_protocol(),
                              "Event times as a read-only buffer of int64.")
      .def_buffer([](TimestampBuffer& self) {
        return py::buffer_info(const_cast<int64_t*>(self.column.data<int64_t>()),
                               static_cast<py::ssize_t>(self.column.length), true);
      })
      .def("__len__", [](const TimestampBuffer& self) { return self.column.length; });
}

}  // namespace

void register_columnar(py::module_& module) {
  install_python_object_ops();
  py::module_ columnar = module.def_submodule("columnar", "Batches of columns or rows.");
  register_timestamp_buffer(columnar);
  py::class_<Batch>(columnar, "Batch", "Columns in Arrow layout or rows of objects. Immutable.")
      .def_static(
          "from_arrow", [](const py::object& object) { return unwrap(batch_from_arrow(object)); },
          py::arg("obj"), "Shares the buffers of an object with __arrow_c_array__.")
      .def_static("from_rows", &from_rows, py::arg("rows"), py::arg("timestamps") = py::none())
      .def("__arrow_c_array__", &arrow_array, py::arg("requested_schema") = py::none())
      .def("__arrow_c_schema__", &arrow_schema)
      .def_readonly("num_rows", &Batch::num_rows)
      .def("__len__", [](const Batch& self) { return self.num_rows; })
      .def_property_readonly("is_columnar", &Batch::is_columnar)
      .def_property_readonly("column_names", &column_names)
      .def_property_readonly("timestamps", &timestamps)
      .def_property_readonly("timestamp_buffer", &timestamp_buffer)
      .def_property_readonly("encoded_keys", &encoded_keys)
      .def("with_timestamps", &with_timestamps, py::arg("timestamps"))
      .def("with_encoded_keys", &with_encoded_keys, py::arg("keys"))
      .def("slice", &slice, py::arg("offset"), py::arg("length"))
      .def("take", &take_rows, py::arg("indices"))
      .def("select", &select, py::arg("names"))
      .def("to_rows", &to_rows)
      .def("to_columns", &to_columns, py::arg("schema"))
      .def("buffer_addresses", &buffer_addresses)
      .def("__repr__", &describe);
  columnar.def("install_row_access", &install_row_access, py::arg("row_class"),
               "Makes item access of the class native.");
  columnar.def("batches_from_stream", &batches_from_stream, py::arg("obj"),
               "An empty batch of the stream's schema, and the list of its batches.");
}

}  // namespace penstock::bindings
