// The task state file: what the operators of one subtask put into a checkpoint.
// docs/snapshot-format.md describes it byte by byte.
//
// Thread safety: the functions may be called from any thread; none of them keeps anything.
#pragma once

#include <cstdint>
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

// Writes and syncs the file; the caller syncs the directory.
Result<FileSummary> write_task_state(FileSystem* files, const std::string& path,
                                     const TaskState& state);

// The same bytes, in memory.
Result<std::string> serialise_task_state(const TaskState& state);

// All of it or a failure, never a part. `name` is the file's name in messages.
Result<TaskState> parse_task_state(std::string_view bytes, const std::string& name);
// kCorruption when the file is missing.
Result<TaskState> read_task_state(FileSystem* files, const std::string& path);

}  // namespace penstock
