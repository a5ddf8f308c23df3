// RocksDirectory: where the database of one backend lives, and what is made beside it (the hard
// links of a checkpoint must be on the same file system). Removed with everything in it when the
// last who needs it lets go.
//
// A process that is killed leaves its directories behind. Each is locked while its process lives,
// so the next process that works in the same place recognises the leftovers and removes them.
//
// Thread safety: all methods may be called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "common/status.h"
#include "snapshot/directory_lock.h"

namespace penstock {

class RocksDirectory {
 public:
  // A new one under `parent`, which is made if need be; empty: the system's place for temporary
  // files.
  static Result<std::shared_ptr<RocksDirectory>> create(const std::string& parent);
  ~RocksDirectory();
  RocksDirectory(const RocksDirectory&) = delete;
  RocksDirectory& operator=(const RocksDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string database_path() const { return path_ + "/db"; }
  // A name nothing has; nothing is made.
  std::string unused_path(const std::string& prefix) {
    return path_ + "/" + prefix + std::to_string(next_.fetch_add(1));
  }

 private:
  RocksDirectory(std::string path, DirectoryLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  const std::string path_;
  DirectoryLock lock_;
  std::atomic<int64_t> next_{1};
};

// A directory within a RocksDirectory, removed with the object.
class SubDirectory {
 public:
  SubDirectory(std::shared_ptr<RocksDirectory> home, std::string path)
      : home_(std::move(home)), path_(std::move(path)) {}
  ~SubDirectory();
  SubDirectory(const SubDirectory&) = delete;
  SubDirectory& operator=(const SubDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::shared_ptr<RocksDirectory> home_;
  const std::string path_;
};

}  // namespace penstock
