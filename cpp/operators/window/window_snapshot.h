// How windows enter snapshots and come back. Names and bytes reach disk: never to change.
//
//   keyed state "window-contents"   key: canonical key bytes (empty without keys)
//                                   namespace: slice end, int64 little endian
//                                   value: the accumulators of each aggregate, one behind the other
//   union list  "watermark"         one item per subtask: its watermark, int64 little endian
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "operators/window/slice_table.h"
#include "snapshot/operator_state.h"

namespace penstock::window {

inline constexpr const char* kContentsState = "window-contents";
inline constexpr const char* kWatermarkState = "watermark";

std::string encode_int64_le(int64_t value);
// kCorruption when `bytes` is not 8 long.
Result<int64_t> decode_int64_le(std::string_view bytes);

// kInvalidArgument "state 'x' was written with ..., this job has ..." when key, window or value
// differ.
Status check_same_meta(const StateMeta& written, const StateMeta& here);

// What describes the contents of the slices of a plan.
StateMeta contents_meta(const WindowPlan& plan);

void snapshot_watermark(Timestamp watermark, OperatorState* state);
// The smallest of all; kMinTimestamp when there is none.
Result<Timestamp> restore_watermark(const OperatorState& state);

// Hands over the open slices as they are now, to be read out later (deferred_slices.h). Takes time
// by the number of slices, not by what is in them.
void snapshot_slices(const SliceTables& tables, const WindowPlan& plan, int32_t max_parallelism,
                     OperatorState* state);
// Entries of one slice: canonical keys and accumulators.
struct SliceEntries {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
};
// kCorruption when a key is in the table already.
Status restore_entries(const SliceEntries& entries, const WindowPlan& plan, SliceTable* table);

// `after_some` is called every so many entries: the place to make room. May be empty.
Status restore_slices(const OperatorState& state, const WindowPlan& plan,
                      const std::function<Status()>& after_some, SliceTables* tables);

}  // namespace penstock::window
