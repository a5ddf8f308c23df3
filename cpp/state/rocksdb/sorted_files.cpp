#include "state/rocksdb/sorted_files.h"

#include <filesystem>
#include <system_error>

#include "state/rocksdb/rocks_keys.h"

namespace penstock {

namespace {
rocksdb::Options options_of(const RocksStore& store, const StateMeta& meta) {
  rocksdb::Options options(make_db_options(store.setup().settings, *store.setup().memory),
                           store.options_for(meta));
  options.env = store.env();
  return options;
}
}  // namespace

SortedFiles::SortedFiles(RocksStore* store, const StateMeta& meta)
    : store_(store),
      state_(meta.name),
      options_(options_of(*store, meta)),
      file_bytes_(options_.target_file_size_base) {}

SortedFiles::~SortedFiles() {
  std::error_code ignored;
  for (const std::string& path : paths_) std::filesystem::remove(path, ignored);
}

Status SortedFiles::add(std::string_view key, std::string_view value) {
  PENSTOCK_RETURN_NOT_OK(before(key.size() + value.size()));
  return after(writer_->Put(to_slice(key), to_slice(value)));
}

Status SortedFiles::add_operand(std::string_view key, std::string_view operand) {
  PENSTOCK_RETURN_NOT_OK(before(key.size() + operand.size()));
  return after(writer_->Merge(to_slice(key), to_slice(operand)));
}

Status SortedFiles::remove(std::string_view key) {
  PENSTOCK_RETURN_NOT_OK(before(key.size()));
  return after(writer_->Delete(to_slice(key)));
}

Status SortedFiles::before(size_t bytes) {
  unasked_bytes_ += bytes;
  return writer_ == nullptr ? open_file() : Status::ok();
}

Status SortedFiles::after(const rocksdb::Status& status) {
  PENSTOCK_RETURN_NOT_OK(store_->check(status, state_));
  // Asking for the size is not free.
  if (unasked_bytes_ < file_bytes_ / 64) return Status::ok();
  unasked_bytes_ = 0;
  return writer_->FileSize() < file_bytes_ ? Status::ok() : finish_file();
}

Status SortedFiles::open_file() {
  paths_.push_back(store_->setup().directory->unused_path("run-") + ".sst");
  writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options_);
  return store_->check(writer_->Open(paths_.back()), state_);
}

Status SortedFiles::finish_file() {
  const Status status = store_->check(writer_->Finish(), state_);
  writer_.reset();
  return status;
}

Status SortedFiles::ingest_into(const RocksFamily& family) {
  if (writer_ != nullptr) PENSTOCK_RETURN_NOT_OK(finish_file());
  if (paths_.empty()) return Status::ok();
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  // A file that is in checkpoints is never written to again.
  options.write_global_seqno = false;
  return store_->check(store_->db()->IngestExternalFile(family.handle, paths_, options), state_);
}

}  // namespace penstock
