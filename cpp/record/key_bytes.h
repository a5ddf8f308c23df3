// The byte level of canonical keys: tags, big-endian numbers, varints, and a reader that checks.
//
// KeyReader reads front to back and never past the end: each method answers false (and leaves the
// reader useless) when the bytes are not what was asked for. Views it hands out point into its
// input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

// Values reach snapshots: never to change.
enum class KeyTag : uint8_t {
  kNone = 0x01,
  kFalse = 0x02,
  kTrue = 0x03,
  kInt = 0x04,
  kBigInt = 0x05,
  kFloat = 0x06,
  kStr = 0x07,
  kBytes = 0x08,
  kDecimal = 0x09,
  kDate = 0x0a,
  kNaiveDatetime = 0x0b,
  kAwareDatetime = 0x0c,
  kTime = 0x0d,
  kUuid = 0x0e,
  kEnum = 0x0f,
  kTuple = 0x10,
  kTimedelta = 0x11,
};

inline constexpr uint64_t kSignBit64 = uint64_t{1} << 63;
inline constexpr uint32_t kSignBit32 = uint32_t{1} << 31;

namespace key_bytes {

inline void append_tag(KeyTag tag, std::string* out) { out->push_back(static_cast<char>(tag)); }

inline void append_u32(uint32_t value, std::string* out) {
  value = __builtin_bswap32(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline void append_u64(uint64_t value, std::string* out) {
  value = __builtin_bswap64(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline void append_i32(int32_t value, std::string* out) {
  append_u32(static_cast<uint32_t>(value) ^ kSignBit32, out);
}

inline void append_i64(int64_t value, std::string* out) {
  append_u64(static_cast<uint64_t>(value) ^ kSignBit64, out);
}

// Least significant seven bits first, high bit set on all but the last byte.
inline void append_varint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

}  // namespace key_bytes

class KeyReader {
 public:
  explicit KeyReader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  bool read_tag(KeyTag* tag);
  bool read_byte(uint8_t* value);
  bool read_u32(uint32_t* value);
  bool read_u64(uint64_t* value);
  bool read_i32(int32_t* value);
  bool read_i64(int64_t* value);
  bool read_varint(uint64_t* value);
  bool read_view(uint64_t size, std::string_view* value);
  // A varint length and as many bytes: the body of a str or bytes.
  bool read_sized(std::string_view* value);
  // The body of a big int.
  bool read_big_int(bool* negative, std::string_view* magnitude);
  // Skips one whole value, its tag included. Rejects nesting deeper than any key can have.
  bool skip_value() { return skip_value(0); }

 private:
  bool skip_value(int depth);
  bool skip_body(KeyTag tag, int depth);

  std::string_view rest_;
};

}  // namespace penstock
