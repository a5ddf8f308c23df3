// Savepoint: one that was asked for, from the asking to its end.
//
// Thread safety: all methods may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/status.h"
#include "snapshot/file_io.h"

namespace penstock {

// A directory, here or elsewhere.
struct StorageLocation {
  std::string path;
  std::shared_ptr<FileSystem> files;  // null: the machine's own
  [[nodiscard]] FileSystem* file_system() const {
    return files == nullptr ? local_file_system() : files.get();
  }
};

// What becomes of the job.
enum class AfterSavepoint {
  kGoOn,
  kSuspend,  // sources stop at the savepoint; nothing is emitted after it
  kDrain     // sources end first, with the watermark MAX: all windows and timers fire
};

class Savepoint {
 public:
  Savepoint(StorageLocation directory, AfterSavepoint after)
      : directory_(std::move(directory)), after_(after) {}

  [[nodiscard]] const StorageLocation& directory() const { return directory_; }
  [[nodiscard]] AfterSavepoint after() const { return after_; }

  // The first call decides.
  void finish(Result<std::string> path) {
    {
      const std::lock_guard lock(mutex_);
      if (!path_) path_.emplace(std::move(path));
    }
    done_.notify_all();
  }
  // Whether it is done after at most so long.
  bool wait(std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, timeout, [this] { return path_.has_value(); });
  }
  // Where it is, or why there is none. REQUIRES: done.
  [[nodiscard]] Result<std::string> path() const {
    const std::lock_guard lock(mutex_);
    return *path_;
  }

 private:
  const StorageLocation directory_;
  const AfterSavepoint after_;
  mutable std::mutex mutex_;
  mutable std::condition_variable done_;
  std::optional<Result<std::string>> path_;  // guarded by mutex_
};

}  // namespace penstock
