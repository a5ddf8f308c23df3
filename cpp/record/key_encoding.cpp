// Encoders for single values.

#include "record/key_encoding.h"

#include <bit>
#include <cmath>
#include <limits>

#include "record/key_bytes.h"
#include "record/murmur.h"

namespace penstock {

using key_bytes::append_i32;
using key_bytes::append_i64;
using key_bytes::append_tag;
using key_bytes::append_u32;
using key_bytes::append_u64;
using key_bytes::append_varint;

uint32_t murmur3_32(const void* data, size_t size, uint32_t seed) {
  return murmur::hash(static_cast<const uint8_t*>(data), size, seed);
}

uint32_t hash_int64_key(int64_t value) { return murmur::hash_int64(value); }

void encode_none(std::string* out) { append_tag(KeyTag::kNone, out); }

void encode_bool(bool value, std::string* out) {
  append_tag(value ? KeyTag::kTrue : KeyTag::kFalse, out);
}

void encode_int64(int64_t value, std::string* out) {
  append_tag(KeyTag::kInt, out);
  append_i64(value, out);
}

void encode_big_int(bool negative, std::string_view magnitude_big_endian, std::string* out) {
  append_tag(KeyTag::kBigInt, out);
  out->push_back(negative ? '\0' : '\1');
  append_u32(static_cast<uint32_t>(magnitude_big_endian.size()), out);
  out->append(magnitude_big_endian);
}

void encode_float(double value, std::string* out) {
  // Equal floats are equal keys: one zero, one NaN.
  if (value == 0.0) value = 0.0;
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  const auto bits = std::bit_cast<uint64_t>(value);
  append_tag(KeyTag::kFloat, out);
  append_u64((bits & kSignBit64) != 0 ? ~bits : bits | kSignBit64, out);
}

void encode_str(std::string_view utf8, std::string* out) {
  append_tag(KeyTag::kStr, out);
  append_varint(utf8.size(), out);
  out->append(utf8);
}

void encode_bytes(std::string_view bytes, std::string* out) {
  append_tag(KeyTag::kBytes, out);
  append_varint(bytes.size(), out);
  out->append(bytes);
}

namespace {

// The magnitude of a negative number of 128 bits does not fit the signed type in one case (-2^127).
__extension__ using Uint128 = unsigned __int128;

void encode_coefficient(bool negative, Uint128 magnitude, std::string* out) {
  const Uint128 limit = Uint128{kSignBit64} - (negative ? 0 : 1);
  if (magnitude <= limit) {
    const auto low = static_cast<uint64_t>(magnitude);
    encode_int64(static_cast<int64_t>(negative ? ~low + 1 : low), out);
    return;
  }
  char bytes[16];
  size_t at = sizeof(bytes);
  for (; magnitude != 0; magnitude >>= 8) bytes[--at] = static_cast<char>(magnitude & 0xff);
  encode_big_int(negative, {bytes + at, sizeof(bytes) - at}, out);
}

}  // namespace

void encode_decimal128(const void* little_endian_16, int32_t scale, std::string* out) {
  uint64_t words[2];
  std::memcpy(words, little_endian_16, sizeof(words));
  Uint128 magnitude = (Uint128{words[1]} << 64) | words[0];
  const bool negative = (words[1] & kSignBit64) != 0;
  if (negative) magnitude = ~magnitude + 1;
  int32_t exponent = -scale;
  if (magnitude == 0) exponent = 0;
  while (magnitude != 0 && magnitude % 10 == 0) {
    magnitude /= 10;
    ++exponent;
  }
  append_tag(KeyTag::kDecimal, out);
  append_i32(exponent, out);
  encode_coefficient(negative, magnitude, out);
}

void encode_date(int32_t days, std::string* out) {
  append_tag(KeyTag::kDate, out);
  append_i32(days, out);
}

void encode_datetime(int64_t seconds, uint32_t nanos, bool aware, std::string* out) {
  append_tag(aware ? KeyTag::kAwareDatetime : KeyTag::kNaiveDatetime, out);
  append_i64(seconds, out);
  append_u32(nanos, out);
}

void encode_time(int64_t nanos_of_day, std::string* out) {
  append_tag(KeyTag::kTime, out);
  append_i64(nanos_of_day, out);
}

void encode_timedelta(int64_t seconds, uint32_t nanos, std::string* out) {
  append_tag(KeyTag::kTimedelta, out);
  append_i64(seconds, out);
  append_u32(nanos, out);
}

void encode_tuple_header(uint64_t count, std::string* out) {
  append_tag(KeyTag::kTuple, out);
  append_varint(count, out);
}

}  // namespace penstock
