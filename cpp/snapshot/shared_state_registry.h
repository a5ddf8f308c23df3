// SharedStateRegistry: the files that checkpoints of one job share, `<job-id>/shared/<content-id>`,
// and which checkpoint uses which of them.
//
// A checkpoint uses a file from put() on, also while it is still being written, until release().
// Invariants:
//   1. A file that is used by a checkpoint, complete or not, is never deleted.
//   2. A file is there, whole and durable but for its name, when put() gives it out. (Whoever
//      completes a checkpoint syncs the directory.)
//   3. A file that nothing uses is deleted by the release() that made it so; what a crash keeps from
//      being deleted goes with remove_unused().
// Which files complete checkpoints use stands in their metadata: load() reads it there when a job
// starts, so a crash loses nothing of this.
//
// Thread safety: all methods may be called from any thread. Two that put the same file at once: one
// writes, the other waits for it.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/ids.h"
#include "common/status.h"
#include "snapshot/file_io.h"
#include "snapshot/snapshot_format.h"

namespace penstock {

class SharedStateRegistry {
 public:
  // `files` outlives the registry.
  SharedStateRegistry(FileSystem* files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  struct Use {
    CheckpointId id;
    std::vector<SharedFile> files;
  };
  // What is there already. `damaged`: there is a checkpoint whose files are not known, so nothing
  // that is there now will ever be deleted.
  Status load(const std::vector<Use>& complete, bool damaged);

  // Makes `file` one of checkpoint `id`, and stores it when it is not there yet.
  Result<SharedFile> put(CheckpointId id, const StateFile& file);
  // Checkpoint `id` is no more: deletes the files that nobody else uses. Repeatable.
  Status release(CheckpointId id);
  // What `id` uses, by content id.
  [[nodiscard]] std::vector<SharedFile> files_of(CheckpointId id) const;
  // Deletes all in the directory that nothing uses. REQUIRES: no checkpoint is being written.
  Status remove_unused();
  Status sync() { return files_->sync_directory(directory_); }

  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  enum class State { kStoring, kStored, kDeleting };
  struct Entry {
    State state = State::kStoring;
    SharedFile file;
    std::set<CheckpointId> users;
  };

  Result<SharedFile> store(const StateFile& file, CheckpointId id);

  FileSystem* const files_;
  const std::string directory_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<std::string, Entry> entries_;
  std::set<std::string> kept_;  // may belong to a damaged checkpoint
  bool has_directory_ = false;
};

}  // namespace penstock
