// decode_keys(): a column of values from encoded keys.

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "columnar/builder.h"
#include "record/key_bytes.h"
#include "record/key_encoding.h"

namespace penstock {

namespace {

using Keys = std::vector<std::string_view>;

struct Decimal128 {
  uint64_t low;
  uint64_t high;
};

__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;

// One value has one encoding: each of these answers false to bytes that encode_*() would not have
// written. Otherwise a damaged key would turn into another key's value.

// An int or big int. `negative` belongs to `magnitude`; false when it needs more than 128 bits.
bool read_integer(KeyTag tag, KeyReader* reader, bool* negative, Uint128* magnitude) {
  if (tag == KeyTag::kInt) {
    int64_t value = 0;
    if (!reader->read_i64(&value)) return false;
    *negative = value < 0;
    const auto bits = static_cast<uint64_t>(value);
    *magnitude = *negative ? ~bits + 1 : bits;
    return true;
  }
  std::string_view bytes;
  if (tag != KeyTag::kBigInt || !reader->read_big_int(negative, &bytes) || bytes.size() > 16) {
    return false;
  }
  *magnitude = 0;
  for (const char byte : bytes) *magnitude = (*magnitude << 8) | static_cast<uint8_t>(byte);
  const Uint128 greatest_int = Uint128{kSignBit64} - (*negative ? 0 : 1);
  return *magnitude > greatest_int && bytes.front() != '\0';
}

template <typename T>
bool decode_integer(KeyTag tag, KeyReader* reader, const DataType&, T* value) {
  bool negative = false;
  Uint128 magnitude = 0;
  if (!read_integer(tag, reader, &negative, &magnitude)) return false;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<T>::max());
  if (!negative) {
    if (magnitude > kMax) return false;
    *value = static_cast<T>(magnitude);
    return true;
  }
  if (std::is_unsigned_v<T> || magnitude > Uint128{kMax} + 1) return false;
  *value = static_cast<T>(~static_cast<uint64_t>(magnitude) + 1);
  return true;
}

template <typename T>
bool decode_floating(KeyTag tag, KeyReader* reader, const DataType&, T* value) {
  uint64_t bits = 0;
  if (tag != KeyTag::kFloat || !reader->read_u64(&bits)) return false;
  bits = (bits & kSignBit64) != 0 ? bits & ~kSignBit64 : ~bits;
  const auto number = std::bit_cast<double>(bits);
  if (std::isnan(number)) {
    *value = std::numeric_limits<T>::quiet_NaN();
    return bits == std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
  }
  if (std::is_same_v<T, float> && std::isfinite(number) &&
      std::abs(number) > double{std::numeric_limits<float>::max()}) {
    return false;
  }
  *value = static_cast<T>(number);
  return double{*value} == number && bits != kSignBit64;  // there is one zero
}

// seconds and nanoseconds in the type's unit, when they fit exactly.
bool read_instant(KeyReader* reader, TimeUnit unit, int64_t* value) {
  int64_t seconds = 0;
  uint32_t nanos = 0;
  if (!reader->read_i64(&seconds) || !reader->read_u32(&nanos) || nanos >= 1000000000) return false;
  const int64_t per_second = units_per_second(unit);
  const int64_t nanos_per_unit = 1000000000 / per_second;
  // In 128 bits: the seconds of the earliest instants are rounded down to less than 64 bits hold.
  const Int128 units = Int128{seconds} * per_second + nanos / nanos_per_unit;
  *value = static_cast<int64_t>(units);
  return nanos % nanos_per_unit == 0 && units == *value;
}

bool decode_timestamp(KeyTag tag, KeyReader* reader, const DataType& type, int64_t* value) {
  const KeyTag wanted = type.timezone.empty() ? KeyTag::kNaiveDatetime : KeyTag::kAwareDatetime;
  return tag == wanted && read_instant(reader, type.unit, value);
}

bool decode_duration(KeyTag tag, KeyReader* reader, const DataType& type, int64_t* value) {
  return tag == KeyTag::kTimedelta && read_instant(reader, type.unit, value);
}

template <typename T>
bool decode_time(KeyTag tag, KeyReader* reader, const DataType& type, T* value) {
  int64_t nanos = 0;
  if (tag != KeyTag::kTime || !reader->read_i64(&nanos)) return false;
  const int64_t nanos_per_unit = 1000000000 / units_per_second(type.unit);
  *value = static_cast<T>(nanos / nanos_per_unit);
  return nanos % nanos_per_unit == 0 && *value == nanos / nanos_per_unit;
}

bool decode_date32(KeyTag tag, KeyReader* reader, const DataType&, int32_t* value) {
  return tag == KeyTag::kDate && reader->read_i32(value);
}

bool decode_date64(KeyTag tag, KeyReader* reader, const DataType& type, int64_t* value) {
  int32_t days = 0;
  if (!decode_date32(tag, reader, type, &days)) return false;
  *value = int64_t{days} * 86400000;
  return true;
}

bool decode_decimal(KeyTag tag, KeyReader* reader, const DataType& type, Decimal128* value) {
  int32_t exponent = 0;
  KeyTag coefficient_tag{};
  bool negative = false;
  Uint128 magnitude = 0;
  if (tag != KeyTag::kDecimal || !reader->read_i32(&exponent) ||
      !reader->read_tag(&coefficient_tag) ||
      !read_integer(coefficient_tag, reader, &negative, &magnitude)) {
    return false;
  }
  // Encoded without trailing zeros; the column's scale puts them back.
  if (magnitude == 0 ? exponent != 0 : magnitude % 10 == 0) return false;
  if (magnitude != 0 && exponent < -type.scale) return false;
  for (int64_t k = int64_t{exponent} + type.scale; magnitude != 0 && k > 0; --k) {
    if (__builtin_mul_overflow(magnitude, Uint128{10}, &magnitude)) return false;
  }
  if (magnitude > (Uint128{kSignBit64} << 64) - (negative ? 0 : 1)) return false;
  if (negative) magnitude = ~magnitude + 1;
  *value = {static_cast<uint64_t>(magnitude), static_cast<uint64_t>(magnitude >> 64)};
  return true;
}

Status corrupt(const DataType& type, size_t row) {
  return Status::corruption("the bytes of key " + std::to_string(row) +
                            " are not an encoded value of type " + type.to_string());
}

// Calls `value(tag, reader)` or `null()` for each key.
template <typename OnValue, typename OnNull>
Status for_each_key(const Keys& keys, const DataType& type, OnValue on_value, OnNull on_null) {
  for (size_t row = 0; row < keys.size(); ++row) {
    KeyReader reader(keys[row]);
    KeyTag tag{};
    if (!reader.read_tag(&tag)) return corrupt(type, row);
    if (tag == KeyTag::kNone) {
      on_null();
    } else if (!on_value(tag, &reader)) {
      return corrupt(type, row);
    }
    if (!reader.at_end()) return corrupt(type, row);
  }
  return Status::ok();
}

template <typename T, typename Decode>
Result<Column> decode_fixed(const Keys& keys, const DataTypePtr& type, Decode decode) {
  FixedBuilder<T> builder(type);
  builder.reserve(static_cast<int64_t>(keys.size()));
  PENSTOCK_RETURN_NOT_OK(for_each_key(
      keys, *type,
      [&](KeyTag tag, KeyReader* reader) {
        T value{};
        if (!decode(tag, reader, *type, &value)) return false;
        builder.append(value);
        return true;
      },
      [&] { builder.append_null(); }));
  return builder.finish();
}

Result<Column> decode_bools(const Keys& keys, const DataTypePtr& type) {
  BoolBuilder builder;
  PENSTOCK_RETURN_NOT_OK(for_each_key(
      keys, *type,
      [&](KeyTag tag, KeyReader*) {
        builder.append(tag == KeyTag::kTrue);
        return tag == KeyTag::kTrue || tag == KeyTag::kFalse;
      },
      [&] { builder.append_null(); }));
  return builder.finish();
}

template <typename Offset>
Result<Column> decode_binary(const Keys& keys, const DataTypePtr& type, KeyTag wanted) {
  BasicBinaryBuilder<Offset> builder(type);
  PENSTOCK_RETURN_NOT_OK(for_each_key(
      keys, *type,
      [&](KeyTag tag, KeyReader* reader) {
        std::string_view bytes;
        if (tag != wanted || !reader->read_sized(&bytes)) return false;
        builder.append(bytes);
        return true;
      },
      [&] { builder.append_null(); }));
  return builder.finish();
}

Result<Column> decode_fixed_bytes(const Keys& keys, const DataTypePtr& type) {
  const auto width = static_cast<size_t>(type->byte_width);
  BinaryBuilder builder(type);  // for the bytes and nulls; there are no offsets in the result
  const std::string padding(width, '\0');
  std::string values;
  PENSTOCK_RETURN_NOT_OK(for_each_key(
      keys, *type,
      [&](KeyTag tag, KeyReader* reader) {
        std::string_view bytes;
        if (tag != KeyTag::kBytes || !reader->read_sized(&bytes) || bytes.size() != width) {
          return false;
        }
        builder.append({});
        values.append(bytes);
        return true;
      },
      [&] {
        builder.append_null();
        values.append(padding);
      }));
  PENSTOCK_ASSIGN_OR_RETURN(Column column, builder.finish());
  column.offsets = {};
  column.values = builder_internal::adopt(std::move(values));
  return column;
}

Result<Column> decode_nothing(const Keys& keys, const DataTypePtr& type) {
  PENSTOCK_RETURN_NOT_OK(
      for_each_key(keys, *type, [](KeyTag, KeyReader*) { return false; }, [] {}));
  return make_nulls(type, static_cast<int64_t>(keys.size()));
}

// Element `path` of each tuple key. REQUIRES: path >= 0.
Result<Keys> pick_elements(const Keys& keys, const DataType& type, int path) {
  Keys elements;
  elements.reserve(keys.size());
  for (size_t row = 0; row < keys.size(); ++row) {
    KeyReader reader(keys[row]);
    KeyTag tag{};
    uint64_t count = 0;
    bool good = reader.read_tag(&tag) && tag == KeyTag::kTuple && reader.read_varint(&count) &&
                static_cast<uint64_t>(path) < count;
    for (int i = 0; good && i < path; ++i) good = reader.skip_value();
    const std::string_view from = reader.rest();
    if (!good || !reader.skip_value()) return corrupt(type, row);
    elements.push_back(from.substr(0, from.size() - reader.rest().size()));
  }
  return elements;
}

// A whole tuple as a struct: one child per element.
Result<Column> decode_struct(const Keys& keys, const DataTypePtr& type) {
  for (size_t row = 0; row < keys.size(); ++row) {
    KeyReader reader(keys[row]);
    KeyTag tag{};
    uint64_t count = 0;
    KeyReader whole(keys[row]);
    const bool good = reader.read_tag(&tag) && tag == KeyTag::kTuple &&
                      reader.read_varint(&count) && count == type->children.size() &&
                      whole.skip_value() && whole.at_end();
    if (!good) return corrupt(*type, row);
  }
  Column column;
  column.type = type;
  column.length = static_cast<int64_t>(keys.size());
  column.null_count = 0;
  for (size_t i = 0; i < type->children.size(); ++i) {
    PENSTOCK_ASSIGN_OR_RETURN(Column child,
                              decode_keys(keys, type->children[i]->type, static_cast<int>(i)));
    column.children.push_back(std::move(child));
  }
  return column;
}

Result<Column> decode_values(const Keys& keys, const DataTypePtr& type) {
  switch (type->id) {
    case TypeId::kNull:
      return decode_nothing(keys, type);
    case TypeId::kBool:
      return decode_bools(keys, type);
    case TypeId::kInt8:
      return decode_fixed<int8_t>(keys, type, decode_integer<int8_t>);
    case TypeId::kInt16:
      return decode_fixed<int16_t>(keys, type, decode_integer<int16_t>);
    case TypeId::kInt32:
      return decode_fixed<int32_t>(keys, type, decode_integer<int32_t>);
    case TypeId::kInt64:
      return decode_fixed<int64_t>(keys, type, decode_integer<int64_t>);
    case TypeId::kUInt8:
      return decode_fixed<uint8_t>(keys, type, decode_integer<uint8_t>);
    case TypeId::kUInt16:
      return decode_fixed<uint16_t>(keys, type, decode_integer<uint16_t>);
    case TypeId::kUInt32:
      return decode_fixed<uint32_t>(keys, type, decode_integer<uint32_t>);
    case TypeId::kUInt64:
      return decode_fixed<uint64_t>(keys, type, decode_integer<uint64_t>);
    case TypeId::kFloat32:
      return decode_fixed<float>(keys, type, decode_floating<float>);
    case TypeId::kFloat64:
      return decode_fixed<double>(keys, type, decode_floating<double>);
    case TypeId::kUtf8:
      return decode_binary<int32_t>(keys, type, KeyTag::kStr);
    case TypeId::kLargeUtf8:
      return decode_binary<int64_t>(keys, type, KeyTag::kStr);
    case TypeId::kBinary:
      return decode_binary<int32_t>(keys, type, KeyTag::kBytes);
    case TypeId::kLargeBinary:
      return decode_binary<int64_t>(keys, type, KeyTag::kBytes);
    case TypeId::kDate32:
      return decode_fixed<int32_t>(keys, type, decode_date32);
    case TypeId::kDate64:
      return decode_fixed<int64_t>(keys, type, decode_date64);
    case TypeId::kTime32:
      return decode_fixed<int32_t>(keys, type, decode_time<int32_t>);
    case TypeId::kTime64:
      return decode_fixed<int64_t>(keys, type, decode_time<int64_t>);
    case TypeId::kTimestamp:
      return decode_fixed<int64_t>(keys, type, decode_timestamp);
    case TypeId::kDuration:
      return decode_fixed<int64_t>(keys, type, decode_duration);
    case TypeId::kDecimal128:
      return decode_fixed<Decimal128>(keys, type, decode_decimal);
    case TypeId::kFixedSizeBinary:
      if (type->is_plain_fixed_size_binary()) return decode_fixed_bytes(keys, type);
      break;
    case TypeId::kNested:
      if (type->nested == NestedKind::kStruct) return decode_struct(keys, type);
      break;
  }
  return check_key_type(*type);
}

}  // namespace

Result<Column> decode_keys(const std::vector<std::string_view>& keys, const DataTypePtr& type,
                           int path) {
  if (path < 0) return decode_values(keys, type);
  PENSTOCK_ASSIGN_OR_RETURN(const Keys elements, pick_elements(keys, *type, path));
  return decode_values(elements, type);
}

}  // namespace penstock
