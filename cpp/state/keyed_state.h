// Keyed state as its users see it: tables from (key, namespace) to values, lists or maps of bytes.
//
// A table belongs to its backend and lives as long as it. What a read gives out points into the
// table: it is valid until the next call on any table of the backend, and never changes what is
// stored. Nothing here knows Python or types: values are bytes.
//
// The order of map entries is that of their user keys' bytes, of list elements that of their
// addition: the same on every backend.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"
#include "record/key_group.h"

namespace penstock {

// Whose state is asked for. Borrows its bytes for the length of the call.
struct EntryKey {
  std::string_view key;         // canonical key bytes (record/key_encoding.h); empty: no key
  uint32_t hash = 0;            // murmur of `key`, 0 without one
  std::string_view name_space;  // a window's bytes, or empty

  [[nodiscard]] int32_t key_group(int32_t max_parallelism) const {
    return key.empty() ? 0 : key_group_of(hash, max_parallelism);
  }
};

// Visits every entry: (key, namespace, value bytes). The table must not be changed meanwhile.
using EntryVisitor = std::function<Status(std::string_view key, std::string_view name_space,
                                          std::string_view value)>;

// Value, reducing and aggregating state: at most one value per entry.
class ValueTable {
 public:
  virtual ~ValueTable() = default;
  virtual Result<std::optional<std::string_view>> get(const EntryKey& entry) = 0;
  // `value` may point into the table.
  virtual Status put(const EntryKey& entry, std::string_view value) = 0;
  // Fine when there is none.
  virtual Status remove(const EntryKey& entry) = 0;
  virtual Status for_each(const EntryVisitor& visit) = 0;
};

// A list without elements and no list are the same thing.
class ListTable {
 public:
  virtual ~ListTable() = default;
  // The elements, oldest first; `out` is cleared first.
  virtual Status get(const EntryKey& entry, std::vector<std::string_view>* out) = 0;
  virtual Status add(const EntryKey& entry, std::string_view element) = 0;
  // The elements may point into the table.
  virtual Status update(const EntryKey& entry, const std::vector<std::string_view>& elements) = 0;
  virtual Status clear(const EntryKey& entry) = 0;
  // `value` is the whole list: per element a u32 little endian length and its bytes.
  virtual Status for_each(const EntryVisitor& visit) = 0;
};

// A map without entries and no map are the same thing.
class MapTable {
 public:
  using UserEntry = std::pair<std::string_view, std::string_view>;  // user key, value

  virtual ~MapTable() = default;
  virtual Result<std::optional<std::string_view>> get(const EntryKey& entry,
                                                      std::string_view user_key) = 0;
  virtual Status put(const EntryKey& entry, std::string_view user_key, std::string_view value) = 0;
  virtual Status remove(const EntryKey& entry, std::string_view user_key) = 0;
  virtual Result<bool> is_empty(const EntryKey& entry) = 0;
  virtual Status clear(const EntryKey& entry) = 0;
  // Up to `limit` entries with user keys after `after` (nullopt: from the first), in order; `out` is
  // cleared first. Fewer than `limit`: that was the end. This is how a map is iterated over while
  // the one who iterates changes it.
  virtual Status scan(const EntryKey& entry, std::optional<std::string_view> after, size_t limit,
                      std::vector<UserEntry>* out) = 0;
  // `value` is one entry: user key as u32 little endian length and bytes, then the value's bytes.
  // The entries of one (key, namespace) come one behind the other.
  virtual Status for_each(const EntryVisitor& visit) = 0;
};

}  // namespace penstock
