// Little-endian numbers and length-prefixed bytes: what snapshots are made of.
//
// The encodings reach disk: never to change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

inline void put_u32(std::string* out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

inline void put_i32(std::string* out, int32_t value) { put_u32(out, static_cast<uint32_t>(value)); }

inline void put_u64(std::string* out, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

// u32 length, then the bytes. REQUIRES: less than 4 GiB.
inline void put_bytes(std::string* out, std::string_view bytes) {
  put_u32(out, static_cast<uint32_t>(bytes.size()));
  out->append(bytes);
}

// Reads from front to back. Every get_* returns false, and reads nothing, when too few bytes are
// left; what it gives out points into the bytes it was made with.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool get_u32(uint32_t* value) { return get_number(value); }
  [[nodiscard]] bool get_u64(uint64_t* value) { return get_number(value); }
  [[nodiscard]] bool get_i32(int32_t* value) {
    uint32_t bits = 0;
    if (!get_number(&bits)) return false;
    *value = static_cast<int32_t>(bits);
    return true;
  }
  [[nodiscard]] bool get_u8(uint8_t* value) { return get_number(value); }
  [[nodiscard]] bool get_raw(uint64_t count, std::string_view* bytes) {
    if (count > rest_.size()) return false;
    *bytes = rest_.substr(0, static_cast<size_t>(count));
    rest_.remove_prefix(static_cast<size_t>(count));
    return true;
  }
  [[nodiscard]] bool get_bytes(std::string_view* bytes) {
    ByteReader ahead = *this;
    uint32_t size = 0;
    if (!ahead.get_u32(&size) || !ahead.get_raw(size, bytes)) return false;
    *this = ahead;
    return true;
  }
  [[nodiscard]] bool get_string(std::string* text) {
    std::string_view bytes;
    if (!get_bytes(&bytes)) return false;
    text->assign(bytes);
    return true;
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  template <typename T>
  bool get_number(T* value) {
    if (rest_.size() < sizeof(T)) return false;
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      bits |= static_cast<uint64_t>(static_cast<uint8_t>(rest_[i])) << (8 * i);
    }
    *value = static_cast<T>(bits);
    rest_.remove_prefix(sizeof(T));
    return true;
  }

  std::string_view rest_;
};

}  // namespace penstock
