#include "state/rocksdb/database.h"

#include <algorithm>
#include <utility>

namespace penstock {

namespace {

rocksdb::Slice to_slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

// The families to open: default, those asked for, and those that are on disk already.
Result<std::vector<std::string>> families_to_open(const rocksdb::Options& options,
                                                  const std::string& path,
                                                  const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(options, path, &names);
  // A folder without a database has no CURRENT file, which RocksDB reports as one of these two.
  if (!listed.ok() && !listed.IsPathNotFound() && !listed.IsIOError()) {
    return from_rocksdb(listed);
  }
  names.push_back(rocksdb::kDefaultColumnFamilyName);
  names.insert(names.end(), wanted.begin(), wanted.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

Status from_rocksdb(const rocksdb::Status& status) {
  if (status.ok()) {
    return Status::ok();
  }
  std::string message = "RocksDB: " + status.ToString();
  if (status.IsCorruption()) {
    return Status::corruption(std::move(message));
  }
  if (status.IsInvalidArgument()) {
    return Status::invalid(std::move(message));
  }
  if (status.IsNotSupported()) {
    return Status::not_supported(std::move(message));
  }
  const bool disk = status.IsIOError() || status.IsPathNotFound() || status.IsNoSpace();
  return disk ? Status::io_error(std::move(message)) : Status::internal(std::move(message));
}

Result<RocksDatabase> RocksDatabase::open(const std::string& path,
                                          const std::vector<std::string>& column_families) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;

  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                            families_to_open(options, path, column_families));
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) {
    descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions(options));
  }

  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  PENSTOCK_RETURN_NOT_OK(
      from_rocksdb(rocksdb::DB::Open(options, path, descriptors, &handles, &opened)));

  Families families;
  for (size_t i = 0; i < handles.size(); ++i) {
    families.emplace(names[i], handles[i]);
  }
  return RocksDatabase(std::unique_ptr<rocksdb::DB>(opened), std::move(families));
}

RocksDatabase::RocksDatabase(std::unique_ptr<rocksdb::DB> db, Families families)
    : db_(std::move(db)), families_(std::move(families)) {}

RocksDatabase& RocksDatabase::operator=(RocksDatabase&& other) noexcept {
  if (this != &other) {
    // A destructor has nobody to tell, and neither has an assignment.
    static_cast<void>(close());
    db_ = std::move(other.db_);
    families_ = std::move(other.families_);
  }
  return *this;
}

RocksDatabase::~RocksDatabase() { static_cast<void>(close()); }

Result<rocksdb::ColumnFamilyHandle*> RocksDatabase::family(const std::string& name) const {
  if (!is_open()) {
    return Status::invalid("the RocksDB database is closed");
  }
  const auto found = families_.find(name);
  if (found == families_.end()) {
    return Status::key_error("no column family '" + name + "'");
  }
  return found->second;
}

Status RocksDatabase::put(const std::string& column_family, std::string_view key,
                          std::string_view value) {
  PENSTOCK_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle * handle, family(column_family));
  return from_rocksdb(db_->Put(rocksdb::WriteOptions(), handle, to_slice(key), to_slice(value)));
}

Result<std::optional<std::string>> RocksDatabase::get(const std::string& column_family,
                                                      std::string_view key) const {
  PENSTOCK_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle * handle, family(column_family));
  std::string value;
  const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), handle, to_slice(key), &value);
  if (status.IsNotFound()) {
    return std::optional<std::string>();
  }
  PENSTOCK_RETURN_NOT_OK(from_rocksdb(status));
  return std::optional<std::string>(std::move(value));
}

Status RocksDatabase::flush() {
  if (!is_open()) {
    return Status::invalid("the RocksDB database is closed");
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  for (const auto& [name, handle] : families_) {
    handles.push_back(handle);
  }
  return from_rocksdb(db_->Flush(rocksdb::FlushOptions(), handles));
}

Status RocksDatabase::close() {
  if (!is_open()) {
    return Status::ok();
  }
  // Handles go first: a DB that closes with live handles fails an assertion inside RocksDB.
  Status first_failure;
  for (const auto& [name, handle] : families_) {
    Status status = from_rocksdb(db_->DestroyColumnFamilyHandle(handle));
    first_failure = first_failure.is_ok() ? status : first_failure;
  }
  families_.clear();
  Status status = from_rocksdb(db_->Close());
  db_.reset();
  return first_failure.is_ok() ? status : first_failure;
}

std::vector<std::string> RocksDatabase::column_families() const {
  std::vector<std::string> names;
  for (const auto& [name, handle] : families_) {
    names.push_back(name);
  }
  return names;
}

}  // namespace penstock
