// The keys of window slices in RocksDB. They reach snapshots: never to change
// (docs/snapshot-format.md).
//
//   slice entry := key group: u16 BE, slice end: i64 BE with the sign bit flipped, key
//
// What a slice has in one key group is one range: all keys that begin with its slice prefix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

inline constexpr size_t kSlicePrefixBytes = 10;

inline void append_slice_prefix(int32_t group, int64_t end, std::string* out) {
  out->push_back(static_cast<char>(group >> 8));
  out->push_back(static_cast<char>(group));
  const uint64_t sortable = static_cast<uint64_t>(end) ^ (uint64_t{1} << 63);
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(sortable >> shift));
}

inline std::string slice_prefix(int32_t group, int64_t end) {
  std::string out;
  append_slice_prefix(group, end, &out);
  return out;
}

// The least bytes that are greater than all keys with that prefix.
inline std::string slice_prefix_end(int32_t group, int64_t end) {
  return end == INT64_MAX ? slice_prefix(group + 1, INT64_MIN) : slice_prefix(group, end + 1);
}

struct SliceKeyParts {
  int32_t group = 0;
  int64_t end = 0;
  std::string_view key;
};

// False: no such key.
inline bool split_slice_key(std::string_view bytes, SliceKeyParts* out) {
  if (bytes.size() < kSlicePrefixBytes) return false;
  const auto byte = [bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  out->group = static_cast<int32_t>(byte(0)) << 8 | byte(1);
  uint64_t sortable = 0;
  for (size_t i = 2; i < kSlicePrefixBytes; ++i) sortable = sortable << 8 | byte(i);
  out->end = static_cast<int64_t>(sortable ^ (uint64_t{1} << 63));
  out->key = bytes.substr(kSlicePrefixBytes);
  return true;
}

}  // namespace penstock
