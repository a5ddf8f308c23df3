// The keys of RocksDB: how (key group, key, namespace, user key) becomes bytes. They reach snapshots:
// never to change (docs/snapshot-format.md).
//
//   entry := key group: u16 BE, varint length, key, varint length, namespace, user key
//   timer := key group: u16 BE, timestamp: i64 BE with the sign bit flipped, key with every 00
//            written as 00 ff and 00 01 behind it, namespace
//
// What belongs to one (key, namespace) is one range: all keys that begin with its entry key. Timers
// of a key group sort as (timestamp, key, namespace) do.
#pragma once

#include <rocksdb/slice.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "record/key_bytes.h"
#include "state/keyed_state.h"
#include "timers/timer_queue.h"

namespace penstock {

inline constexpr size_t kGroupBytes = 2;

inline rocksdb::Slice to_slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view to_view(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

inline void append_group(int32_t group, std::string* out) {
  out->push_back(static_cast<char>(group >> 8));
  out->push_back(static_cast<char>(group));
}

// The first key of a group, and the end of the group before it. One past the last group possible is
// 2^15, which fits.
inline std::string group_prefix(int32_t group) {
  std::string out;
  append_group(group, &out);
  return out;
}

// -1: too short to have one.
inline int32_t group_of_key(std::string_view bytes) {
  if (bytes.size() < kGroupBytes) return -1;
  return static_cast<int32_t>(static_cast<uint8_t>(bytes[0])) << 8 | static_cast<uint8_t>(bytes[1]);
}

// Appends the key of a value or a list, the beginning of those of a map.
inline void append_entry_key(int32_t group, std::string_view key, std::string_view name_space,
                             std::string* out) {
  append_group(group, out);
  key_bytes::append_varint(key.size(), out);
  out->append(key);
  key_bytes::append_varint(name_space.size(), out);
  out->append(name_space);
}

// The least bytes that are greater than all that begin with `prefix`. REQUIRES: it begins with a key
// group, which is never ff ff.
inline std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (static_cast<uint8_t>(end.back()) == 0xff) end.pop_back();
  end.back() = static_cast<char>(end.back() + 1);
  return end;
}

struct EntryKeyParts {
  int32_t group = 0;
  std::string_view key;
  std::string_view name_space;
  std::string_view user_key;
};

// False: no such key.
inline bool split_entry_key(std::string_view bytes, EntryKeyParts* out) {
  out->group = group_of_key(bytes);
  if (out->group < 0) return false;
  KeyReader reader(bytes.substr(kGroupBytes));
  if (!reader.read_sized(&out->key) || !reader.read_sized(&out->name_space)) return false;
  out->user_key = reader.rest();
  return true;
}

void append_timer_key(int32_t group, const TimerView& timer, std::string* out);

struct TimerKeyParts {
  int32_t group = 0;
  Timestamp timestamp = 0;
  std::string key;
  std::string_view name_space;
};

bool split_timer_key(std::string_view bytes, TimerKeyParts* out);

}  // namespace penstock
