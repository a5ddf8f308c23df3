// Partitioners: which of the target subtasks gets which rows of a batch.
//
// Per target the rows keep their order. A batch that goes to one target whole is handed on as it
// is, without a copy; otherwise each target gets one gathered batch. Where a row goes depends on
// the row (or on its number in the stream), never on where batches were cut.
//
// Thread safety: none; one instance belongs to one producing subtask.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "record/element.h"
#include "record/key_group.h"

namespace penstock {

class Partitioner {
 public:
  explicit Partitioner(int32_t num_targets) : num_targets_(num_targets) {}
  virtual ~Partitioner() = default;
  Partitioner(const Partitioner&) = delete;
  Partitioner& operator=(const Partitioner&) = delete;

  // Sets (*per_target)[t] to the rows for target t, for all t; num_rows == 0 means none: skip it.
  // The vector may be used again for the next batch.
  Status partition(Batch batch, std::vector<Batch>* per_target);

  [[nodiscard]] int32_t num_targets() const { return num_targets_; }

 protected:
  // REQUIRES: batch has rows, there are at least two targets, `out` holds num_targets empty
  // batches.
  virtual Status split(Batch batch, std::vector<Batch>* out) = 0;

 private:
  const int32_t num_targets_;
};

// One to one: the single target (a producer sees only its own channel).
std::unique_ptr<Partitioner> make_forward();

// Round robin by record, as in Flink: record n of this producer goes to target (first + n) mod
// num_targets. Counted by record and not by batch, so that even a slow stream spreads evenly and
// the result does not depend on batch boundaries. `first` is the producer's subtask index, so that
// many producers do not all begin with the same target. Rescale is a rebalance over fewer targets.
std::unique_ptr<Partitioner> make_rebalance(int32_t num_targets, int32_t first);

// By key group. The key is made of `key_columns` (indices into the batch's schema); with none
// given, every batch must carry `keys`.
std::unique_ptr<Partitioner> make_hash(int32_t num_targets, int32_t max_parallelism,
                                       std::vector<int32_t> key_columns);

// The same with the key columns by name, looked up at the first batch (and again when the schema
// changes). kKeyError when there is no such column.
std::unique_ptr<Partitioner> make_hash_by_name(int32_t num_targets, int32_t max_parallelism,
                                               std::vector<std::string> key_columns);

// Every target gets every row (shared, not copied).
std::unique_ptr<Partitioner> make_broadcast(int32_t num_targets);

// All rows to target 0.
std::unique_ptr<Partitioner> make_global(int32_t num_targets);

// Splits `batch` by `targets` (one entry per row, each < out->size()), keeping the order of the
// rows of a target. What the partitioners are made of; public for other ways to choose a target
// (custom partitioners).
Status split_by_target(Batch batch, const uint16_t* targets, std::vector<Batch>* out);

}  // namespace penstock
