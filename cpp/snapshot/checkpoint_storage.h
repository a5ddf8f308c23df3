// Where the checkpoints of one job live: `<dir>/<job-id>/chk-<n>/`, with `_metadata` and one state
// file per task.
//
// The protocol, each step durable before the next one begins:
//   1. create `chk-<n>.inprogress/`
//   2. tasks write and sync their state files in it
//   3. write and sync `_metadata` in it, sync the directory
//   4. rename it to `chk-<n>/`, sync the job's directory
// So a checkpoint is complete iff `chk-<n>/_metadata` exists and verifies; whatever a crash leaves
// behind is either complete or recognisably not. docs/snapshot-format.md has the details.
//
// Thread safety: no object here changes after its making, except a PendingCheckpoint by complete();
// write_task() may be called by many threads (and by other processes: write_task_file) at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/ids.h"
#include "common/status.h"
#include "snapshot/checkpoint_metadata.h"
#include "snapshot/file_io.h"

namespace penstock {

// Writes a task's state file into `directory` (a checkpoint's `.inprogress`), for tasks that run in
// another process than the PendingCheckpoint.
Result<TaskFile> write_task_file(FileSystem* files, const std::string& directory,
                                 const TaskState& state);

// A checkpoint that is being written. Removes itself unless complete() has succeeded.
class PendingCheckpoint {
 public:
  PendingCheckpoint(FileSystem* files, std::string final_path);
  ~PendingCheckpoint();
  PendingCheckpoint(PendingCheckpoint&& other) noexcept;
  PendingCheckpoint(const PendingCheckpoint&) = delete;
  PendingCheckpoint& operator=(const PendingCheckpoint&) = delete;
  PendingCheckpoint& operator=(PendingCheckpoint&&) = delete;

  // Step 1. Leftovers of an earlier attempt at the same checkpoint are removed.
  Status begin();
  // Step 2. From any thread.
  Result<TaskFile> write_task(const TaskState& state) const;
  // Steps 3 and 4. `metadata.tasks` lists all files. On failure the checkpoint does not count,
  // except when the very last sync failed: then it may or may not be there after a crash.
  Status complete(const CheckpointMetadata& metadata);

  // Where the tasks write: `...chk-<n>.inprogress`.
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  FileSystem* files_;
  std::string final_path_;
  std::string directory_;
  bool half_made_ = false;
};

// A checkpoint read back, all of it verified.
struct LoadedCheckpoint {
  std::string path;
  CheckpointMetadata metadata;
  std::vector<TaskState> tasks;  // as metadata.tasks

  // What the subtasks of operator `uid` wrote, by subtask: what reassign() takes. A subtask without
  // a file has an empty state.
  [[nodiscard]] std::vector<OperatorState> states_of(const std::string& uid) const;
};

// Reads and verifies the checkpoint at `path` (a `chk-<n>` or savepoint directory).
Result<CheckpointMetadata> read_checkpoint_metadata(FileSystem* files, const std::string& path);
Result<LoadedCheckpoint> read_checkpoint(FileSystem* files, const std::string& path);

// One that was passed over, and why: for a warning.
struct SkippedCheckpoint {
  std::string path;
  std::string reason;
};

class CheckpointStorage {
 public:
  struct Listing {
    std::vector<CheckpointMetadata> completed;  // oldest first
    std::vector<SkippedCheckpoint> skipped;
  };
  struct Newest {
    std::optional<LoadedCheckpoint> checkpoint;  // nothing: there is no complete one
    std::vector<SkippedCheckpoint> skipped;
  };

  // kInvalidArgument when `job_id` cannot be a directory's name. `files` outlives the storage.
  static Result<CheckpointStorage> open(std::string directory, std::string job_id,
                                        FileSystem* files = local_file_system());

  // A new checkpoint, begun. kInvalidArgument when `id` exists already.
  Result<PendingCheckpoint> begin(CheckpointId id) const;

  // Complete means here: the metadata verifies. One of a newer format is skipped too.
  Result<Listing> list_completed() const;
  // The newest checkpoint of which everything verifies. Half-written and damaged ones are skipped.
  // Fails when a newer one than it is of a newer format version (kNotSupported) or of another job
  // (kInvalidArgument): going back behind such a one would be a silent loss.
  Result<Newest> newest_complete() const;

  // Of all there are, complete or not; 0: none.
  Result<CheckpointId> highest_id() const;

  Status discard(CheckpointId id) const;
  // Discards all complete ones but the newest `count`; the ones discarded.
  Result<std::vector<CheckpointId>> retain(size_t count) const;
  // Removes what crashes have left half-made. REQUIRES: no checkpoint is being written.
  Status remove_leftovers() const;

  [[nodiscard]] std::string path_of(CheckpointId id) const;
  [[nodiscard]] const std::string& job_directory() const { return job_directory_; }

 private:
  CheckpointStorage(std::string directory, std::string job_id, FileSystem* files);
  // The n of each `chk-<n>` and of each `chk-<n>.inprogress`, ascending.
  Result<std::vector<std::pair<CheckpointId, bool>>> list_directories() const;
  Status check_job(const CheckpointMetadata& metadata, CheckpointId id) const;

  std::string job_id_;
  std::string job_directory_;
  FileSystem* files_;
};

}  // namespace penstock
