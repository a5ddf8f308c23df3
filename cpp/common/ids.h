// Ids and counts in their own types, so a subtask index cannot be passed as a checkpoint id.
#pragma once

#include <compare>
#include <cstdint>

namespace penstock {

template <typename Tag, typename Repr>
struct Id {
  Repr value{};
  constexpr Id() = default;
  constexpr explicit Id(Repr v) : value(v) {}
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using CheckpointId = Id<struct CheckpointIdTag, int64_t>;
using SubtaskIndex = Id<struct SubtaskIndexTag, int32_t>;
using ChannelIndex = Id<struct ChannelIndexTag, int32_t>;
using KeyGroup = Id<struct KeyGroupTag, int32_t>;

// Event times are milliseconds since the epoch. kMinTimestamp: "none seen yet"; kMaxTimestamp: end
// of input.
using Timestamp = int64_t;
inline constexpr Timestamp kMinTimestamp = INT64_MIN;
inline constexpr Timestamp kMaxTimestamp = INT64_MAX;

}  // namespace penstock
