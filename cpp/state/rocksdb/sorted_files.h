// SortedFiles: sorted entries made into SST files and handed to a database, past its memtables.
//
// Thread safety: none.
#pragma once

#include <rocksdb/sst_file_writer.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "state/rocksdb/rocks_store.h"

namespace penstock {

class SortedFiles {
 public:
  // For entries of `meta`. Files lie in the store's directory until they are ingested.
  SortedFiles(RocksStore* store, const StateMeta& meta);
  ~SortedFiles();
  SortedFiles(const SortedFiles&) = delete;
  SortedFiles& operator=(const SortedFiles&) = delete;

  // REQUIRES of all three: greater than the key before.
  Status add(std::string_view key, std::string_view value);
  // An operand to be merged with what the key has.
  Status add_operand(std::string_view key, std::string_view operand);
  Status remove(std::string_view key);
  // The database has all of it when this returns.
  Status ingest_into(const RocksFamily& family);

 private:
  // Makes room for one more, and goes on when a file is full.
  Status before(size_t bytes);
  Status after(const rocksdb::Status& status);
  Status open_file();
  Status finish_file();

  RocksStore* const store_;
  const std::string state_;
  const rocksdb::Options options_;
  const uint64_t file_bytes_;
  uint64_t unasked_bytes_ = 0;  // added since the file was asked for its size
  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  std::vector<std::string> paths_;
};

}  // namespace penstock
