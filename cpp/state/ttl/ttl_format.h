// What a value with a time to live looks like: an i64 little endian timestamp, milliseconds of
// processing time when it was last touched, and then the value. Of a list every element has one, of
// a map the value of every user key. The same in memory, in RocksDB and in snapshots.
//
// The encoding reaches disk: never to change.
//
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/status.h"
#include "snapshot/operator_state.h"

namespace penstock {

inline constexpr size_t kTtlPrefix = 8;

inline void append_ttl_value(int64_t timestamp, std::string_view value, std::string* out) {
  for (int shift = 0; shift < 64; shift += 8) {
    out->push_back(static_cast<char>(static_cast<uint64_t>(timestamp) >> shift));
  }
  out->append(value);
}

inline Status split_ttl_value(std::string_view stored, int64_t* timestamp,
                              std::string_view* value) {
  if (stored.size() < kTtlPrefix) {
    return Status::corruption("a value with a time to live has " + std::to_string(stored.size()) +
                              " bytes, too few for its timestamp");
  }
  uint64_t bits = 0;
  for (size_t i = 0; i < kTtlPrefix; ++i) {
    bits |= static_cast<uint64_t>(static_cast<uint8_t>(stored[i])) << (8 * i);
  }
  *timestamp = static_cast<int64_t>(bits);
  *value = stored.substr(kTtlPrefix);
  return Status::ok();
}

// As in Flink: from the moment timestamp + ttl on, without overflow.
inline bool is_expired(int64_t timestamp, int64_t ttl_millis, int64_t now) {
  if (timestamp > 0 && ttl_millis > INT64_MAX - timestamp) return now == INT64_MAX;
  return timestamp + ttl_millis <= now;
}

// Which values have expired.
struct TtlCutoff {
  int64_t ttl_millis = 0;
  int64_t now = 0;
};

// These three take a value as it stands in snapshots (of a list: all elements; of a map: one user
// key and value) of a state of `kind` and append what it becomes to `out`.

// What has not expired. `left` says whether anything is left.
Status drop_expired(StateKind kind, const TtlCutoff& cutoff, std::string_view value,
                    std::string* out, bool* left);
// The time to live has been switched on: `timestamp` is given to values that have none.
Status add_timestamps(StateKind kind, int64_t timestamp, std::string_view value, std::string* out);
// It has been switched off: the timestamps go.
Status strip_timestamps(StateKind kind, std::string_view value, std::string* out);

}  // namespace penstock
