// Python objects <-> canonical key bytes (record/key_encoding.h has the encoding).
//
// Keys may be None, bool, int, float, str, bytes, Decimal, date, datetime, time, timedelta, UUID,
// Enum members, and tuples (Rows, named tuples) of these; NumPy scalars count as the Python values
// they hold.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "common/status.h"

namespace penstock::bindings {

// Appends to `out`. kTypeError says what to do when `object` cannot be a key.
Status encode_object_key(PyObject* object, std::string* out);

// New reference; null with the Python error set when the bytes are no key. Rows come back as
// tuples, aware datetimes in UTC: equal to what was encoded.
PyObject* decode_object_key(std::string_view bytes);

}  // namespace penstock::bindings
