// Keys of whole columns: their bytes, or only their hashes.

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "record/key_bytes.h"
#include "record/key_encoding.h"
#include "record/murmur.h"

namespace penstock {

namespace {

using Encoder = void (*)(const Column& column, int64_t i, std::string* out);

template <typename T>
void encode_integer(const Column& column, int64_t i, std::string* out) {
  encode_int64(static_cast<int64_t>(column.data<T>()[i]), out);
}

void encode_uint64(const Column& column, int64_t i, std::string* out) {
  const uint64_t value = column.data<uint64_t>()[i];
  if (value < kSignBit64) return encode_int64(static_cast<int64_t>(value), out);
  const uint64_t bytes = __builtin_bswap64(value);
  encode_big_int(false, {reinterpret_cast<const char*>(&bytes), sizeof(bytes)}, out);
}

template <typename T>
void encode_floating(const Column& column, int64_t i, std::string* out) {
  encode_float(static_cast<double>(column.data<T>()[i]), out);
}

// A count of units since a point in time, as whole seconds (rounded down) and nanoseconds.
struct Instant {
  Instant(int64_t value, TimeUnit unit) {
    const int64_t per_second = units_per_second(unit);
    seconds = value / per_second;
    int64_t rest = value % per_second;
    if (rest < 0) {
      rest += per_second;
      --seconds;
    }
    nanos = static_cast<uint32_t>(rest * (1000000000 / per_second));
  }
  int64_t seconds;
  uint32_t nanos;
};

void encode_timestamp_at(const Column& column, int64_t i, std::string* out) {
  const Instant instant(column.data<int64_t>()[i], column.type->unit);
  encode_datetime(instant.seconds, instant.nanos, !column.type->timezone.empty(), out);
}

void encode_duration_at(const Column& column, int64_t i, std::string* out) {
  const Instant instant(column.data<int64_t>()[i], column.type->unit);
  encode_timedelta(instant.seconds, instant.nanos, out);
}

template <typename T>
void encode_time_at(const Column& column, int64_t i, std::string* out) {
  const int64_t nanos_per_unit = 1000000000 / units_per_second(column.type->unit);
  // Unsigned, so that a value no time of day has wraps around instead of being undefined.
  const auto nanos =
      static_cast<uint64_t>(column.data<T>()[i]) * static_cast<uint64_t>(nanos_per_unit);
  encode_time(static_cast<int64_t>(nanos), out);
}

void encode_date64_at(const Column& column, int64_t i, std::string* out) {
  constexpr int64_t kMillisPerDay = 86400000;
  const int64_t millis = column.data<int64_t>()[i];
  const int64_t days = millis / kMillisPerDay - (millis % kMillisPerDay < 0 ? 1 : 0);
  encode_date(static_cast<int32_t>(days), out);
}

void encode_date32_at(const Column& column, int64_t i, std::string* out) {
  encode_date(column.data<int32_t>()[i], out);
}

void encode_bool_at(const Column& column, int64_t i, std::string* out) {
  encode_bool(column.bool_at(i), out);
}

void encode_null_at(const Column&, int64_t, std::string* out) { encode_none(out); }

void encode_str_at(const Column& column, int64_t i, std::string* out) {
  encode_str(column.bytes_at(i), out);
}

void encode_bytes_at(const Column& column, int64_t i, std::string* out) {
  encode_bytes(column.bytes_at(i), out);
}

const char* fixed_at(const Column& column, int64_t i) {
  return reinterpret_cast<const char*>(column.values.data) +
         (column.offset + i) * column.type->byte_width;
}

void encode_fixed_bytes_at(const Column& column, int64_t i, std::string* out) {
  encode_bytes({fixed_at(column, i), static_cast<size_t>(column.type->byte_width)}, out);
}

void encode_decimal_at(const Column& column, int64_t i, std::string* out) {
  encode_decimal128(fixed_at(column, i), column.type->scale, out);
}

// The encoder of valid values; null when the type cannot be a key.
Encoder encoder_for(const DataType& type) {
  switch (type.id) {
    case TypeId::kNull:
      return encode_null_at;
    case TypeId::kBool:
      return encode_bool_at;
    case TypeId::kInt8:
      return encode_integer<int8_t>;
    case TypeId::kInt16:
      return encode_integer<int16_t>;
    case TypeId::kInt32:
      return encode_integer<int32_t>;
    case TypeId::kInt64:
      return encode_integer<int64_t>;
    case TypeId::kUInt8:
      return encode_integer<uint8_t>;
    case TypeId::kUInt16:
      return encode_integer<uint16_t>;
    case TypeId::kUInt32:
      return encode_integer<uint32_t>;
    case TypeId::kUInt64:
      return encode_uint64;
    case TypeId::kFloat32:
      return encode_floating<float>;
    case TypeId::kFloat64:
      return encode_floating<double>;
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
      return encode_str_at;
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
      return encode_bytes_at;
    case TypeId::kDate32:
      return encode_date32_at;
    case TypeId::kDate64:
      return encode_date64_at;
    case TypeId::kTime32:
      return encode_time_at<int32_t>;
    case TypeId::kTime64:
      return encode_time_at<int64_t>;
    case TypeId::kTimestamp:
      return encode_timestamp_at;
    case TypeId::kDuration:
      return encode_duration_at;
    case TypeId::kDecimal128:
      return encode_decimal_at;
    case TypeId::kFixedSizeBinary:
      return type.is_plain_fixed_size_binary() ? encode_fixed_bytes_at : nullptr;
    case TypeId::kNested:
      return nullptr;
  }
  return nullptr;
}

// Encodes rows of a key made of one or more columns; the types are looked at once.
class RowEncoder {
 public:
  static Result<RowEncoder> make(const std::vector<Column>& columns) {
    if (columns.empty()) return Status::invalid("a key needs at least one column");
    RowEncoder encoder;
    encoder.columns_ = &columns;
    for (const Column& column : columns) {
      PENSTOCK_RETURN_NOT_OK(check_key_type(*column.type));
      encoder.encoders_.push_back(encoder_for(*column.type));
    }
    if (columns.size() > 1) encode_tuple_header(columns.size(), &encoder.header_);
    return encoder;
  }
  void append(int64_t i, std::string* out) const {
    out->append(header_);
    for (size_t k = 0; k < encoders_.size(); ++k) {
      const Column& column = (*columns_)[k];
      if (column.is_valid(i)) {
        encoders_[k](column, i, out);
      } else {
        encode_none(out);
      }
    }
  }

 private:
  const std::vector<Column>* columns_ = nullptr;
  std::vector<Encoder> encoders_;
  std::string header_;  // empty for a key of one column
};

uint32_t hash_of(const std::string& bytes) { return murmur3_32(bytes.data(), bytes.size()); }

void overwrite_nulls(const Column& column, uint32_t* out) {
  if (!column.has_validity()) return;
  constexpr uint8_t kNoneBytes[] = {static_cast<uint8_t>(KeyTag::kNone)};
  const uint32_t none = murmur::hash(kNoneBytes, 1, 0);
  for (int64_t i = 0; i < column.length; ++i) {
    if (!column.is_valid(i)) out[i] = none;
  }
}

// No bytes are built and the loop has no branch: null rows are hashed too and overwritten after.
template <typename T>
void hash_integers(const Column& column, int64_t count, uint32_t* out) {
  const T* data = column.data<T>();
  for (int64_t i = 0; i < count; ++i) out[i] = murmur::hash_int64(static_cast<int64_t>(data[i]));
}

void hash_dates(const Column& column, int64_t count, uint32_t* out) {
  const auto* data = column.data<int32_t>();
  for (int64_t i = 0; i < count; ++i) out[i] = murmur::hash_date(data[i]);
}

// False when the type has no fast path.
bool hash_in_registers(const Column& column, int64_t count, uint32_t* out) {
  switch (column.type->id) {
    case TypeId::kInt8:
      hash_integers<int8_t>(column, count, out);
      break;
    case TypeId::kInt16:
      hash_integers<int16_t>(column, count, out);
      break;
    case TypeId::kInt32:
      hash_integers<int32_t>(column, count, out);
      break;
    case TypeId::kInt64:
      hash_integers<int64_t>(column, count, out);
      break;
    case TypeId::kUInt8:
      hash_integers<uint8_t>(column, count, out);
      break;
    case TypeId::kUInt16:
      hash_integers<uint16_t>(column, count, out);
      break;
    case TypeId::kUInt32:
      hash_integers<uint32_t>(column, count, out);
      break;
    case TypeId::kDate32:
      hash_dates(column, count, out);
      break;
    default:
      return false;
  }
  overwrite_nulls(column, out);
  return true;
}

// Takes over `bytes`. REQUIRES: offsets has one more entry than there are keys.
Result<EncodedKeys> finish_keys(std::string bytes, std::vector<int32_t> offsets,
                                std::vector<uint32_t> hashes) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return Status::overflow("the keys of one batch exceed 2 GiB; use smaller batches");
  }
  auto owned_bytes = std::make_shared<const std::string>(std::move(bytes));
  auto owned_offsets = std::make_shared<const std::vector<int32_t>>(std::move(offsets));
  EncodedKeys keys;
  keys.bytes.type = binary();
  keys.bytes.length = static_cast<int64_t>(owned_offsets->size()) - 1;
  keys.bytes.null_count = 0;
  keys.bytes.offsets =
      Buffer{owned_offsets, reinterpret_cast<const uint8_t*>(owned_offsets->data())};
  keys.bytes.values = Buffer{owned_bytes, reinterpret_cast<const uint8_t*>(owned_bytes->data())};
  keys.hashes = std::move(hashes);
  return keys;
}

}  // namespace

Status check_key_type(const DataType& type) {
  if (encoder_for(type) != nullptr) return Status::ok();
  return Status::type_error("a column of type " + type.to_string() +
                            " cannot be a key; key by a column of a plain type, or by several");
}

Status append_encoded(const Column& column, int64_t i, std::string* out) {
  PENSTOCK_RETURN_NOT_OK(check_key_type(*column.type));
  if (column.is_valid(i)) {
    encoder_for (*column.type)(column, i, out);
  } else {
    encode_none(out);
  }
  return Status::ok();
}

Result<EncodedKeys> encode_keys(const std::vector<Column>& columns, int64_t num_rows) {
  PENSTOCK_ASSIGN_OR_RETURN(const RowEncoder encoder, RowEncoder::make(columns));
  std::string bytes;
  std::vector<int32_t> offsets(static_cast<size_t>(num_rows) + 1);
  std::vector<uint32_t> hashes(static_cast<size_t>(num_rows));
  bytes.reserve(static_cast<size_t>(num_rows) * columns.size() * 10);
  for (size_t i = 0; i < hashes.size(); ++i) {
    const size_t begin = bytes.size();
    encoder.append(static_cast<int64_t>(i), &bytes);
    offsets[i + 1] = static_cast<int32_t>(bytes.size());
    hashes[i] = murmur3_32(bytes.data() + begin, bytes.size() - begin);
  }
  return finish_keys(std::move(bytes), std::move(offsets), std::move(hashes));
}

Status hash_keys(const std::vector<Column>& columns, int64_t num_rows, uint32_t* out) {
  PENSTOCK_ASSIGN_OR_RETURN(const RowEncoder encoder, RowEncoder::make(columns));
  if (columns.size() == 1 && hash_in_registers(columns[0], num_rows, out)) return Status::ok();
  std::string scratch;  // keeps its capacity from row to row
  for (int64_t i = 0; i < num_rows; ++i) {
    scratch.clear();
    encoder.append(i, &scratch);
    out[i] = hash_of(scratch);
  }
  return Status::ok();
}

}  // namespace penstock
