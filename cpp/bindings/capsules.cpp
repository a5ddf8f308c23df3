#include "bindings/capsules.h"

#include <string>

#include "bindings/errors.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

template <typename Struct>
constexpr const char* kCapsuleName = nullptr;
template <>
constexpr const char* kCapsuleName<ArrowSchema> = "arrow_schema";
template <>
constexpr const char* kCapsuleName<ArrowArray> = "arrow_array";
template <>
constexpr const char* kCapsuleName<ArrowArrayStream> = "arrow_array_stream";

template <typename Struct>
void destroy_capsule(PyObject* capsule) {
  auto* value = static_cast<Struct*>(PyCapsule_GetPointer(capsule, kCapsuleName<Struct>));
  if (value == nullptr) {
    PyErr_Clear();  // renamed by its consumer; destructors must not leave an error behind
    return;
  }
  if (value->release != nullptr) value->release(value);
  delete value;
}

template <typename Struct>
py::capsule make_capsule(Unique<Struct> value) {
  auto held = std::make_unique<Struct>(*value);
  PyObject* capsule = PyCapsule_New(held.get(), kCapsuleName<Struct>, &destroy_capsule<Struct>);
  if (capsule == nullptr) throw py::error_already_set();
  held.release();
  value.get()->release = nullptr;  // the capsule owns it now
  return py::reinterpret_steal<py::capsule>(capsule);
}

template <typename Struct>
Result<Struct*> open_capsule(py::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kCapsuleName<Struct>) == 0) {
    return Status::type_error(std::string("expected a PyCapsule named '") + kCapsuleName<Struct> +
                              "', got " + Py_TYPE(capsule.ptr())->tp_name);
  }
  auto* value = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), kCapsuleName<Struct>));
  if (value->release == nullptr) {
    return Status::invalid(std::string("the capsule '") + kCapsuleName<Struct> +
                           "' has been consumed already");
  }
  return value;
}

// Calls a method of the PyCapsule protocol without arguments.
Result<py::object> call_protocol(py::handle object, const char* method) {
  auto result =
      py::reinterpret_steal<py::object>(PyObject_CallMethod(object.ptr(), method, nullptr));
  if (!result) return status_from_python_error(method);
  return result;
}

Status not_arrow(py::handle object, const char* wanted) {
  return Status::type_error(std::string("expected ") + wanted + ", got " +
                            Py_TYPE(object.ptr())->tp_name);
}

Status stream_error(ArrowArrayStream* stream, int code) {
  const char* text = stream->get_last_error(stream);
  return Status::io_error("reading the Arrow stream failed (code " + std::to_string(code) +
                          "): " + (text == nullptr ? "no details" : text));
}

}  // namespace

py::capsule schema_capsule(UniqueSchema schema) { return make_capsule(std::move(schema)); }

py::capsule array_capsule(UniqueArray array) { return make_capsule(std::move(array)); }

Result<const ArrowSchema*> borrow_schema(py::handle capsule) {
  PENSTOCK_ASSIGN_OR_RETURN(const ArrowSchema* schema, open_capsule<ArrowSchema>(capsule));
  return schema;
}

Result<UniqueArray> take_array(py::handle capsule) {
  PENSTOCK_ASSIGN_OR_RETURN(ArrowArray * array, open_capsule<ArrowArray>(capsule));
  return UniqueArray(array);
}

Result<UniqueStream> take_stream(py::handle capsule) {
  PENSTOCK_ASSIGN_OR_RETURN(ArrowArrayStream * stream, open_capsule<ArrowArrayStream>(capsule));
  return UniqueStream(stream);
}

Result<SchemaPtr> schema_from_arrow(py::handle object) {
  if (!py::hasattr(object, "__arrow_c_schema__")) {
    return not_arrow(object, "an Arrow schema (an object with __arrow_c_schema__)");
  }
  PENSTOCK_ASSIGN_OR_RETURN(const py::object capsule, call_protocol(object, "__arrow_c_schema__"));
  PENSTOCK_ASSIGN_OR_RETURN(const ArrowSchema* schema, borrow_schema(capsule));
  return import_schema(*schema);
}

Result<Batch> batch_from_arrow(py::handle object) {
  if (!py::hasattr(object, "__arrow_c_array__")) {
    return not_arrow(object, "a record batch (an object with __arrow_c_array__)");
  }
  PENSTOCK_ASSIGN_OR_RETURN(const py::object pair, call_protocol(object, "__arrow_c_array__"));
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    return Status::type_error("__arrow_c_array__ did not return a pair of capsules");
  }
  PENSTOCK_ASSIGN_OR_RETURN(const ArrowSchema* schema,
                            borrow_schema(PyTuple_GET_ITEM(pair.ptr(), 0)));
  PENSTOCK_ASSIGN_OR_RETURN(UniqueArray array, take_array(PyTuple_GET_ITEM(pair.ptr(), 1)));
  return import_batch(array.get(), *schema);
}

Result<ArrowStreamReader> ArrowStreamReader::open(py::handle object) {
  ArrowStreamReader reader;
  if (!py::hasattr(object, "__arrow_c_stream__")) {
    if (!py::hasattr(object, "__arrow_c_array__")) {
      return not_arrow(object,
                       "Arrow data (an object with __arrow_c_stream__ or __arrow_c_array__)");
    }
    PENSTOCK_ASSIGN_OR_RETURN(Batch batch, batch_from_arrow(object));
    reader.schema_ = batch.schema;
    reader.only_batch_ = std::move(batch);
    return reader;
  }
  PENSTOCK_ASSIGN_OR_RETURN(const py::object capsule, call_protocol(object, "__arrow_c_stream__"));
  PENSTOCK_ASSIGN_OR_RETURN(reader.stream_, take_stream(capsule));
  const int code = reader.stream_->get_schema(reader.stream_.get(), reader.arrow_schema_.out());
  if (code != 0) return stream_error(reader.stream_.get(), code);
  PENSTOCK_ASSIGN_OR_RETURN(reader.schema_, import_schema(*reader.arrow_schema_));
  return reader;
}

Result<std::optional<Batch>> ArrowStreamReader::next() {
  if (!stream_) return std::exchange(only_batch_, std::nullopt);
  UniqueArray array;
  const int code = stream_->get_next(stream_.get(), array.out());
  if (code != 0) return stream_error(stream_.get(), code);
  if (!array) return std::optional<Batch>();
  PENSTOCK_ASSIGN_OR_RETURN(Batch batch, import_batch(array.get(), *arrow_schema_));
  batch.schema = schema_;  // one object for all batches, so that comparing schemas is cheap
  return std::optional<Batch>(std::move(batch));
}

Result<ArrowStreamContents> read_arrow_stream(py::handle object) {
  PENSTOCK_ASSIGN_OR_RETURN(ArrowStreamReader reader, ArrowStreamReader::open(object));
  ArrowStreamContents contents{reader.schema(), {}};
  // Safe: from here on no Python object is touched but by the producer, which takes the GIL itself.
  py::gil_scoped_release release;
  while (true) {
    PENSTOCK_ASSIGN_OR_RETURN(std::optional<Batch> batch, reader.next());
    if (!batch) return contents;
    contents.batches.push_back(std::move(*batch));
  }
}

}  // namespace penstock::bindings
