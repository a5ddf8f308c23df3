// Canonical key bytes and their murmur hash, over whole columns at once.
//
// A key is the same key whatever carried it: int32 column, int64 column or Python int 5 have equal
// bytes. Values of different kinds (1, 1.0, True, "1", b"1") are different keys. Encodings are
// self-delimiting, so that they can be put one behind the other in state keys. The bytes and the
// hash reach snapshots and decide which subtask owns a key: NEVER to change
// (tests/data/key_vectors.json holds golden vectors).
//
// clang-format off
//   tag   kind        bytes after the tag
//   0x01  None        -
//   0x02  False       -
//   0x03  True        -
//   0x04  int         fits int64: 8 bytes big endian, sign bit flipped
//   0x05  big int     sign byte (0 negative, 1 positive), u32 BE length, magnitude big endian without leading zero
//   0x06  float       8 bytes big endian IEEE in total order (negative: all bits flipped, else the sign bit);
//                     -0.0 is 0.0, there is one NaN
//   0x07  str         varint length, UTF-8
//   0x08  bytes       varint length, bytes
//   0x09  Decimal     normalised (no trailing zeros, zero has exponent 0): i32 BE exponent (sign flipped), then the
//                     coefficient as an encoded 0x04 or 0x05
//   0x0a  date        i32 BE days (sign flipped)
//   0x0b  datetime    without time zone: i64 BE seconds (sign flipped), u32 BE nanos
//   0x0c  datetime    with time zone: the same, of the UTC instant
//   0x0d  time        i64 BE nanos of the day (sign flipped)
//   0x0e  UUID        16 bytes
//   0x0f  Enum        encoded str "module:qualname", encoded str member name
//   0x10  tuple/row   varint count, then each encoded
//   0x11  timedelta   i64 BE seconds (sign flipped), u32 BE nanos
// clang-format on
//
// Hash: MurmurHash3 x86 32-bit of those bytes, seed 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/batch.h"

namespace penstock {

uint32_t murmur3_32(const void* data, size_t size, uint32_t seed = 0);

// kTypeError naming the column's type when it cannot be a key (nested, ...).
Status check_key_type(const DataType& type);

// Encodes the key made of `columns` (one: the bare value; several: a tuple) for each of `num_rows`
// rows.
Result<EncodedKeys> encode_keys(const std::vector<Column>& columns, int64_t num_rows);

// Appends the encoding of row `i` of `column`.
Status append_encoded(const Column& column, int64_t i, std::string* out);

// Hash of every row's key without keeping its bytes; int-like columns take a fast path. `out` has
// num_rows places.
Status hash_keys(const std::vector<Column>& columns, int64_t num_rows, uint32_t* out);

// murmur3_32 of the encoding of an int64, without building it.
uint32_t hash_int64_key(int64_t value);

// Encoders for single values, used by bindings and tests.
void encode_none(std::string* out);
void encode_bool(bool value, std::string* out);
void encode_int64(int64_t value, std::string* out);
void encode_big_int(bool negative, std::string_view magnitude_big_endian, std::string* out);
void encode_float(double value, std::string* out);
void encode_str(std::string_view utf8, std::string* out);
void encode_bytes(std::string_view bytes, std::string* out);
void encode_decimal128(const void* little_endian_16, int32_t scale, std::string* out);
void encode_date(int32_t days, std::string* out);
void encode_datetime(int64_t seconds, uint32_t nanos, bool aware, std::string* out);
void encode_time(int64_t nanos_of_day, std::string* out);
void encode_timedelta(int64_t seconds, uint32_t nanos, std::string* out);
void encode_tuple_header(uint64_t count, std::string* out);

// Builds a column of `type` from encoded keys (what a window emits as its key column, after a
// restore too). kCorruption when the bytes are not an encoding of that type. For a tuple key `path`
// picks the element (-1: the whole).
Result<Column> decode_keys(const std::vector<std::string_view>& keys, const DataTypePtr& type,
                           int path = -1);

}  // namespace penstock
