// SliceTable: the groups of one slice and their accumulators. SliceTables: all open slices of an
// operator.
//
// A slice is dropped whole when it is done; a few empty tables are kept for the slices to come, so
// that a steady stream allocates nothing.
//
// Thread safety: belongs to the subtask's thread. The one exception is a table that was frozen
// (frozen_table.h): as long as somebody reads it as it was, the subtask's thread takes `mutex_`
// around whatever moves memory or touches all groups, and saves the groups of a batch before it
// changes them for the first time. While nobody does, which is almost always, it takes no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "operators/window/aggregates.h"
#include "operators/window/group_index.h"
#include "operators/window/window_plan.h"

namespace penstock::window {

class FrozenTable;

class SliceTable {
 public:
  // `count_rows`: keep the number of raw rows of each group, too (row_counts()).
  SliceTable(WindowPlanPtr plan, bool count_rows);

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
  [[nodiscard]] const AccumulatorSet& accumulators() const { return accumulators_; }
  // REQUIRES: count_rows.
  [[nodiscard]] const Accumulators& row_counts() const { return *accumulators_[row_counts_]; }
  // Somebody reads the table as it was at an earlier moment.
  [[nodiscard]] bool is_frozen() const { return readers_.load(std::memory_order_acquire) != 0; }
  // REQUIRES: not is_frozen().
  void clear();
  [[nodiscard]] size_t bytes() const;
  // What bytes() may be after a batch of `rows`: at most that, but for long texts.
  [[nodiscard]] size_t bytes_after(size_t rows) const {
    return index_.grows_with(rows) ? 2 * bytes() : bytes();
  }

 private:
  friend class FrozenTable;

  // The column of `batch` that accumulators `i` begin to read at; nullptr for count(*).
  using Input = const Column* (SliceTable::*)(const Batch& batch, size_t i) const;
  [[nodiscard]] const Column* row_input(const Batch& batch, size_t i) const;
  [[nodiscard]] const Column* partial_input(const Batch& batch, size_t i) const;
  // The groups of the rows, ready to be changed.
  const std::vector<uint32_t>& groups_to_change(Input input, const Batch& batch, BatchKeys* keys,
                                                const int32_t* rows, int64_t count);

  WindowPlanPtr plan_;
  GroupIndex index_;
  // One per aggregate of the plan; after them the row counts, unless the plan has a count(*) that
  // serves.
  AccumulatorSet accumulators_;
  size_t row_counts_ = 0;
  std::vector<size_t> partial_columns_;  // of each aggregate, its first in a batch of partials
  std::vector<uint32_t> groups_;

  std::mutex mutex_;
  std::vector<FrozenTable*> frozen_;  // guarded by mutex_
  // frozen_.size(). Its last value 0 is what the subtask's thread sees a reader's end by.
  std::atomic<size_t> readers_{0};
};

class SliceTables {
 public:
  // In the order of firing. Not that of the ends: the end of the last slice of all may have wrapped
  // around to the least timestamp, while its last millisecond is the greatest.
  struct FiresBefore {
    bool operator()(Timestamp a, Timestamp b) const { return max_timestamp(a) < max_timestamp(b); }
  };
  using Map = std::map<Timestamp, std::shared_ptr<SliceTable>, FiresBefore>;

  SliceTables(WindowPlanPtr plan, bool count_rows)
      : plan_(std::move(plan)), count_rows_(count_rows) {}

  // The table of the slice that ends at `end`, made if need be.
  SliceTable* at(Timestamp end);
  void drop(Timestamp end);
  // The slice goes on with an empty table.
  std::shared_ptr<SliceTable> take(Timestamp end);
  void clear();
  // From now on only tables of at most so much memory are kept for slices to come.
  void limit_spares(size_t bytes) { max_spare_bytes_ = bytes; }

  // By end.
  [[nodiscard]] const Map& open() const { return open_; }
  [[nodiscard]] size_t groups() const;
  [[nodiscard]] size_t bytes() const;
  // Of the next batch, of so many rows: it may go to any slice.
  [[nodiscard]] size_t bytes_after(size_t rows) const;

 private:
  static constexpr size_t kSpareTables = 2;
  WindowPlanPtr plan_;
  bool count_rows_;
  size_t max_spare_bytes_ = SIZE_MAX;
  Map open_;
  std::vector<std::shared_ptr<SliceTable>> spare_;
};

}  // namespace penstock::window
