// DirectoryLock: at most one run of a job writes into its checkpoint directory.
//
// An advisory lock on `<directory>/.lock`, held while the object lives. The system drops it when the
// process dies, however it dies. Between machines it holds where the file system says so.
#pragma once

#include <string>
#include <utility>

#include "common/status.h"

namespace penstock {

class DirectoryLock {
 public:
  DirectoryLock() = default;  // holds nothing
  // kInvalidArgument when somebody else holds it, kIoError when it cannot be asked for.
  static Result<DirectoryLock> acquire(const std::string& directory);
  ~DirectoryLock() { release(); }
  DirectoryLock(DirectoryLock&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  void release();

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace penstock
