// BlindMergeStore: one state of mergeable values in RocksDB, written without reading.
//
// Values go down in sorted runs, made into files past the memtables. A run either replaces what its
// keys had, or adds an operand to it; operands are combined where RocksDB comes across them anyway:
// in compactions and scans. Keys are those of slice_keys.h.
//
// Everything that changes the database is a job of one queue, in order, in a thread of its own.
//
// Thread safety: belongs to the subtask's thread, but for what snapshot() hands over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "snapshot/operator_state.h"
#include "state/keyed_state_backend.h"

namespace penstock {

class RocksStore;
struct RocksFamily;

// Makes one value of several. Thread safety: combine() may be called from several threads at once.
class OperandCombiner {
 public:
  virtual ~OperandCombiner() = default;
  // Appends what `operands`, the oldest first, come to. It cannot fail: whoever reads a value also
  // understands several operands one behind the other, and that is what does not combine becomes.
  virtual void combine(const std::vector<std::string_view>& operands, std::string* out) const = 0;
};

class BlindMergeStore {
 public:
  enum class RunKind : uint8_t { kReplace, kMerge };
  using Add = std::function<Status(std::string_view key, std::string_view value)>;
  // Adds the entries of a run, keys ascending. Runs in the queue's thread.
  using Produce = std::function<Status(const Add& add)>;
  using Visit = std::function<Status(std::string_view key, std::string_view value)>;

  // With what `restored` has of the subtask's key groups. The metas in there must be `meta`.
  static Result<std::unique_ptr<BlindMergeStore>> open(
      const BackendContext& context, const StateMeta& meta,
      std::shared_ptr<const OperandCombiner> combiner, const std::vector<NativeState>& restored);
  ~BlindMergeStore();
  BlindMergeStore(const BlindMergeStore&) = delete;
  BlindMergeStore& operator=(const BlindMergeStore&) = delete;

  // The number of the job, for wait().
  uint64_t write_run(RunKind kind, Produce produce);
  // Waits until the job and all before it are done; the failure of one of them, if any failed.
  Status wait(uint64_t job) const;
  // Ok while no job has failed. Cheap.
  [[nodiscard]] Status failure() const;
  // Removes all keys that begin with one of the prefixes, once what was asked for before is done.
  void remove(std::vector<std::string> prefixes);

  // All entries that begin with one of the prefixes, in this order, as the finished jobs left them.
  Status scan(const std::vector<std::string>& prefixes, const Visit& visit) const;
  // The first key that is not less than `from`.
  Result<std::optional<std::string>> first_key(const std::string& from) const;

  // As KeyedStateBackend::snapshot, of what the jobs asked for so far will have written.
  void snapshot(const SnapshotRequest& request, OperatorState* out) const;

  // How much memory whoever fills the store may use for what is not written yet.
  [[nodiscard]] size_t memory_budget() const;

 private:
  BlindMergeStore(std::shared_ptr<RocksStore> store, RocksFamily* family, KeyGroupRange key_groups);

  std::shared_ptr<RocksStore> store_;
  RocksFamily* family_;  // belongs to the store
  KeyGroupRange key_groups_;
};

}  // namespace penstock
