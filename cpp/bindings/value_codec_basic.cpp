// Codecs of numbers, texts and times.
#include <Python.h>
#include <datetime.h>

#include <cstring>
#include <limits>

#include "bindings/errors.h"
#include "bindings/key_types.h"
#include "bindings/value_codecs.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

class BooleanCodec final : public ValueCodec {
 public:
  explicit BooleanCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (!PyBool_Check(value)) return misfit(value);
    out->push_back(value == Py_True ? 1 : 0);
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    uint8_t byte = 0;
    if (!in->get_u8(&byte) || byte > 1) return damaged_value(type_text());
    return PyBool_FromLong(byte);
  }
};

template <typename T>
class IntegerCodec final : public ValueCodec {
 public:
  explicit IntegerCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    long long number = 0;
    int overflow = 0;
    if (PyLong_CheckExact(value)) [[likely]] {
      number = PyLong_AsLongLongAndOverflow(value, &overflow);
    } else {
      if (PyBool_Check(value)) return misfit(value);
      const PyRef index = PyRef::adopt(PyNumber_Index(value));
      if (!index) return misfit(value);
      number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    }
    const bool fits = overflow == 0 && number >= std::numeric_limits<T>::min() &&
                      number <= std::numeric_limits<T>::max();
    if (!fits) return misfit(value, "it is out of range");
    const T narrow = static_cast<T>(number);
    out->append(reinterpret_cast<const char*>(&narrow), sizeof(T));
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    std::string_view bytes;
    if (!in->get_raw(sizeof(T), &bytes)) return damaged_value(type_text());
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return PyLong_FromLongLong(value);
  }
};

template <typename T>
class FloatCodec final : public ValueCodec {
 public:
  explicit FloatCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    // Whatever has a __float__ would fit, str has none; bool is an int and is none here.
    if (PyBool_Check(value)) return misfit(value);
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) return misfit(value);
    const T narrow = static_cast<T>(number);
    out->append(reinterpret_cast<const char*>(&narrow), sizeof(T));
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    std::string_view bytes;
    if (!in->get_raw(sizeof(T), &bytes)) return damaged_value(type_text());
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return PyFloat_FromDouble(static_cast<double>(value));
  }
};

class StringCodec final : public ValueCodec {
 public:
  explicit StringCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (!PyUnicode_Check(value)) return misfit(value);
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == nullptr) return misfit(value, "it has lone surrogates");
    put_sized(out, {text, static_cast<size_t>(size)});
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    std::string_view text;
    if (!read_sized(in, &text)) return damaged_value(type_text());
    return made_of(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
  }
};

class BinaryCodec final : public ValueCodec {
 public:
  explicit BinaryCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (PyBytes_Check(value)) {
      put_sized(out, {PyBytes_AS_STRING(value), static_cast<size_t>(PyBytes_GET_SIZE(value))});
      return Status::ok();
    }
    if (PyUnicode_Check(value) || PyObject_CheckBuffer(value) == 0) return misfit(value);
    const PyRef bytes = PyRef::adopt(PyBytes_FromObject(value));
    return bytes ? encode(bytes.get(), out) : misfit(value);
  }
  PyObject* decode(ByteReader* in) const override {
    std::string_view bytes;
    if (!read_sized(in, &bytes)) return damaged_value(type_text());
    return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  }
};

// Integers of any size: two's complement, little endian, as few bytes as hold the sign.
class BigIntCodec final : public ValueCodec {
 public:
  explicit BigIntCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (PyBool_Check(value)) return misfit(value);
    const PyRef number = PyRef::adopt(PyNumber_Index(value));
    if (!number) return misfit(value);
    try {
      const py::handle integer(number.get());
      const auto size = integer.attr("bit_length")().cast<size_t>() / 8 + 1;
      const py::bytes bytes =
          integer.attr("to_bytes")(size, "little", py::arg("signed") = py::bool_(true));
      put_sized(out, static_cast<std::string_view>(bytes));
      return Status::ok();
    } catch (py::error_already_set& error) {
      return status_from_python_error(error, type_text());
    }
  }
  PyObject* decode(ByteReader* in) const override {
    std::string_view bytes;
    if (!read_sized(in, &bytes)) return damaged_value(type_text());
    return _PyLong_FromByteArray(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                                 /*little_endian=*/1, /*is_signed=*/1);
  }
};

// Decimals as their text: every digit, the exponent, NaN and the infinities.
class BigDecCodec final : public ValueCodec {
 public:
  explicit BigDecCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    const bool is_int = PyLong_Check(value) && !PyBool_Check(value);
    if (!is_int && PyObject_IsInstance(value, KeyTypes::get().decimal) != 1) return misfit(value);
    const PyRef text = PyRef::adopt(PyObject_Str(value));
    Py_ssize_t size = 0;
    const char* const utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr;
    if (utf8 == nullptr) return misfit(value);
    put_sized(out, {utf8, static_cast<size_t>(size)});
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    std::string_view text;
    if (!read_sized(in, &text)) return damaged_value(type_text());
    const PyRef object = PyRef::adopt(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
    return made_of(object ? PyObject_CallOneArg(KeyTypes::get().decimal, object.get()) : nullptr);
  }
};

constexpr int64_t kMicrosPerDay = int64_t{86400} * 1000000;

int64_t days_of(PyObject* date) {
  const int64_t month = PyDateTime_GET_MONTH(date);
  const int64_t year = PyDateTime_GET_YEAR(date) - (month <= 2 ? 1 : 0);
  const int64_t era = year / 400;  // years are positive
  const int64_t of_era = year - era * 400;
  const int64_t of_year =
      (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + PyDateTime_GET_DAY(date) - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// 1970-01-01 plus so many microseconds.
PyObject* datetime_of(int64_t micros, PyObject* zone) {
  const PyRef epoch = PyRef::adopt(PyDateTimeAPI->DateTime_FromDateAndTime(
      1970, 1, 1, 0, 0, 0, 0, zone, PyDateTimeAPI->DateTimeType));
  const int64_t days = micros / kMicrosPerDay - (micros % kMicrosPerDay < 0 ? 1 : 0);
  const int64_t rest = micros - days * kMicrosPerDay;
  if (days < -1'000'000 || days > 4'000'000) return nullptr;
  const PyRef delta = PyRef::adopt(PyDelta_FromDSU(
      static_cast<int>(days), static_cast<int>(rest / 1000000), static_cast<int>(rest % 1000000)));
  return epoch && delta ? PyNumber_Add(epoch.get(), delta.get()) : nullptr;
}

// 1 for a datetime with a time zone (its instant is kept, it comes back in UTC), then microseconds.
class TimestampCodec final : public ValueCodec {
 public:
  explicit TimestampCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (!PyDateTime_Check(value)) return misfit(value);
    int64_t micros = days_of(value) * kMicrosPerDay +
                     (PyDateTime_DATE_GET_HOUR(value) * 3600 +
                      PyDateTime_DATE_GET_MINUTE(value) * 60 + PyDateTime_DATE_GET_SECOND(value)) *
                         int64_t{1000000} +
                     PyDateTime_DATE_GET_MICROSECOND(value);
    bool aware = false;
    if (PyDateTime_DATE_GET_TZINFO(value) != Py_None) {
      const PyRef offset = PyRef::adopt(PyObject_CallMethod(value, "utcoffset", nullptr));
      if (!offset) return misfit(value, "utcoffset() raised");
      aware = PyDelta_Check(offset.get());
      if (aware) {
        micros -= PyDateTime_DELTA_GET_DAYS(offset.get()) * kMicrosPerDay +
                  PyDateTime_DELTA_GET_SECONDS(offset.get()) * int64_t{1000000} +
                  PyDateTime_DELTA_GET_MICROSECONDS(offset.get());
      }
    }
    out->push_back(aware ? 1 : 0);
    put_u64(out, static_cast<uint64_t>(micros));
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    uint8_t aware = 0;
    uint64_t micros = 0;
    if (!in->get_u8(&aware) || aware > 1 || !in->get_u64(&micros))
      return damaged_value(type_text());
    return made_of(
        datetime_of(static_cast<int64_t>(micros), aware == 1 ? KeyTypes::get().utc : Py_None));
  }
};

class DateCodec final : public ValueCodec {
 public:
  explicit DateCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (!PyDate_Check(value) || PyDateTime_Check(value)) return misfit(value);
    put_i32(out, static_cast<int32_t>(days_of(value)));
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    int32_t days = 0;
    if (!in->get_i32(&days)) return damaged_value(type_text());
    return made_of(PyObject_CallMethod(reinterpret_cast<PyObject*>(PyDateTimeAPI->DateType),
                                       "fromordinal", "L", days + 719163LL));
  }
};

class TimeCodec final : public ValueCodec {
 public:
  explicit TimeCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (!PyTime_Check(value)) return misfit(value);
    if (PyDateTime_TIME_GET_TZINFO(value) != Py_None) return misfit(value, "it has a time zone");
    const int64_t seconds = PyDateTime_TIME_GET_HOUR(value) * 3600 +
                            PyDateTime_TIME_GET_MINUTE(value) * 60 +
                            PyDateTime_TIME_GET_SECOND(value);
    put_u64(out, static_cast<uint64_t>(seconds * 1000000 + PyDateTime_TIME_GET_MICROSECOND(value)));
    return Status::ok();
  }
  PyObject* decode(ByteReader* in) const override {
    uint64_t micros = 0;
    if (!in->get_u64(&micros) || micros >= static_cast<uint64_t>(kMicrosPerDay))
      return damaged_value(type_text());
    const auto seconds = static_cast<int>(micros / 1000000);
    return PyTime_FromTime(seconds / 3600, seconds / 60 % 60, seconds % 60,
                           static_cast<int>(micros % 1000000));
  }
};

}  // namespace

std::unique_ptr<const ValueCodec> make_number_codec(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kBoolean:
      return std::make_unique<BooleanCodec>(type);
    case ValueKind::kByte:
      return std::make_unique<IntegerCodec<int8_t>>(type);
    case ValueKind::kShort:
      return std::make_unique<IntegerCodec<int16_t>>(type);
    case ValueKind::kInt:
      return std::make_unique<IntegerCodec<int32_t>>(type);
    case ValueKind::kFloat:
      return std::make_unique<FloatCodec<float>>(type);
    case ValueKind::kDouble:
      return std::make_unique<FloatCodec<double>>(type);
    default:
      return std::make_unique<IntegerCodec<int64_t>>(type);
  }
}

std::unique_ptr<const ValueCodec> make_text_codec(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kBinary:
      return std::make_unique<BinaryCodec>(type);
    case ValueKind::kBigInt:
      return std::make_unique<BigIntCodec>(type);
    case ValueKind::kBigDec:
      return std::make_unique<BigDecCodec>(type);
    default:
      return std::make_unique<StringCodec>(type);
  }
}

std::unique_ptr<const ValueCodec> make_time_codec(const ValueType& type) {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;
  switch (type.kind) {
    case ValueKind::kDate:
      return std::make_unique<DateCodec>(type);
    case ValueKind::kTime:
      return std::make_unique<TimeCodec>(type);
    default:
      return std::make_unique<TimestampCodec>(type);
  }
}

}  // namespace penstock::bindings
