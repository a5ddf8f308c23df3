// Key bytes -> Python objects.

#include <Python.h>
#include <datetime.h>

#include <bit>
#include <string>

#include "bindings/errors.h"
#include "bindings/key_codec.h"
#include "bindings/key_types.h"
#include "record/key_bytes.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

constexpr int kMaxDepth = 100;

[[noreturn]] void fail() { raise(Status::corruption("the bytes are not an encoded key")); }

void check(bool good) {
  if (!good) fail();
}

py::object steal(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::object decode(KeyReader* reader, int depth);

py::object decode_big_int(KeyReader* reader) {
  bool negative = false;
  std::string_view magnitude;
  check(reader->read_big_int(&negative, &magnitude));
  const auto type = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyLong_Type));
  const py::object value =
      type.attr("from_bytes")(py::bytes(magnitude.data(), magnitude.size()), "big");
  return negative ? steal(PyNumber_Negative(value.ptr())) : value;
}

py::object decode_float(KeyReader* reader) {
  uint64_t bits = 0;
  check(reader->read_u64(&bits));
  bits = (bits & kSignBit64) != 0 ? bits & ~kSignBit64 : ~bits;
  return steal(PyFloat_FromDouble(std::bit_cast<double>(bits)));
}

py::object decode_decimal(KeyReader* reader, int depth) {
  int32_t exponent = 0;
  check(reader->read_i32(&exponent));
  const std::string coefficient = py::str(decode(reader, depth + 1));
  return py::handle(KeyTypes::get().decimal)(coefficient + "E" + std::to_string(exponent));
}

py::object decode_date(KeyReader* reader) {
  int32_t days = 0;
  check(reader->read_i32(&days));
  const py::handle type(reinterpret_cast<PyObject*>(PyDateTimeAPI->DateType));
  return type.attr("fromordinal")(days + 719163);
}

// seconds and whole microseconds as a timedelta.
py::object read_delta(KeyReader* reader) {
  int64_t seconds = 0;
  uint32_t nanos = 0;
  check(reader->read_i64(&seconds) && reader->read_u32(&nanos));
  const int64_t days = seconds / 86400 - (seconds % 86400 < 0 ? 1 : 0);
  return steal(PyDelta_FromDSU(static_cast<int>(days), static_cast<int>(seconds - days * 86400),
                               static_cast<int>(nanos / 1000)));
}

py::object decode_datetime(KeyReader* reader, PyObject* zone) {
  const py::object epoch = steal(PyDateTimeAPI->DateTime_FromDateAndTime(
      1970, 1, 1, 0, 0, 0, 0, zone, PyDateTimeAPI->DateTimeType));
  return steal(PyNumber_Add(epoch.ptr(), read_delta(reader).ptr()));
}

py::object decode_time(KeyReader* reader) {
  int64_t nanos = 0;
  check(reader->read_i64(&nanos) && nanos >= 0);
  const auto seconds = static_cast<int>(nanos / 1000000000);
  return steal(PyTime_FromTime(seconds / 3600, seconds / 60 % 60, seconds % 60,
                               static_cast<int>(nanos / 1000 % 1000000)));
}

py::object decode_enum(KeyReader* reader, int depth) {
  const py::str path = decode(reader, depth + 1);
  const py::object name = decode(reader, depth + 1);
  const py::tuple parts = path.attr("partition")(":");
  py::object type = py::module_::import(std::string(py::str(parts[0])).c_str());
  for (const py::handle part : parts[2].attr("split")(".")) type = type.attr(part);
  return type[name];
}

py::object decode_tuple(KeyReader* reader, int depth) {
  uint64_t count = 0;
  // Each element takes a byte at least: a count beyond that is no reason to allocate.
  check(reader->read_varint(&count) && count <= reader->rest().size());
  py::tuple tuple(static_cast<size_t>(count));
  for (size_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i),
                     decode(reader, depth + 1).release().ptr());
  }
  return tuple;
}

py::object decode_sized(KeyReader* reader, bool text) {
  std::string_view bytes;
  check(reader->read_sized(&bytes));
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return steal(text ? PyUnicode_DecodeUTF8(bytes.data(), size, nullptr)
                    : PyBytes_FromStringAndSize(bytes.data(), size));
}

py::object decode_uuid(KeyReader* reader) {
  std::string_view bytes;
  check(reader->read_view(16, &bytes));
  return py::handle(KeyTypes::get().uuid)(py::arg("bytes") = py::bytes(bytes.data(), bytes.size()));
}

py::object decode_int(KeyReader* reader) {
  int64_t value = 0;
  check(reader->read_i64(&value));
  return steal(PyLong_FromLongLong(value));
}

py::object decode(KeyReader* reader, int depth) {
  KeyTag tag{};
  check(depth < kMaxDepth && reader->read_tag(&tag));
  switch (tag) {
    case KeyTag::kNone:
      return py::none();
    case KeyTag::kFalse:
      return py::bool_(false);
    case KeyTag::kTrue:
      return py::bool_(true);
    case KeyTag::kInt:
      return decode_int(reader);
    case KeyTag::kBigInt:
      return decode_big_int(reader);
    case KeyTag::kFloat:
      return decode_float(reader);
    case KeyTag::kStr:
      return decode_sized(reader, true);
    case KeyTag::kBytes:
      return decode_sized(reader, false);
    case KeyTag::kDecimal:
      return decode_decimal(reader, depth);
    case KeyTag::kDate:
      return decode_date(reader);
    case KeyTag::kNaiveDatetime:
      return decode_datetime(reader, Py_None);
    case KeyTag::kAwareDatetime:
      return decode_datetime(reader, KeyTypes::get().utc);
    case KeyTag::kTime:
      return decode_time(reader);
    case KeyTag::kUuid:
      return decode_uuid(reader);
    case KeyTag::kEnum:
      return decode_enum(reader, depth);
    case KeyTag::kTuple:
      return decode_tuple(reader, depth);
    case KeyTag::kTimedelta:
      return read_delta(reader);
  }
  fail();
}

}  // namespace

PyObject* decode_object_key(std::string_view bytes) {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;
  try {
    KeyReader reader(bytes);
    py::object key = decode(&reader, 0);
    check(reader.at_end());
    return key.release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

}  // namespace penstock::bindings
