// SpilledSlices: what of an operator's open slices lies in RocksDB, and when it goes there.
//
// As long as the tables fit into the budget (penstock.state.write-back-tier, for one operator and
// subtask) they stay in memory. When they do not, the largest is written down as a sorted run of
// merge operands, nothing being read, and its slice goes on with an empty one. Such a slice is
// "spilled": its groups are what RocksDB and the table in memory come to together. When it fires, or
// at a barrier, what is in memory goes down too; firing then scans the slice, key group by key group.
//
// A slice that was never spilled is in memory whole. At a barrier its table is written down as well,
// for the checkpoint, but stays; what is written replaces what an earlier barrier wrote. So sums of
// floats, which depend on the order of additions, come to the same as on the heap as long as the
// budget is not exceeded, whenever barriers come. Of a spilled slice they are sums of the sums of
// its runs.
//
// Memory: the budget for tables, once more as much while a run is being written, and what RocksDB
// takes by its own settings.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "operators/operator.h"
#include "operators/window/accumulator_combiner.h"
#include "operators/window/slice_table.h"
#include "state/rocksdb/blind_merge_store.h"

namespace penstock::window {

class SpilledSlices {
 public:
  // Some groups of a slice: canonical keys, and their accumulators as groups 0 .. keys.size()-1.
  using Visit = std::function<Status(const std::vector<std::string_view>& keys,
                                     const AccumulatorSet& accumulators)>;

  static Result<std::unique_ptr<SpilledSlices>> open(const OperatorContext& context,
                                                     WindowPlanPtr plan, const StateMeta& meta,
                                                     const std::vector<NativeState>& restored);

  // Reads into the empty `tables` what was restored, if that takes at most half the budget; else
  // its slices are spilled ones.
  Status load(SliceTables* tables);
  // Before every batch, of so many rows: keeps `tables` within the budget.
  Status make_room(size_t rows, SliceTables* tables);
  [[nodiscard]] bool is_spilled(Timestamp end) const {
    const auto found = written_.find(end);
    return found != written_.end() && found->second;
  }
  // All groups of a spilled slice.
  Status read(Timestamp end, SliceTables* tables, const Visit& visit);
  // The slice has fired.
  void drop(Timestamp end);
  Status snapshot(const SnapshotRequest& request, SliceTables* tables, OperatorState* out);

 private:
  SpilledSlices(const OperatorContext& context, WindowPlanPtr plan,
                std::unique_ptr<BlindMergeStore> store);
  void write(Timestamp end, std::shared_ptr<SliceTable> table);
  Status spill(Timestamp end, SliceTables* tables);
  // Reads all there is into `tables`; false: more than `budget`.
  Result<bool> load_all(size_t budget, SliceTables* tables);
  // The ends of all slices that have something in the store.
  Result<std::vector<Timestamp>> stored_ends() const;
  [[nodiscard]] std::vector<std::string> prefixes(Timestamp end) const;

  WindowPlanPtr plan_;
  KeyGroupRange key_groups_;
  int32_t max_parallelism_;
  size_t budget_;
  std::unique_ptr<BlindMergeStore> store_;
  std::map<Timestamp, bool> written_;  // slices with something in the store -> spilled
  uint64_t last_run_ = 0;
};

}  // namespace penstock::window
