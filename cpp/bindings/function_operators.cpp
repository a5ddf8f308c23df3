#include "bindings/function_operators.h"

#include <string>

#include "bindings/errors.h"
#include "bindings/rows.h"

namespace penstock::bindings {

namespace {

// Results of flat_map that may wait before they are sent.
constexpr int64_t kMaxPendingRows = 65536;

}  // namespace

Status MapOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(Batch mapped, map(std::move(batch)));
  return output.emit(std::move(mapped));
}

Result<Batch> MapOperator::map(Batch batch) {
  const GilScope gil;
  const Batch input = std::move(batch);  // dropped while the GIL is held
  PENSTOCK_ASSIGN_OR_RETURN(const Batch rows, as_rows(input));
  NewRows results;
  results.reserve(rows.num_rows);
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (context_.is_cancelled()) return cancelled_in_user_code();
    PyObject* const row = row_at(rows, i);
    PyObject* const result = call_one(function(), row);
    if (result == nullptr) return raised_on_record("map function", row);
    results.append(result);
  }
  Batch mapped = results.finish();
  mapped.timestamps = rows.timestamps;
  return mapped;
}

Status FilterOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(Batch kept, filter(std::move(batch)));
  return kept.num_rows == 0 ? Status::ok() : output.emit(std::move(kept));
}

Result<Batch> FilterOperator::filter(Batch batch) {
  const GilScope gil;
  const Batch input = std::move(batch);
  PENSTOCK_ASSIGN_OR_RETURN(Batch rows, as_rows(input));
  std::vector<int32_t> kept;
  PENSTOCK_RETURN_NOT_OK(find_kept(rows, &kept));
  const auto count = static_cast<int64_t>(kept.size());
  if (count == rows.num_rows) return rows;
  return rows.take(kept.data(), count);
}

Status FilterOperator::find_kept(const Batch& rows, std::vector<int32_t>* kept) {
  kept->reserve(static_cast<size_t>(rows.num_rows));
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (context_.is_cancelled()) return cancelled_in_user_code();
    PyObject* const row = row_at(rows, i);
    PyObject* const result = call_one(function(), row);
    const int truth = result == nullptr ? -1 : PyObject_IsTrue(result);
    if (truth < 0) {
      Status status = raised_on_record("filter function", row);
      Py_XDECREF(result);
      return status;
    }
    Py_DECREF(result);
    if (truth != 0) kept->push_back(static_cast<int32_t>(i));
  }
  return Status::ok();
}

Status FlatMapOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  Batch last;
  PENSTOCK_RETURN_NOT_OK(flat_map(std::move(batch), output, &last));
  return last.num_rows == 0 ? Status::ok() : output.emit(std::move(last));
}

Batch FlatMapOperator::finish(Pending* pending) {
  Batch batch = pending->rows.finish();
  if (pending->timed) batch.timestamps = int64_column(std::exchange(pending->timestamps, {}));
  return batch;
}

Status FlatMapOperator::flat_map(Batch batch, Output& output, Batch* last) {
  const GilScope gil;
  const Batch input = std::move(batch);
  PENSTOCK_ASSIGN_OR_RETURN(const Batch rows, as_rows(input));
  const Timestamp* const timestamps = rows.timestamp_data();
  Pending pending;
  pending.timed = timestamps != nullptr;
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    const Timestamp timestamp = pending.timed ? timestamps[i] : kMinTimestamp;
    PENSTOCK_RETURN_NOT_OK(flat_map_row(row_at(rows, i), timestamp, output, &pending));
  }
  if (pending.rows.size() > 0) *last = finish(&pending);
  return Status::ok();
}

Status FlatMapOperator::flat_map_row(PyObject* row, Timestamp timestamp, Output& output,
                                     Pending* pending) {
  if (context_.is_cancelled()) return cancelled_in_user_code();
  const PyRef results = PyRef::adopt(call_one(function(), row));
  if (!results) return raised_on_record("flat_map function", row);
  if (results.get() == Py_None) return Status::ok();
  Status status;
  const bool iterated = for_each_item(results.get(), &status, [&](PyObject* result) -> Status {
    pending->rows.append(result);
    if (pending->timed) pending->timestamps.push_back(timestamp);
    if (context_.is_cancelled()) return cancelled_in_user_code();
    if (pending->rows.size() < kMaxPendingRows) return Status::ok();
    Batch full = finish(pending);
    const GilRelease release;
    return output.emit(std::move(full));
  });
  if (iterated) return status;
  if (Py_TYPE(results.get())->tp_iter == nullptr && PySequence_Check(results.get()) == 0) {
    PyErr_Clear();
    return Status::type_error("flat_map function returned " + record_repr(results.get()) +
                              " on record " + record_repr(row) +
                              "; it must return an iterable or None");
  }
  return raised_on_record("flat_map function", row);
}

}  // namespace penstock::bindings
