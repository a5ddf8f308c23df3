#include "bindings/python_timestamps.h"

#include <string>
#include <vector>

#include "bindings/rows.h"

namespace penstock::bindings {

namespace {

constexpr const char* kWhat = "timestamp assigner";

Status not_a_timestamp(PyObject* result, PyObject* record) {
  return Status::type_error(std::string(kWhat) + " returned " + record_repr(result) +
                            " on record " + record_repr(record) +
                            "; it must return an int, milliseconds since the epoch");
}

// An int, or what is as good as one (numpy.int64). True is no time.
Result<Timestamp> as_timestamp(PyObject* result, PyObject* record) {
  if (!PyLong_CheckExact(result) && (PyBool_Check(result) || PyIndex_Check(result) == 0)) {
    return not_a_timestamp(result, record);
  }
  const PyRef number = PyRef::adopt(PyNumber_Index(result));
  if (!number) return raised_on_record(kWhat, record);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow != 0) {
    return Status::overflow(std::string(kWhat) + " returned " + record_repr(result) +
                            " on record " + record_repr(record) + ", which is beyond 64 bits");
  }
  return Timestamp{value};
}

}  // namespace

Result<Column> PythonTimestamps::extract(const Batch& batch) {
  const GilScope gil;
  PENSTOCK_ASSIGN_OR_RETURN(const Batch rows, as_rows(batch));
  const Timestamp* const previous = rows.timestamp_data();
  const PyRef none_yet = PyRef::adopt(PyLong_FromLongLong(kMinTimestamp));
  if (!none_yet) return Status::internal("out of memory");
  std::vector<Timestamp> timestamps;
  timestamps.reserve(static_cast<size_t>(rows.num_rows));
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (cancelled_.is_set()) return cancelled_in_user_code();
    PyObject* const row = row_at(rows, i);
    const PyRef before = previous == nullptr ? PyRef::share(none_yet.get())
                                             : PyRef::adopt(PyLong_FromLongLong(previous[i]));
    const PyRef result =
        PyRef::adopt(before ? call_two(function_.get(), row, before.get()) : nullptr);
    if (!result) return raised_on_record(kWhat, row);
    PENSTOCK_ASSIGN_OR_RETURN(const Timestamp timestamp, as_timestamp(result.get(), row));
    timestamps.push_back(timestamp);
  }
  return int64_column(std::move(timestamps));
}

}  // namespace penstock::bindings
