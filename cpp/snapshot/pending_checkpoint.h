// PendingCheckpoint: a checkpoint or savepoint that is being written.
//
// On a local file system, each step durable before the next one begins:
//   1. create `<final path>.inprogress/`
//   2. tasks write and sync their state files in it, and shared files in `shared/`
//   3. write and sync `_metadata` in it, sync the directory and `shared/`
//   4. rename it to the final path, sync the directory above
// On an object store a file appears whole or not at all, but nothing can be renamed: the tasks write
// into the final path, and `_metadata`, written last, is what makes the checkpoint complete.
// Either way there is a checkpoint iff `<final path>/_metadata` exists and verifies.
//
// Thread safety: write_task() may be called by many threads at once; everything else belongs to one,
// after they are done.
#pragma once

#include <memory>
#include <string>

#include "common/ids.h"
#include "common/status.h"
#include "snapshot/checkpoint_metadata.h"
#include "snapshot/file_io.h"
#include "snapshot/shared_state_registry.h"

namespace penstock {

// Writes a task's state file into `directory` (a checkpoint's `.inprogress`), for tasks that run in
// another process than the PendingCheckpoint.
Result<TaskFile> write_task_file(FileSystem* files, const std::string& directory,
                                 const TaskState& state, const StoreSharedFile& store = {});

// Removes itself unless complete() has succeeded.
class PendingCheckpoint {
 public:
  // Step 1: checkpoint `id`. Leftovers of an earlier attempt at the same path are removed. `shared`
  // null: nothing is shared, all is in the directory.
  static Result<PendingCheckpoint> begin(FileSystem* files, CheckpointId id, std::string final_path,
                                         std::shared_ptr<SharedStateRegistry> shared);
  // The same for a savepoint: `<directory>/savepoint-<first 6 of the job id>-<n>`, which holds all it
  // needs. n is the checkpoint's number, or the first free one above.
  static Result<PendingCheckpoint> begin_savepoint(FileSystem* files, CheckpointId id,
                                                   const std::string& directory,
                                                   const std::string& job_id);
  ~PendingCheckpoint();
  PendingCheckpoint(PendingCheckpoint&& other) noexcept;
  PendingCheckpoint(const PendingCheckpoint&) = delete;
  PendingCheckpoint& operator=(const PendingCheckpoint&) = delete;
  PendingCheckpoint& operator=(PendingCheckpoint&&) = delete;

  // Step 2. From any thread.
  Result<TaskFile> write_task(const TaskState& state) const;
  // Steps 3 and 4. `metadata.tasks` lists all files. On failure the checkpoint does not count,
  // except when the very last sync failed: then it may or may not be there after a crash.
  Status complete(CheckpointMetadata metadata);

  // Where the tasks write.
  [[nodiscard]] const std::string& directory() const { return directory_; }
  // Where it is once complete() has succeeded.
  [[nodiscard]] const std::string& path() const { return final_path_; }

 private:
  PendingCheckpoint(FileSystem* files, CheckpointId id, std::string directory,
                    std::string final_path, std::shared_ptr<SharedStateRegistry> shared);
  Status create();
  Status move_to_final_path();

  FileSystem* files_;
  CheckpointId id_;
  std::string directory_;
  std::string final_path_;
  std::string savepoint_prefix_;  // the final path without its number; empty: no savepoint
  std::shared_ptr<SharedStateRegistry> shared_;
  bool half_made_ = true;
};

// Removes the directory of a checkpoint that does not count, and releases what it shares (`shared`
// may be null). Not while it might still count: on an object store `_metadata` has to go first.
Status remove_checkpoint(FileSystem* files, const std::string& directory, CheckpointId id,
                         SharedStateRegistry* shared);

}  // namespace penstock
