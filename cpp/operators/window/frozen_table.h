// FrozenTable: a slice's table as it was at one moment, readable in another thread while the
// subtask goes on changing it.
//
// To freeze costs next to nothing. From then on the subtask's thread copies the groups of a batch
// before it changes them for the first time, in chunks of kChunkGroups; what it does not touch is
// read where it lies. So a batch pays for its own rows only, no addition happens in another order
// than it would have, and there is nothing to put together again when the last reader has gone.
//
// Invariants, for a table frozen with n groups:
//   1. Group ids never change and groups never go, so "as it was" are the first n groups.
//   2. A chunk that is not in `saved_` has not changed since the freeze. It is read under the
//      table's mutex; the subtask's thread saves it under the mutex and changes it after.
//   3. What is in `saved_` never changes.
//
// Thread safety: freeze() and save() belong to the subtask's thread; read() and the destructor to
// any one thread at a time. It shares the table, which thereby outlives the window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operators/window/slice_table.h"

namespace penstock::window {

// Some groups one behind the other, copied.
class FrozenBlock {
 public:
  [[nodiscard]] size_t size() const { return keys_.size(); }
  [[nodiscard]] const KeyCopy& keys() const { return keys_; }
  // Appends the accumulators of the block's i-th group, of all aggregates in order. Quick when `i`
  // is near that of the last call.
  void serialise(size_t i, std::string* out);

 private:
  friend class FrozenTable;
  struct Part {
    size_t from;  // of its groups in the block
    size_t end;
    const AccumulatorSet* columns;  // group `from` is their group 0
  };
  KeyCopy keys_;
  std::vector<Part> parts_;
  size_t last_part_ = 0;
  std::vector<std::unique_ptr<AccumulatorSet>> copied_;
};

class FrozenTable {
 public:
  static constexpr size_t kChunkGroups = 128;

  static std::shared_ptr<FrozenTable> freeze(std::shared_ptr<SliceTable> table);
  ~FrozenTable();
  FrozenTable(const FrozenTable&) = delete;
  FrozenTable& operator=(const FrozenTable&) = delete;

  [[nodiscard]] size_t size() const { return size_; }
  // Groups [from, from + count) as they were. REQUIRES: from is a multiple of kChunkGroups. The
  // block must not outlive the frozen table.
  Result<FrozenBlock> read(size_t from, size_t count) const;

  [[nodiscard]] Result<KeyCopy> read_keys(size_t from, size_t count) const;

  // Copies what of `groups` has not been copied yet. REQUIRES: the table's mutex is held.
  void save(const uint32_t* groups, int64_t count);

 private:
  explicit FrozenTable(std::shared_ptr<SliceTable> table);
  [[nodiscard]] AccumulatorSet copy(size_t from, size_t count) const;

  std::shared_ptr<SliceTable> table_;
  const size_t size_;
  std::vector<std::unique_ptr<AccumulatorSet>> saved_;  // by chunk; null: not changed yet
};

}  // namespace penstock::window
