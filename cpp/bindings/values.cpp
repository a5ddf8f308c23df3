#include "bindings/values.h"

#include <Python.h>
#include <datetime.h>

#include <charconv>
#include <string>
#include <utility>

#include "bindings/errors.h"
#include "columnar/metadata.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

constexpr int64_t kSecondsPerDay = 86400;

int64_t floor_divide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

struct CivilDate {
  int64_t year;
  int month;
  int day;
};

// Days since 1970-01-01 in the proleptic Gregorian calendar, by eras of 400 years that begin in
// March.
CivilDate civil_from_days(int64_t days) {
  days += 719468;
  const int64_t era = floor_divide(days, 146097);
  const int64_t of_era = days - era * 146097;
  const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const int64_t shifted_month = (5 * of_year + 2) / 153;
  const auto day = static_cast<int>(of_year - (153 * shifted_month + 2) / 5 + 1);
  const auto month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {year + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

bool year_fits(int64_t year) {
  if (year >= 1 && year <= 9999) return true;
  PyErr_Format(PyExc_OverflowError, "year %lld is outside of what Python's datetime can hold",
               static_cast<long long>(year));
  return false;
}

PyObject* make_date(int64_t days) {
  const CivilDate date = civil_from_days(days);
  if (!year_fits(date.year)) return nullptr;
  return PyDate_FromDate(static_cast<int>(date.year), date.month, date.day);
}

// Whole seconds (rounded down) and microseconds (nanoseconds are cut).
struct Micros {
  Micros(int64_t value, TimeUnit unit) {
    const int64_t per_second = units_per_second(unit);
    seconds = floor_divide(value, per_second);
    const int64_t remainder = value % per_second;
    const int64_t rest = remainder < 0 ? remainder + per_second : remainder;
    micros = static_cast<int>(per_second > 1000000 ? rest / 1000 : rest * (1000000 / per_second));
  }
  int64_t seconds;
  int micros;
};

PyObject* make_datetime(int64_t value, TimeUnit unit, PyObject* zone) {
  const Micros time(value, unit);
  const int64_t days = floor_divide(time.seconds, kSecondsPerDay);
  const auto of_day = static_cast<int>(time.seconds - days * kSecondsPerDay);
  const CivilDate date = civil_from_days(days);
  if (!year_fits(date.year)) return nullptr;
  return PyDateTimeAPI->DateTime_FromDateAndTime(static_cast<int>(date.year), date.month, date.day,
                                                 of_day / 3600, of_day / 60 % 60, of_day % 60,
                                                 time.micros, zone, PyDateTimeAPI->DateTimeType);
}

// `zone` decides the offset: tzinfo.fromutc() is asked for each value.
PyObject* make_zoned_datetime(int64_t value, TimeUnit unit, PyObject* zone) {
  PyObject* utc = make_datetime(value, unit, zone);
  if (utc == nullptr) return nullptr;
  PyObject* local = PyObject_CallMethod(zone, "fromutc", "O", utc);
  Py_DECREF(utc);
  return local;
}

PyObject* make_time(int64_t value, TimeUnit unit) {
  const Micros time(value, unit);
  const auto of_day = static_cast<int>(time.seconds);
  return PyTime_FromTime(of_day / 3600, of_day / 60 % 60, of_day % 60, time.micros);
}

PyObject* make_timedelta(int64_t value, TimeUnit unit) {
  const Micros time(value, unit);
  const int64_t days = floor_divide(time.seconds, kSecondsPerDay);
  if (days < -999999999 || days > 999999999) {
    PyErr_SetString(PyExc_OverflowError, "duration is outside of what timedelta can hold");
    return nullptr;
  }
  const auto seconds = static_cast<int>(time.seconds - days * kSecondsPerDay);
  return PyDelta_FromDSU(static_cast<int>(days), seconds, time.micros);
}

__extension__ using Uint128 = unsigned __int128;

// decimal.Decimal("-123E-2"): exact, and with the column's scale kept.
PyObject* make_decimal(const uint8_t* bytes, int32_t scale, PyObject* decimal_type) {
  uint64_t words[2];
  std::memcpy(words, bytes, sizeof(words));
  Uint128 magnitude = (Uint128{words[1]} << 64) | words[0];
  const bool negative = (words[1] >> 63) != 0;
  if (negative) magnitude = ~magnitude + 1;
  char text[64];
  char* const digits_end = text + 40;
  char* begin = digits_end;
  do {
    *--begin = static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative) *--begin = '-';
  char* end = digits_end;
  *end++ = 'E';
  end = std::to_chars(end, text + sizeof(text), -scale).ptr;
  PyObject* string = PyUnicode_FromStringAndSize(begin, end - begin);
  if (string == nullptr) return nullptr;
  PyObject* decimal = PyObject_CallOneArg(decimal_type, string);
  Py_DECREF(string);
  return decimal;
}

// Leaked on purpose: types outlive every use of them.
PyObject* decimal_type() {
  static PyObject* const type =
      py::object(py::module_::import("decimal").attr("Decimal")).release().ptr();
  return type;
}

}  // namespace

// One loop per kind of value.
struct Fills {
  template <typename Make>
  static bool each(const Column& column, int64_t from, int64_t count, PyObject** out, Make make) {
    const bool nulls = column.has_validity();
    for (int64_t i = 0; i < count; ++i) {
      out[i] = nulls && !column.is_valid(from + i) ? Py_NewRef(Py_None) : make(from + i);
      if (out[i] != nullptr) [[likely]] {
        continue;
      }
      for (int64_t k = 0; k < i; ++k) Py_DECREF(out[k]);
      return false;
    }
    return true;
  }

  static bool none(const ValueReader&, int64_t, int64_t count, PyObject** out) {
    for (int64_t i = 0; i < count; ++i) out[i] = Py_NewRef(Py_None);
    return true;
  }

  static bool boolean(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const Column& column = *self.column_;
    return each(column, from, count, out,
                [&](int64_t i) { return Py_NewRef(column.bool_at(i) ? Py_True : Py_False); });
  }

  template <typename T>
  static bool integer(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const T* data = self.column_->data<T>();
    return each(*self.column_, from, count, out, [data](int64_t i) {
      if constexpr (std::is_unsigned_v<T>) {
        return PyLong_FromUnsignedLongLong(data[i]);
      } else {
        return PyLong_FromLongLong(data[i]);
      }
    });
  }

  template <typename T>
  static bool floating(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const T* data = self.column_->data<T>();
    return each(*self.column_, from, count, out,
                [data](int64_t i) { return PyFloat_FromDouble(static_cast<double>(data[i])); });
  }

  static bool text(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const Column& column = *self.column_;
    return each(column, from, count, out, [&](int64_t i) {
      const std::string_view bytes = column.bytes_at(i);
      return PyUnicode_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
    });
  }

  static bool bytes(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const Column& column = *self.column_;
    return each(column, from, count, out, [&](int64_t i) {
      const std::string_view value = column.bytes_at(i);
      return PyBytes_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
    });
  }

  static bool fixed_bytes(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const Column& column = *self.column_;
    const int64_t width = column.type->byte_width;
    const char* data = reinterpret_cast<const char*>(column.values.data) + column.offset * width;
    return each(column, from, count, out, [=](int64_t i) {
      return PyBytes_FromStringAndSize(data + i * width, static_cast<Py_ssize_t>(width));
    });
  }

  static bool date32(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const auto* data = self.column_->data<int32_t>();
    return each(*self.column_, from, count, out, [data](int64_t i) { return make_date(data[i]); });
  }

  static bool date64(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const auto* data = self.column_->data<int64_t>();
    return each(*self.column_, from, count, out, [data](int64_t i) {
      return make_date(floor_divide(data[i], kSecondsPerDay * 1000));
    });
  }

  template <typename T>
  static bool time(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const T* data = self.column_->data<T>();
    const TimeUnit unit = self.column_->type->unit;
    return each(*self.column_, from, count, out,
                [=](int64_t i) { return make_time(data[i], unit); });
  }

  static bool duration(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const auto* data = self.column_->data<int64_t>();
    const TimeUnit unit = self.column_->type->unit;
    return each(*self.column_, from, count, out,
                [=](int64_t i) { return make_timedelta(data[i], unit); });
  }

  static bool timestamp(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const auto* data = self.column_->data<int64_t>();
    const TimeUnit unit = self.column_->type->unit;
    PyObject* zone = self.zone_ ? self.zone_.ptr() : Py_None;
    if (!self.zone_ || self.zone_is_utc_) {
      return each(*self.column_, from, count, out,
                  [=](int64_t i) { return make_datetime(data[i], unit, zone); });
    }
    return each(*self.column_, from, count, out,
                [=](int64_t i) { return make_zoned_datetime(data[i], unit, zone); });
  }

  static bool decimal(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    const Column& column = *self.column_;
    const uint8_t* data = column.values.data + column.offset * 16;
    const int32_t scale = column.type->scale;
    PyObject* type = decimal_type();
    return each(column, from, count, out,
                [=](int64_t i) { return make_decimal(data + i * 16, scale, type); });
  }

  static bool pylist(const ValueReader& self, int64_t from, int64_t count, PyObject** out) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = Py_NewRef(PyList_GET_ITEM(self.pylist_.ptr(), static_cast<Py_ssize_t>(from + i)));
    }
    return true;
  }

  // Null when there is no loop for the type.
  static ValueReader::Fill of(const DataType& type) {
    switch (type.id) {
      case TypeId::kNull:
        return none;
      case TypeId::kBool:
        return boolean;
      case TypeId::kInt8:
        return integer<int8_t>;
      case TypeId::kInt16:
        return integer<int16_t>;
      case TypeId::kInt32:
        return integer<int32_t>;
      case TypeId::kInt64:
        return integer<int64_t>;
      case TypeId::kUInt8:
        return integer<uint8_t>;
      case TypeId::kUInt16:
        return integer<uint16_t>;
      case TypeId::kUInt32:
        return integer<uint32_t>;
      case TypeId::kUInt64:
        return integer<uint64_t>;
      case TypeId::kFloat32:
        return floating<float>;
      case TypeId::kFloat64:
        return floating<double>;
      case TypeId::kUtf8:
      case TypeId::kLargeUtf8:
        return text;
      case TypeId::kBinary:
      case TypeId::kLargeBinary:
        return bytes;
      case TypeId::kDate32:
        return date32;
      case TypeId::kDate64:
        return date64;
      case TypeId::kTime32:
        return time<int32_t>;
      case TypeId::kTime64:
        return time<int64_t>;
      case TypeId::kTimestamp:
        return timestamp;
      case TypeId::kDuration:
        return duration;
      case TypeId::kDecimal128:
        return decimal;
      case TypeId::kFixedSizeBinary:
        return type.is_plain_fixed_size_binary() ? fixed_bytes : nullptr;
      case TypeId::kNested:
        return nullptr;
    }
    return nullptr;
  }
};

namespace {

py::object to_pylist(const Column& column, const Field& field) {
  auto schema =
      std::make_shared<const Schema>(std::vector<FieldPtr>{std::make_shared<const Field>(field)});
  const py::object batch = py::cast(make_batch(std::move(schema), {column}, column.length));
  const py::object arrow = py::module_::import("pyarrow").attr("record_batch")(batch);
  return arrow.attr("column")(0).attr("to_pylist")();
}

}  // namespace

Result<ValueReader> ValueReader::make(const Column& column, const Field& field) {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;
  ValueReader reader;
  reader.column_ = &column;
  reader.field_ = &field;
  // An extension type has Python values of its own, whatever it is stored as.
  const bool extension = metadata_value(field.metadata, kExtensionNameKey).has_value();
  reader.fill_ = extension ? nullptr : Fills::of(*column.type);
  try {
    if (reader.fill_ == nullptr) {
      reader.pylist_ = to_pylist(column, field);
      reader.fill_ = Fills::pylist;
    } else if (!column.type->timezone.empty()) {
      reader.zone_ =
          py::module_::import("penstock.runtime.convert").attr("time_zone")(column.type->timezone);
      reader.zone_is_utc_ = column.type->timezone == "UTC";
    }
  } catch (py::error_already_set& error) {
    return status_from_python_error(error, "column '" + field.name + "'");
  }
  return reader;
}

Status ValueReader::read(int64_t from, int64_t count, PyObject** out) const {
  if (fill_(*this, from, count, out)) return Status::ok();
  for (int64_t i = 0; i < count; ++i) out[i] = nullptr;
  return status_from_python_error("column '" + field_->name + "'");
}

}  // namespace penstock::bindings
