#include "state/rocksdb/unsynced_files.h"

#include <rocksdb/file_system.h>

#include <string>
#include <utility>

namespace penstock {

namespace {

using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class UnsyncedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Flush(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Flush(options, debug);
  }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
};

class UnsyncedDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  using FSDirectoryWrapper::FSDirectoryWrapper;
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*,
                               const rocksdb::DirFsyncOptions&) override {
    return IOStatus::OK();
  }
};

class UnsyncedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  static const char* kClassName() { return "PenstockUnsynced"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    return wrap(target()->NewWritableFile(name, options, file, debug), file);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* file,
                              IODebugContext* debug) override {
    return wrap(target()->ReopenWritableFile(name, options, file, debug), file);
  }
  IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
    return wrap(target()->ReuseWritableFile(name, old_name, options, file, debug), file);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory, IODebugContext* debug) override {
    std::unique_ptr<FSDirectory> made;
    const IOStatus status = target()->NewDirectory(name, options, &made, debug);
    if (status.ok()) *directory = std::make_unique<UnsyncedDirectory>(std::move(made));
    return status;
  }

 private:
  static IOStatus wrap(const IOStatus& status, std::unique_ptr<FSWritableFile>* file) {
    if (status.ok()) *file = std::make_unique<UnsyncedFile>(std::move(*file));
    return status;
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> make_unsynced_env(rocksdb::Env* base) {
  return rocksdb::NewCompositeEnv(std::make_shared<UnsyncedFileSystem>(base->GetFileSystem()));
}

}  // namespace penstock
