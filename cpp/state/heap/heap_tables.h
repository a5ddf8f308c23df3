// The three kinds of tables in memory, each over one EntryTable: a value is the value cell; a list
// is its canonical bytes (per element a length and the element), so that adding appends; a map is a
// MapTree in the value cell.
//
// What a put gets may point into the table: short bytes, which could lie in a cell that moves, are
// copied first; long ones lie in blobs, which live until they are replaced at the very end.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/heap/entry_table.h"
#include "state/keyed_state.h"

namespace penstock {

// What the backend needs of a table, whatever its kind.
class HeapTable : public KeyWalk {
 public:
  // An entry as it stands in a snapshot (snapshot/operator_state.h). kCorruption when it is none.
  virtual Status restore_entry(const EntryKey& entry, std::string_view value) = 0;
  // Calls `visit` for each entry as it stands in a snapshot.
  virtual Status visit_canonical(const EntryVisitor& visit) = 0;
  [[nodiscard]] EntryTable& entries() { return entries_; }
  void next_keys(size_t count, std::vector<OwnedKey>* out) final { entries_.next_keys(count, out); }

 protected:
  EntryTable entries_;
};

class HeapValueTable final : public ValueTable, public HeapTable {
 public:
  Result<std::optional<std::string_view>> get(const EntryKey& entry) override;
  Status put(const EntryKey& entry, std::string_view value) override;
  Status remove(const EntryKey& entry) override;
  Status for_each(const EntryVisitor& visit) override;
  Status restore_entry(const EntryKey& entry, std::string_view value) override {
    return put(entry, value);
  }
  Status visit_canonical(const EntryVisitor& visit) override { return for_each(visit); }
};

class HeapListTable final : public ListTable, public HeapTable {
 public:
  Status get(const EntryKey& entry, std::vector<std::string_view>* out) override;
  Status add(const EntryKey& entry, std::string_view element) override;
  Status update(const EntryKey& entry, const std::vector<std::string_view>& elements) override;
  Status clear(const EntryKey& entry) override;
  Status for_each(const EntryVisitor& visit) override;
  Status restore_entry(const EntryKey& entry, std::string_view value) override;
  Status visit_canonical(const EntryVisitor& visit) override { return for_each(visit); }
};

class HeapMapTable final : public MapTable, public HeapTable {
 public:
  Result<std::optional<std::string_view>> get(const EntryKey& entry,
                                              std::string_view user_key) override;
  Status put(const EntryKey& entry, std::string_view user_key, std::string_view value) override;
  Status remove(const EntryKey& entry, std::string_view user_key) override;
  Result<bool> is_empty(const EntryKey& entry) override;
  Status clear(const EntryKey& entry) override;
  Status scan(const EntryKey& entry, std::optional<std::string_view> after, size_t limit,
              std::vector<UserEntry>* out) override;
  Status for_each(const EntryVisitor& visit) override;
  Status restore_entry(const EntryKey& entry, std::string_view value) override;
  Status visit_canonical(const EntryVisitor& visit) override { return for_each(visit); }
};

}  // namespace penstock
