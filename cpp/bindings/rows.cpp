#include "bindings/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "bindings/capsules.h"
#include "bindings/errors.h"
#include "bindings/values.h"
#include "columnar/metadata.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Rows made before their columns are filled, so that both stay in the cache.
constexpr int64_t kChunk = 1024;

ObjectColumn adopt(std::vector<ObjectPtr> objects) {
  const auto count = static_cast<int64_t>(objects.size());
  return {ObjectVector::adopt(std::move(objects)), 0, count};
}

// A tuple of `type` with `size` empty places, not yet known to the garbage collector.
PyObject* new_row(PyTypeObject* type, Py_ssize_t size) {
  PyTupleObject* row = PyObject_GC_NewVar(PyTupleObject, type, size);
  if (row == nullptr) return nullptr;
  std::memset(row->ob_item, 0, static_cast<size_t>(size) * sizeof(PyObject*));
  return reinterpret_cast<PyObject*>(row);
}

class RowMaker {
 public:
  static Result<RowMaker> make(const Batch& batch) {
    RowMaker maker;
    PENSTOCK_ASSIGN_OR_RETURN(maker.type_, row_type_of(*batch.schema));
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      PENSTOCK_ASSIGN_OR_RETURN(ValueReader reader,
                                ValueReader::make(batch.columns[i], *batch.schema->fields()[i]));
      maker.track_ = maker.track_ || reader.makes_containers();
      maker.readers_.push_back(std::move(reader));
    }
    return maker;
  }

  // Appends `count` <= kChunk rows. On failure `out` holds rows with empty places, good only to be
  // freed.
  Status append(int64_t from, int64_t count, std::vector<ObjectPtr>* out) const {
    auto* type = reinterpret_cast<PyTypeObject*>(type_.ptr());
    const size_t first = out->size();
    for (int64_t i = 0; i < count; ++i) {
      PyObject* row = new_row(type, static_cast<Py_ssize_t>(readers_.size()));
      if (row == nullptr) return status_from_python_error("making rows");
      out->push_back(row);
    }
    std::array<PyObject*, kChunk> values;
    for (size_t column = 0; column < readers_.size(); ++column) {
      PENSTOCK_RETURN_NOT_OK(readers_[column].read(from, count, values.data()));
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        PyTuple_SET_ITEM(static_cast<PyObject*>((*out)[first + i]), static_cast<Py_ssize_t>(column),
                         values[i]);
      }
    }
    // Rows of numbers, strings and the like cannot be part of a cycle: the collector need not see
    // them.
    for (size_t i = first; track_ && i < out->size(); ++i) PyObject_GC_Track((*out)[i]);
    return Status::ok();
  }

 private:
  py::object type_;
  std::vector<ValueReader> readers_;
  bool track_ = false;
};

Result<ObjectColumn> scalars_from_column(const Batch& batch) {
  PENSTOCK_ASSIGN_OR_RETURN(const ValueReader reader,
                            ValueReader::make(batch.columns[0], batch.schema->field(0)));
  std::vector<PyObject*> values(static_cast<size_t>(batch.num_rows));
  PENSTOCK_RETURN_NOT_OK(reader.read(0, batch.num_rows, values.data()));
  return adopt({values.begin(), values.end()});
}

Batch with_event_times_of(const Batch& original, Batch converted) {
  converted.timestamps = original.timestamps;
  converted.keys = original.keys;
  return converted;
}

}  // namespace

bool is_scalar_schema(const Schema& schema) {
  return schema.num_fields() == 1 &&
         metadata_value(schema.field(0).metadata, kScalarMetadataKey) == "1";
}

Result<py::object> row_type_of(const Schema& schema) {
  try {
    py::tuple names(schema.fields().size());
    for (size_t i = 0; i < schema.fields().size(); ++i) names[i] = schema.fields()[i]->name;
    return py::object(py::module_::import("penstock.common.row").attr("_row_type")(names));
  } catch (py::error_already_set& error) {
    return status_from_python_error(error, "making the row type");
  }
}

Result<ObjectColumn> rows_from_columns(const Batch& batch) {
  if (is_scalar_schema(*batch.schema)) return scalars_from_column(batch);
  PENSTOCK_ASSIGN_OR_RETURN(const RowMaker maker, RowMaker::make(batch));
  std::vector<ObjectPtr> rows;
  rows.reserve(static_cast<size_t>(batch.num_rows));
  Status status;
  for (int64_t from = 0; status.is_ok() && from < batch.num_rows; from += kChunk) {
    status = maker.append(from, std::min(kChunk, batch.num_rows - from), &rows);
  }
  ObjectColumn made = adopt(std::move(rows));  // owns them on failure, too
  if (!status.is_ok()) return status;
  return made;
}

Result<Batch> as_rows(const Batch& batch) {
  if (!batch.is_columnar()) return batch;
  PENSTOCK_ASSIGN_OR_RETURN(ObjectColumn rows, rows_from_columns(batch));
  return with_event_times_of(batch, make_rows(std::move(rows)));
}

Result<Batch> columns_from_rows(const Batch& batch, py::handle schema) {
  try {
    const py::object arrow =
        py::module_::import("penstock.runtime.convert")
            .attr("rows_to_record_batch")(list_from_objects(batch.rows), schema);
    PENSTOCK_ASSIGN_OR_RETURN(Batch columns, batch_from_arrow(arrow));
    return with_event_times_of(batch, std::move(columns));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) return status_from_python_error(error, "rows to columns");
    // A value that does not fit its column keeps its own message and code.
    const Status status = status_from_python_error(error, "");
    return Status(StatusCode::kTypeError, py::str(error.value()), status.cause());
  }
}

py::list list_from_objects(const ObjectColumn& objects) {
  py::list list(static_cast<size_t>(objects.length));
  for (int64_t i = 0; i < objects.length; ++i) {
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                    Py_NewRef(static_cast<PyObject*>(objects.at(i))));
  }
  return list;
}

Result<ObjectColumn> objects_from_iterable(py::handle items) {
  const auto sequence =
      py::reinterpret_steal<py::object>(PySequence_Fast(items.ptr(), "expected a list of rows"));
  if (!sequence) return status_from_python_error("rows");
  const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr()));
  PyObject** first = PySequence_Fast_ITEMS(sequence.ptr());
  std::vector<ObjectPtr> objects(first, first + size);
  for (ObjectPtr object : objects) Py_INCREF(static_cast<PyObject*>(object));
  return adopt(std::move(objects));
}

}  // namespace penstock::bindings
