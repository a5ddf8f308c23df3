// The task state file: what the operators of one subtask put into a checkpoint.
// docs/snapshot-format.md describes it byte by byte.
//
// Thread safety: the functions may be called from any thread; none of them keeps anything.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "snapshot/container.h"
#include "snapshot/file_io.h"
#include "snapshot/operator_state.h"

namespace penstock {

// Which task of a job: a vertex of the job graph (one chain) and its subtask.
struct TaskId {
  std::string vertex;
  int32_t subtask = 0;
  friend auto operator<=>(const TaskId&, const TaskId&) = default;
  friend bool operator==(const TaskId&, const TaskId&) = default;
};

// "vertex/subtask", for messages.
std::string to_string(const TaskId& task);

struct OperatorEntry {
  std::string uid;
  OperatorState state;
};

struct TaskState {
  TaskId task;
  int32_t parallelism = 1;
  int32_t max_parallelism = kDefaultMaxParallelism;
  std::vector<OperatorEntry> operators;  // in the order of the chain
};

// A file of a state backend that checkpoints share, in storage.
struct SharedFile {
  std::string content_id;
  uint64_t size = 0;
  uint32_t crc32c = 0;  // of the whole file
  friend auto operator<=>(const SharedFile&, const SharedFile&) = default;
  friend bool operator==(const SharedFile&, const SharedFile&) = default;
};

// Puts a file that has a content id where checkpoints share it. Called from the thread that writes.
using StoreSharedFile = std::function<Result<SharedFile>(const StateFile& file)>;

struct WrittenTaskState {
  FileSummary file;
  std::vector<SharedFile> shared;  // what it refers to
};

// The bytes of a backend's file, checked against what `file` says of it.
Result<std::string> read_state_file(const StateFile& file);

// Writes and syncs the file; the caller syncs the directory. Deferred state is read out while it is
// written, key group by key group. Without `store` all files of backends go into this one.
Result<WrittenTaskState> write_task_state(FileSystem* files, const std::string& path,
                                          const TaskState& state,
                                          const StoreSharedFile& store = {});

// The same bytes, in memory.
Result<std::string> serialise_task_state(const TaskState& state);

// Makes a backend's file usable: sets file->path. `content` is there, and verified, for a file that
// stood in the task's own; others are in shared storage, and not verified yet.
using PlaceStateFile =
    std::function<Status(std::optional<std::string_view> content, StateFile* file)>;

// All of it or a failure, never a part. `name` is the file's name in messages. Without `place`, state
// in a backend's own files is kNotSupported.
Result<TaskState> parse_task_state(std::string_view bytes, const std::string& name,
                                   const PlaceStateFile& place = {});
// kCorruption when the file is missing.
Result<TaskState> read_task_state(FileSystem* files, const std::string& path);

}  // namespace penstock
