// RocksDatabase: one open RocksDB with named column families.
//
// It owns the rocksdb::DB and its column family handles and closes them in the order RocksDB
// asks for (handles first). Move-only; a moved-from database is closed.
//
// Thread safety: put, get and flush may be called from several threads at once, as in RocksDB
// itself. close() and the destructor need exclusive access.
//
// Invariants:
//   1. The database is open exactly while `db_` is set.
//   2. Every name in `families_` has a live handle while the database is open; the family
//      "default" is always among them, because RocksDB demands it.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace penstock {

// Our Status for a RocksDB one. "Not found" is not a failure in Penstock: callers look for it
// before they translate.
Status from_rocksdb(const rocksdb::Status& status);

class RocksDatabase {
 public:
  // Opens the database in the folder `path` and creates what is missing of it: the folder, and
  // those of `column_families` that it does not have yet. Families that exist are opened too,
  // named or not, because RocksDB refuses to write with some of them closed.
  static Result<RocksDatabase> open(const std::string& path,
                                    const std::vector<std::string>& column_families);

  RocksDatabase(RocksDatabase&&) noexcept = default;
  RocksDatabase& operator=(RocksDatabase&& other) noexcept;
  ~RocksDatabase();

  Status put(const std::string& column_family, std::string_view key, std::string_view value);

  // The value of `key`, or nothing when it has none.
  Result<std::optional<std::string>> get(const std::string& column_family,
                                         std::string_view key) const;

  // Writes the memtables of all column families to SST files and waits for it.
  Status flush();

  // Closes the database; a second call does nothing. Data not flushed stays in the write-ahead
  // log and is there at the next open.
  Status close();

  [[nodiscard]] bool is_open() const { return db_ != nullptr; }
  [[nodiscard]] std::vector<std::string> column_families() const;

 private:
  using Families = std::map<std::string, rocksdb::ColumnFamilyHandle*, std::less<>>;

  RocksDatabase(std::unique_ptr<rocksdb::DB> db, Families families);

  Result<rocksdb::ColumnFamilyHandle*> family(const std::string& name) const;

  std::unique_ptr<rocksdb::DB> db_;
  // The handles belong to `db_` and go back to it in close().
  Families families_;
};

}  // namespace penstock
