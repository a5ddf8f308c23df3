// SlicePartition: sorts the rows of a batch by slice, without moving them.
//
// The common batch lies in one slice; that is found with one subtraction and comparison per row,
// and nothing is built. Otherwise rows are counted per slice and their indices laid out slice by
// slice, in row order within each.
//
// Thread safety: none. Results are valid until the next call.
#pragma once

#include <cstdint>
#include <vector>

#include "operators/window/key_index.h"
#include "operators/window/slice_assigner.h"

namespace penstock::window {

// `rows` nullptr: all rows of the batch.
struct SliceRows {
  Timestamp end = 0;
  const int32_t* rows = nullptr;
  int64_t count = 0;
};

class SlicePartition {
 public:
  explicit SlicePartition(const SliceAssigner& assigner) : assigner_(assigner) {}

  // REQUIRES: count < 2^31. kInvalidArgument for a timestamp that means "none".
  Result<const std::vector<SliceRows>*> by_timestamp(const Timestamp* timestamps, int64_t count);
  const std::vector<SliceRows>& by_end(const Timestamp* ends, int64_t count);
  // ends[i] = end of the slice of timestamps[i].
  Status slice_ends(const Timestamp* timestamps, int64_t count, Timestamp* ends);

 private:
  bool all_in_current(const Timestamp* timestamps, int64_t count) const;
  uint32_t slot_of(Timestamp end);
  void lay_out(int64_t count);

  SliceAssigner assigner_;
  // The slice the last row was in: most rows are in the same.
  Timestamp current_start_ = 0;
  bool has_current_ = false;
  Int64KeyIndex slots_;  // slice end -> slot within this batch
  std::vector<uint32_t> slot_of_row_;
  std::vector<int64_t> counts_;
  std::vector<int32_t> rows_;
  std::vector<SliceRows> slices_;
};

}  // namespace penstock::window
