// `_metadata`: what a checkpoint consists of. A JSON document in a container, so that people and
// other tools can read it and nobody can read a damaged one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/ids.h"
#include "common/status.h"
#include "snapshot/snapshot_format.h"

namespace penstock {

inline constexpr std::string_view kMetadataFileName = "_metadata";

struct OperatorInfo {
  std::string uid;
  std::string name;
  int32_t parallelism = 1;
  int32_t max_parallelism = kDefaultMaxParallelism;
};

// The state file of one task, in the checkpoint's directory.
struct TaskFile {
  TaskId task;
  std::string file;
  uint64_t size = 0;
  uint32_t crc32c = 0;  // of the whole file
};

struct CheckpointMetadata {
  std::string job_id;
  std::string job_name;
  CheckpointId checkpoint_id;
  int64_t trigger_millis = 0;
  std::vector<OperatorInfo> operators;
  std::vector<TaskFile> tasks;
  std::vector<TaskId> finished_tasks;    // had ended before; their files hold their last state
  std::vector<SharedFile> shared_files;  // all that the tasks' files refer to, by content id
  bool savepoint = false;

  // nullptr when there is none of that uid.
  [[nodiscard]] const OperatorInfo* find_operator(std::string_view uid) const;
};

std::string metadata_to_json(const CheckpointMetadata& metadata);
Result<CheckpointMetadata> metadata_from_json(std::string_view json);

// Writes and syncs the file; the caller syncs the directory.
Status write_metadata(FileSystem* files, const std::string& path,
                      const CheckpointMetadata& metadata);
// `name` is the file's name in messages.
Result<CheckpointMetadata> parse_metadata(std::string_view bytes, const std::string& name);

}  // namespace penstock
