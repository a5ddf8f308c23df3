// SliceTable: the groups of one slice and their accumulators. SliceTables: all open slices of an
// operator.
//
// A slice is dropped whole when it is done; a few empty tables are kept for the slices to come, so
// that a steady stream allocates nothing.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "operators/window/aggregates.h"
#include "operators/window/group_index.h"
#include "operators/window/window_plan.h"

namespace penstock::window {

class SliceTable {
 public:
  // `count_rows`: keep the number of raw rows of each group, too (row_counts()).
  SliceTable(const WindowPlan& plan, bool count_rows);

  // Raw rows of `batch`, whose keys are in `keys`.
  Status update(const Batch& batch, BatchKeys* keys, const int32_t* rows, int64_t count);
  // Partials (the plan's partial schema).
  Status merge(const Batch& batch, BatchKeys* keys, const int32_t* rows, int64_t count);
  // Makes groups for the keys, with empty accumulators where they are new; [i] is the group of key
  // i.
  const std::vector<uint32_t>& resolve(BatchKeys* keys, const int32_t* rows, int64_t count);

  [[nodiscard]] size_t size() const { return index_.size(); }
  [[nodiscard]] const GroupIndex& index() const { return index_; }
  // One per aggregate of the plan, in its order.
  [[nodiscard]] const Accumulators& accumulators(size_t i) const { return *accumulators_[i]; }
  [[nodiscard]] Accumulators* mutable_accumulators(size_t i) { return accumulators_[i].get(); }
  // REQUIRES: count_rows.
  [[nodiscard]] const Accumulators& row_counts() const { return *accumulators_[row_counts_]; }
  void clear();
  [[nodiscard]] size_t bytes() const;

 private:
  const WindowPlan& plan_;  // outlives the table
  GroupIndex index_;
  // One per aggregate of the plan; after them the row counts, unless the plan has a count(*) that
  // serves.
  std::vector<std::unique_ptr<Accumulators>> accumulators_;
  size_t row_counts_ = 0;
  std::vector<uint32_t> groups_;
};

class SliceTables {
 public:
  // In the order of firing. Not that of the ends: the end of the last slice of all may have wrapped
  // around to the least timestamp, while its last millisecond is the greatest.
  struct FiresBefore {
    bool operator()(Timestamp a, Timestamp b) const { return max_timestamp(a) < max_timestamp(b); }
  };
  using Map = std::map<Timestamp, std::unique_ptr<SliceTable>, FiresBefore>;

  SliceTables(WindowPlanPtr plan, bool count_rows)
      : plan_(std::move(plan)), count_rows_(count_rows) {}

  // The table of the slice that ends at `end`, made if need be.
  SliceTable* at(Timestamp end);
  void drop(Timestamp end);
  void clear();

  // By end.
  [[nodiscard]] const Map& open() const { return open_; }
  [[nodiscard]] size_t groups() const;
  [[nodiscard]] size_t bytes() const;

 private:
  static constexpr size_t kSpareTables = 2;
  WindowPlanPtr plan_;
  bool count_rows_;
  Map open_;
  std::vector<std::unique_ptr<SliceTable>> spare_;
};

}  // namespace penstock::window
