// Hash and comparison of short byte strings, inlined into the loops that look keys up.
//
// The hash is internal to a table: it reaches no snapshot and decides no subtask, so it may change.
// Both read eight bytes at a time; what is left at the end is read with overlap, never beyond it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace penstock::window {

namespace text {

template <typename T>
inline uint64_t load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// The last 1 to 7 bytes, all of them in the result.
inline uint64_t load_rest(const char* from, size_t size) {
  if (size >= 4) return load<uint32_t>(from) << 32 | load<uint32_t>(from + size - 4);
  return load<uint8_t>(from) << 16 | load<uint8_t>(from + size / 2) << 8 |
         load<uint8_t>(from + size - 1);
}

inline uint64_t fold(uint64_t value) {
  const auto product = static_cast<unsigned __int128>(value) * 0x9E3779B97F4A7C15ULL;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace text

inline uint32_t hash_text(std::string_view key) {
  // Not zero for any length, so that no run of zero bytes folds to zero.
  uint64_t hash = 0xD6E8FEB86659FD93ULL + key.size();
  const char* at = key.data();
  size_t left = key.size();
  for (; left >= 8; left -= 8, at += 8) hash = text::fold(hash ^ text::load<uint64_t>(at));
  if (left != 0) hash ^= text::load_rest(at, left);
  hash = text::fold(hash);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

inline bool equal_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const char* x = a.data();
  const char* y = b.data();
  size_t left = a.size();
  for (; left >= 8; left -= 8, x += 8, y += 8) {
    if (text::load<uint64_t>(x) != text::load<uint64_t>(y)) return false;
  }
  return left == 0 || text::load_rest(x, left) == text::load_rest(y, left);
}

}  // namespace penstock::window
