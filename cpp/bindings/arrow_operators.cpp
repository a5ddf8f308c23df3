#include "bindings/arrow_operators.h"

#include <string>
#include <vector>

#include "bindings/capsules.h"
#include "bindings/errors.h"
#include "bindings/rows.h"
#include "bindings/user_code.h"
#include "columnar/bitmap.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// What the function returns for the batch.
Result<py::object> call_with_columns(PyObject* function, const Batch& batch, const char* what) {
  if (!batch.is_columnar()) {
    return Status::type_error(std::string(what) + " needs columns, but got rows");
  }
  PENSTOCK_ASSIGN_OR_RETURN(const py::object record_batch, record_batch_of(batch));
  auto result = py::reinterpret_steal<py::object>(call_one(function, record_batch.ptr()));
  if (!result) {
    return status_from_python_error(std::string(what) + " raised on a batch of " +
                                    std::to_string(batch.num_rows) + " records");
  }
  return result;
}

Result<Column> column_from_arrow(py::handle object) {
  if (!py::hasattr(object, "__arrow_c_array__")) {
    return Status::type_error(std::string("expected an Arrow array, got ") +
                              Py_TYPE(object.ptr())->tp_name);
  }
  const auto pair = py::reinterpret_steal<py::object>(
      PyObject_CallMethod(object.ptr(), "__arrow_c_array__", nullptr));
  if (!pair) return status_from_python_error("__arrow_c_array__");
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    return Status::type_error("__arrow_c_array__ did not return a pair of capsules");
  }
  PENSTOCK_ASSIGN_OR_RETURN(const ArrowSchema* schema,
                            borrow_schema(PyTuple_GET_ITEM(pair.ptr(), 0)));
  PENSTOCK_ASSIGN_OR_RETURN(UniqueArray array, take_array(PyTuple_GET_ITEM(pair.ptr(), 1)));
  return import_column(array.get(), *schema);
}

// Without branches: which rows are kept is what the processor cannot guess.
std::vector<int32_t> true_rows(const Column& mask) {
  std::vector<int32_t> rows(static_cast<size_t>(mask.length));
  const uint8_t* const values = mask.values.data;
  const uint8_t* const validity = mask.has_validity() ? mask.validity.data : values;
  size_t count = 0;
  for (int64_t i = 0; i < mask.length; ++i) {
    rows[count] = static_cast<int32_t>(i);
    const bool kept = get_bit(values, mask.offset + i) && get_bit(validity, mask.offset + i);
    count += static_cast<size_t>(kept);
  }
  rows.resize(count);
  return rows;
}

}  // namespace

Result<py::object> record_batch_of(const Batch& batch) {
  try {
    return py::object(py::module_::import("pyarrow").attr("record_batch")(py::cast(batch)));
  } catch (py::error_already_set& error) {
    return status_from_python_error(error, "making a pyarrow.RecordBatch");
  }
}

Status ArrowMapOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(Batch mapped, map(std::move(batch)));
  return output.emit(std::move(mapped));
}

Result<Batch> ArrowMapOperator::map(Batch batch) {
  const GilScope gil;
  const Batch input = std::move(batch);
  PENSTOCK_ASSIGN_OR_RETURN(const py::object result,
                            call_with_columns(function_.get(), input, "column function"));
  PENSTOCK_ASSIGN_OR_RETURN(Batch mapped, batch_from_arrow(result));
  if (mapped.num_rows != input.num_rows) {
    return Status::type_error("column function made " + std::to_string(mapped.num_rows) +
                              " records of " + std::to_string(input.num_rows) +
                              "; it must keep their number");
  }
  mapped.timestamps = input.timestamps;
  mapped.keys = input.keys;
  return mapped;
}

Status ArrowFilterOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(const Column mask, mask_of(batch));
  const std::vector<int32_t> rows = true_rows(mask);
  const auto count = static_cast<int64_t>(rows.size());
  if (count == 0) return Status::ok();
  if (count == batch.num_rows) return output.emit(std::move(batch));
  // Rows that lie together need no copy.
  if (rows.back() - rows.front() + 1 == count) return output.emit(batch.slice(rows[0], count));
  PENSTOCK_ASSIGN_OR_RETURN(Batch kept, batch.take(rows.data(), count));
  return output.emit(std::move(kept));
}

Result<Column> ArrowFilterOperator::mask_of(const Batch& batch) {
  const GilScope gil;
  PENSTOCK_ASSIGN_OR_RETURN(const py::object result,
                            call_with_columns(function_.get(), batch, "column filter"));
  PENSTOCK_ASSIGN_OR_RETURN(Column mask, column_from_arrow(result));
  if (mask.type->id != TypeId::kBool) {
    return Status::type_error("column filter returned an array of " + mask.type->to_string() +
                              "; it must return booleans");
  }
  if (mask.length != batch.num_rows) {
    return Status::type_error("column filter returned " + std::to_string(mask.length) +
                              " booleans for " + std::to_string(batch.num_rows) + " records");
  }
  return mask;
}

Status RowsToColumnsOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  if (batch.is_columnar()) return output.emit(std::move(batch));
  PENSTOCK_ASSIGN_OR_RETURN(Batch columns, convert(std::move(batch)));
  return output.emit(std::move(columns));
}

Result<Batch> RowsToColumnsOperator::convert(Batch batch) {
  const GilScope gil;
  const Batch input = std::move(batch);
  return columns_from_rows(input, schema_.get());
}

}  // namespace penstock::bindings
