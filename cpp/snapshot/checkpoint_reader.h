// Reading a checkpoint or savepoint back, all of it verified.
//
// State in a backend's own files comes back as NativeState whose files can be opened: those that lie
// on this machine where they are, all others in a temporary directory that the NativeState owns.
//
// Thread safety: the functions may be called from any thread.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "snapshot/checkpoint_metadata.h"
#include "snapshot/file_io.h"

namespace penstock {

struct LoadedCheckpoint {
  std::string path;
  CheckpointMetadata metadata;
  std::vector<TaskState> tasks;  // as metadata.tasks

  // What the subtasks of operator `uid` wrote, by subtask: what reassign() takes. A subtask without
  // a file has an empty state.
  [[nodiscard]] std::vector<OperatorState> states_of(const std::string& uid) const;
};

// The checkpoint at `path`, a `chk-<n>` or savepoint directory. kCorruption names the file.
Result<CheckpointMetadata> read_checkpoint_metadata(FileSystem* files, const std::string& path);
Result<LoadedCheckpoint> read_checkpoint(FileSystem* files, const std::string& path);

// Where the checkpoints beside `path` keep what they share.
std::string shared_directory_of(const std::string& path);

}  // namespace penstock
