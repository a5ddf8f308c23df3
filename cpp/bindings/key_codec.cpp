// Python objects -> key bytes.

#include "bindings/key_codec.h"

#include <Python.h>
#include <datetime.h>

#include <cstring>
#include <limits>

#include "bindings/errors.h"
#include "bindings/key_types.h"
#include "record/key_bytes.h"
#include "record/key_encoding.h"

namespace py = pybind11;

namespace penstock::bindings {

const KeyTypes& KeyTypes::get() {
  static const KeyTypes types = [] {
    auto type = [](const char* module, const char* name) {
      return py::object(py::module_::import(module).attr(name)).release().ptr();
    };
    return KeyTypes{
        type("decimal", "Decimal"), type("uuid", "UUID"), type("enum", "Enum"),
        py::object(py::module_::import("datetime").attr("timezone").attr("utc")).release().ptr()};
  }();
  return types;
}

namespace {

// As deep as KeyReader follows.
constexpr int kMaxDepth = 100;

Status encode(PyObject* object, std::string* out, int depth);

Status encode_text(PyObject* object, std::string* out) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return Status::invalid("a str with lone surrogates cannot be a key");
  }
  encode_str({text, static_cast<size_t>(size)}, out);
  return Status::ok();
}

Status encode_long(PyObject* object, std::string* out) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) [[likely]] {
    if (value == -1 && PyErr_Occurred() != nullptr) return status_from_python_error("key");
    encode_int64(value, out);
    return Status::ok();
  }
  const py::object magnitude = py::reinterpret_steal<py::object>(PyNumber_Absolute(object));
  const size_t bits = magnitude.attr("bit_length")().cast<size_t>();
  const py::bytes bytes = magnitude.attr("to_bytes")((bits + 7) / 8, "big");
  encode_big_int(overflow < 0, static_cast<std::string_view>(bytes), out);
  return Status::ok();
}

int64_t days_from_civil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int64_t days_of(PyObject* date) {
  return days_from_civil(PyDateTime_GET_YEAR(date), PyDateTime_GET_MONTH(date),
                         PyDateTime_GET_DAY(date));
}

int64_t delta_micros(PyObject* delta) {
  return (int64_t{PyDateTime_DELTA_GET_DAYS(delta)} * 86400 + PyDateTime_DELTA_GET_SECONDS(delta)) *
             1000000 +
         PyDateTime_DELTA_GET_MICROSECONDS(delta);
}

// Nanoseconds below the microsecond, which pandas.Timestamp and pandas.Timedelta have.
uint32_t extra_nanos(PyObject* object, const char* attribute) {
  if (PyDateTime_CheckExact(object) || PyDelta_CheckExact(object)) return 0;
  const auto nanos = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, attribute));
  const long value = nanos ? PyLong_AsLong(nanos.ptr()) : 0;
  PyErr_Clear();
  return value > 0 && value < 1000 ? static_cast<uint32_t>(value) : 0;
}

Status encode_datetime_object(PyObject* object, std::string* out) {
  if (std::strcmp(Py_TYPE(object)->tp_name, "NaTType") == 0 ||
      std::strstr(Py_TYPE(object)->tp_name, ".NaTType") != nullptr) {
    encode_none(out);
    return Status::ok();
  }
  int64_t micros = (days_of(object) * 86400 + PyDateTime_DATE_GET_HOUR(object) * 3600 +
                    PyDateTime_DATE_GET_MINUTE(object) * 60 + PyDateTime_DATE_GET_SECOND(object)) *
                       1000000 +
                   PyDateTime_DATE_GET_MICROSECOND(object);
  bool aware = false;
  if (PyDateTime_DATE_GET_TZINFO(object) != Py_None) {
    const auto offset =
        py::reinterpret_steal<py::object>(PyObject_CallMethod(object, "utcoffset", nullptr));
    if (!offset) return status_from_python_error("key: utcoffset()");
    aware = !offset.is_none();
    if (aware) micros -= delta_micros(offset.ptr());
  }
  const int64_t seconds = micros / 1000000 - (micros % 1000000 < 0 ? 1 : 0);
  const auto rest = static_cast<uint32_t>(micros - seconds * 1000000);
  encode_datetime(seconds, rest * 1000 + extra_nanos(object, "nanosecond"), aware, out);
  return Status::ok();
}

Status encode_time_object(PyObject* object, std::string* out) {
  if (PyDateTime_TIME_GET_TZINFO(object) != Py_None) {
    return Status::type_error("a time with a time zone cannot be a key; use a datetime");
  }
  const int64_t seconds = PyDateTime_TIME_GET_HOUR(object) * 3600 +
                          PyDateTime_TIME_GET_MINUTE(object) * 60 +
                          PyDateTime_TIME_GET_SECOND(object);
  encode_time(seconds * 1000000000 + int64_t{PyDateTime_TIME_GET_MICROSECOND(object)} * 1000, out);
  return Status::ok();
}

Status encode_delta_object(PyObject* object, std::string* out) {
  const int64_t seconds =
      int64_t{PyDateTime_DELTA_GET_DAYS(object)} * 86400 + PyDateTime_DELTA_GET_SECONDS(object);
  const auto micros = static_cast<uint32_t>(PyDateTime_DELTA_GET_MICROSECONDS(object));
  encode_timedelta(seconds, micros * 1000 + extra_nanos(object, "nanoseconds"), out);
  return Status::ok();
}

// Decimals are normalised by hand: Decimal.normalize() would round to the context's precision.
Status encode_decimal_object(PyObject* object, std::string* out, int depth) {
  const py::object parts = py::handle(object).attr("as_tuple")();
  const py::tuple digits = parts.attr("digits");
  const py::object exponent_object = parts.attr("exponent");
  if (!PyLong_Check(exponent_object.ptr())) {
    return Status::invalid(std::string(py::repr(object)) + " cannot be a key: it is no number");
  }
  std::string text;
  for (const py::handle digit : digits) text.push_back(static_cast<char>('0' + digit.cast<int>()));
  auto exponent = exponent_object.cast<int64_t>();
  while (!text.empty() && text.back() == '0') {
    text.pop_back();
    ++exponent;
  }
  if (text.empty()) {
    text = "0";
    exponent = 0;
  }
  if (exponent < std::numeric_limits<int32_t>::min() ||
      exponent > std::numeric_limits<int32_t>::max()) {
    return Status::invalid("the exponent of " + std::string(py::repr(object)) +
                           " is too large for a key");
  }
  if (text != "0" && parts.attr("sign").cast<int>() != 0) text.insert(text.begin(), '-');
  key_bytes::append_tag(KeyTag::kDecimal, out);
  key_bytes::append_i32(static_cast<int32_t>(exponent), out);
  const auto coefficient =
      py::reinterpret_steal<py::object>(PyLong_FromString(text.c_str(), nullptr, 10));
  if (!coefficient) return status_from_python_error("key");
  return encode(coefficient.ptr(), out, depth + 1);
}

Status encode_enum_object(PyObject* object, std::string* out, int depth) {
  const py::handle type = py::type::handle_of(object);
  const py::object name = py::handle(object).attr("name");
  if (!type.attr("__members__").contains(name)) {
    return Status::type_error(std::string(py::repr(object)) +
                              " is a combination of flags and cannot be a key; use its .value");
  }
  const py::str path = py::str("{}:{}").format(type.attr("__module__"), type.attr("__qualname__"));
  key_bytes::append_tag(KeyTag::kEnum, out);
  PENSTOCK_RETURN_NOT_OK(encode(path.ptr(), out, depth + 1));
  return encode(name.ptr(), out, depth + 1);
}

Status encode_uuid_object(PyObject* object, std::string* out) {
  const py::bytes bytes = py::handle(object).attr("bytes");
  key_bytes::append_tag(KeyTag::kUuid, out);
  out->append(static_cast<std::string_view>(bytes));
  return Status::ok();
}

Status encode_tuple(PyObject* object, std::string* out, int depth) {
  const Py_ssize_t size = PyTuple_GET_SIZE(object);
  encode_tuple_header(static_cast<uint64_t>(size), out);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PENSTOCK_RETURN_NOT_OK(encode(PyTuple_GET_ITEM(object, i), out, depth + 1));
  }
  return Status::ok();
}

Status refuse(PyObject* object) {
  if (PyList_Check(object)) {
    return Status::type_error("a list cannot be a key because it is mutable; use tuple(...)");
  }
  if (PyDict_Check(object)) {
    return Status::type_error(
        "a dict cannot be a key because it is mutable; use one of its values or a tuple of them");
  }
  if (PyAnySet_Check(object)) {
    return Status::type_error(
        "a set cannot be a key because it has no order; use tuple(sorted(...))");
  }
  if (PyByteArray_Check(object) || PyMemoryView_Check(object)) {
    return Status::type_error(std::string("a ") + Py_TYPE(object)->tp_name +
                              " cannot be a key because it is mutable; use bytes(...)");
  }
  return Status::type_error(
      std::string("an object of type ") + Py_TYPE(object)->tp_name +
      " cannot be a key; use one of its fields or a tuple of them (keys are None, bool, int, "
      "float, "
      "str, bytes, Decimal, date, datetime, time, timedelta, UUID, Enum, and tuples of these)");
}

bool is_numpy_scalar(PyObject* object) {
  return std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 &&
         PyObject_HasAttrString(object, "item") != 0 && !PySequence_Check(object);
}

// NumPy's times in nanoseconds would come out of item() as bare ints. Seconds and the rest apart:
// far times do not fit into nanoseconds.
Status encode_numpy_time(PyObject* object, bool is_duration, std::string* out) {
  const py::handle value(object);
  const py::object whole = value.attr("astype")(is_duration ? "timedelta64[s]" : "datetime64[s]");
  if (py::module_::import("numpy").attr("isnat")(whole).cast<bool>()) {
    encode_none(out);
    return Status::ok();
  }
  const py::object fraction = (py::object(value - whole)).attr("astype")("timedelta64[ns]");
  auto seconds = whole.attr("astype")("int64").attr("item")().cast<int64_t>();
  auto nanos = fraction.attr("astype")("int64").attr("item")().cast<int64_t>();
  if (nanos < 0) {
    nanos += 1000000000;
    --seconds;
  }
  if (is_duration) {
    encode_timedelta(seconds, static_cast<uint32_t>(nanos), out);
  } else {
    encode_datetime(seconds, static_cast<uint32_t>(nanos), false, out);
  }
  return Status::ok();
}

Status encode_numpy(PyObject* object, std::string* out, int depth) {
  const char* name = Py_TYPE(object)->tp_name + 6;
  if (std::strcmp(name, "datetime64") == 0) return encode_numpy_time(object, false, out);
  if (std::strcmp(name, "timedelta64") == 0) return encode_numpy_time(object, true, out);
  const py::object item = py::handle(object).attr("item")();
  // longdouble has no Python equal: its item() is one again.
  if (Py_TYPE(item.ptr()) == Py_TYPE(object)) return refuse(object);
  return encode(item.ptr(), out, depth + 1);
}

// Everything but the exact built-in types that encode() tries first.
Status encode_slow(PyObject* object, std::string* out, int depth) {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;
  const KeyTypes& types = KeyTypes::get();
  // Before int and str: an IntEnum member is a member and not a number.
  if (PyObject_IsInstance(object, types.enum_base) == 1) {
    return encode_enum_object(object, out, depth);
  }
  if (PyLong_Check(object)) return encode_long(object, out);
  if (PyFloat_Check(object)) {
    encode_float(PyFloat_AS_DOUBLE(object), out);
    return Status::ok();
  }
  if (PyUnicode_Check(object)) return encode_text(object, out);
  if (PyBytes_Check(object)) {
    encode_bytes({PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object))}, out);
    return Status::ok();
  }
  if (PyTuple_Check(object)) return encode_tuple(object, out, depth);
  // Before date, whose subclass it is.
  if (PyDateTime_Check(object)) return encode_datetime_object(object, out);
  if (PyDate_Check(object)) {
    encode_date(static_cast<int32_t>(days_of(object)), out);
    return Status::ok();
  }
  if (PyTime_Check(object)) return encode_time_object(object, out);
  if (PyDelta_Check(object)) return encode_delta_object(object, out);
  if (PyObject_IsInstance(object, types.decimal) == 1) {
    return encode_decimal_object(object, out, depth);
  }
  if (PyObject_IsInstance(object, types.uuid) == 1) return encode_uuid_object(object, out);
  if (is_numpy_scalar(object)) return encode_numpy(object, out, depth);
  return refuse(object);
}

Status encode(PyObject* object, std::string* out, int depth) {
  if (depth >= kMaxDepth) return Status::invalid("a key is nested too deeply");
  if (PyLong_CheckExact(object)) return encode_long(object, out);
  if (PyUnicode_CheckExact(object)) return encode_text(object, out);
  if (PyTuple_CheckExact(object)) return encode_tuple(object, out, depth);
  if (object == Py_None) {
    encode_none(out);
    return Status::ok();
  }
  if (PyBool_Check(object)) {
    encode_bool(object == Py_True, out);
    return Status::ok();
  }
  return encode_slow(object, out, depth);
}

}  // namespace

Status encode_object_key(PyObject* object, std::string* out) {
  try {
    return encode(object, out, 0);
  } catch (py::error_already_set& error) {
    return status_from_python_error(error, "key");
  }
}

}  // namespace penstock::bindings
