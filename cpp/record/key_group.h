// Key -> key group -> subtask, with Flink's range formula. The results reach snapshots: never to
// change.
#pragma once

#include <cstdint>

#include "common/ids.h"

namespace penstock {

inline constexpr int32_t kDefaultMaxParallelism = 128;
inline constexpr int32_t kUpperBoundMaxParallelism = 1 << 15;

// Inclusive at both ends, as in Flink. Empty: end < start.
struct KeyGroupRange {
  int32_t start = 0;
  int32_t end = -1;
  [[nodiscard]] bool contains(int32_t group) const { return group >= start && group <= end; }
  [[nodiscard]] int32_t size() const { return end < start ? 0 : end - start + 1; }
};

// `hash` is the murmur hash of the key's canonical bytes.
inline int32_t key_group_of(uint32_t hash, int32_t max_parallelism) {
  return static_cast<int32_t>(hash % static_cast<uint32_t>(max_parallelism));
}

inline int32_t subtask_of_key_group(int32_t group, int32_t max_parallelism, int32_t parallelism) {
  return group * parallelism / max_parallelism;
}

inline KeyGroupRange key_group_range(int32_t subtask, int32_t max_parallelism,
                                     int32_t parallelism) {
  return {(subtask * max_parallelism + parallelism - 1) / parallelism,
          ((subtask + 1) * max_parallelism - 1) / parallelism};
}

}  // namespace penstock
