// A column's values as Python objects, in bulk: the type is looked at once, then one tight loop.
//
// bool, int, float, str, bytes, date, time, datetime, timedelta, Decimal and None are made
// natively; everything else (nested types, extension types, float16 ...) as pyarrow's to_pylist()
// makes it. Differences to pyarrow, on purpose: nanoseconds are cut to microseconds, never a pandas
// object.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "columnar/batch.h"

namespace penstock::bindings {

class ValueReader {
 public:
  // `column` must remain live and unchanged while the reader is used.
  static Result<ValueReader> make(const Column& column, const Field& field);

  // Fills `out` with `count` new references. On failure nothing is left in `out`.
  Status read(int64_t from, int64_t count, PyObject** out) const;
  // False when every value is of a kind that can never be part of a reference cycle.
  [[nodiscard]] bool makes_containers() const { return pylist_.ptr() != nullptr; }

 private:
  using Fill = bool (*)(const ValueReader&, int64_t from, int64_t count, PyObject** out);
  friend struct Fills;

  const Column* column_ = nullptr;
  const Field* field_ = nullptr;
  Fill fill_ = nullptr;
  pybind11::object zone_;  // tzinfo of a timestamp with a time zone
  bool zone_is_utc_ = false;
  pybind11::object pylist_;  // what to_pylist() gave, for types without a loop of their own
};

}  // namespace penstock::bindings
