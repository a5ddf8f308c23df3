#include "snapshot/checkpoint_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "snapshot/crc32c.h"
#include "snapshot/scratch_directory.h"

namespace penstock {

namespace {

Status check_content(const std::string& path, std::string_view bytes, uint64_t size, uint32_t crc) {
  if (bytes.size() != size) {
    return damaged(path, "it has " + std::to_string(bytes.size()) + " bytes and should have " +
                             std::to_string(size));
  }
  return crc32c(bytes) == crc ? Status::ok() : damaged(path, "its checksum does not match");
}

// Makes the files of backends usable, for one checkpoint.
class FilePlacer {
 public:
  FilePlacer(FileSystem* files, const std::string& path, const CheckpointMetadata& metadata)
      : files_(files), shared_directory_(shared_directory_of(path)) {
    for (const SharedFile& file : metadata.shared_files) listed_.emplace(file.content_id, file);
  }

  Status place(std::optional<std::string_view> content, StateFile* file) {
    return content ? place_private(*content, file) : place_shared(file);
  }
  // Keeps the files where they are; null when no file has been placed.
  [[nodiscard]] std::shared_ptr<void> owner() const { return scratch_; }

 private:
  Status place_private(std::string_view content, StateFile* file) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::string directory, new_directory());
    file->path = directory + "/" + file->name;
    return write_unsynced(file->path, content);
  }

  // A file that several tasks share is looked at once.
  Status place_shared(StateFile* file) {
    const std::string path = shared_directory_ + "/" + file->content_id;
    const auto listed = listed_.find(file->content_id);
    if (listed == listed_.end() ||
        listed->second != SharedFile{file->content_id, file->size, file->crc32c}) {
      return damaged(path, "what the metadata says of it is not what a task's file says");
    }
    const auto known = placed_.find(file->content_id);
    if (known != placed_.end()) {
      file->path = known->second;
      return Status::ok();
    }
    PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, files_->read(path));
    if (!bytes) return damaged(path, "the file is missing");
    PENSTOCK_RETURN_NOT_OK(check_content(path, *bytes, file->size, file->crc32c));
    file->path = path;
    if (!files_->is_local()) {
      PENSTOCK_ASSIGN_OR_RETURN(const std::string directory, new_directory());
      file->path = directory + "/" + file->name;
      PENSTOCK_RETURN_NOT_OK(write_unsynced(file->path, *bytes));
    }
    placed_.emplace(file->content_id, file->path);
    return Status::ok();
  }

  Result<std::string> new_directory() {
    if (scratch_ == nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(scratch_, ScratchDirectory::make());
    }
    std::string path = scratch_->path() + "/" + std::to_string(num_directories_++);
    PENSTOCK_RETURN_NOT_OK(local_file_system()->create_directories(path));
    return path;
  }

  static Status write_unsynced(const std::string& path, std::string_view bytes) {
    PENSTOCK_ASSIGN_OR_RETURN(const auto file, local_file_system()->create(path));
    PENSTOCK_RETURN_NOT_OK(file->append(bytes));
    return file->close();
  }

  FileSystem* const files_;
  const std::string shared_directory_;
  std::map<std::string, SharedFile> listed_;
  std::map<std::string, std::string> placed_;  // content id -> path
  std::shared_ptr<ScratchDirectory> scratch_;
  size_t num_directories_ = 0;
};

// The metadata is verified; so each file must be exactly what it says.
Result<TaskState> read_listed_task(FileSystem* files, const std::string& directory,
                                   const TaskFile& listed, const PlaceStateFile& place) {
  const std::string path = directory + "/" + listed.file;
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, files->read(path));
  if (!bytes) return damaged(path, "the file is missing");
  if (bytes->size() != listed.size) {
    return check_content(path, *bytes, listed.size, listed.crc32c);
  }
  // Before the checksum of the whole: a newer format is to be reported as such.
  PENSTOCK_ASSIGN_OR_RETURN(TaskState state, parse_task_state(*bytes, path, place));
  PENSTOCK_RETURN_NOT_OK(check_content(path, *bytes, listed.size, listed.crc32c));
  if (state.task != listed.task) {
    return damaged(path, "it holds the state of task " + to_string(state.task) + ", not of " +
                             to_string(listed.task));
  }
  return state;
}

}  // namespace

std::vector<OperatorState> LoadedCheckpoint::states_of(const std::string& uid) const {
  std::vector<OperatorState> states;
  if (const OperatorInfo* info = metadata.find_operator(uid)) {
    states.resize(static_cast<size_t>(std::max(info->parallelism, 0)));
  }
  for (const TaskState& task : tasks) {
    for (const OperatorEntry& entry : task.operators) {
      if (entry.uid != uid || task.task.subtask < 0) continue;
      const auto subtask = static_cast<size_t>(task.task.subtask);
      if (subtask >= states.size()) states.resize(subtask + 1);
      states[subtask] = entry.state;
    }
  }
  return states;
}

std::string shared_directory_of(const std::string& path) {
  size_t end = path.size();
  while (end > 1 && path[end - 1] == '/') --end;
  return parent_path(path.substr(0, end)) + "/shared";
}

Result<CheckpointMetadata> read_checkpoint_metadata(FileSystem* files, const std::string& path) {
  const std::string file = path + "/" + std::string(kMetadataFileName);
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, files->read(file));
  if (!bytes) {
    PENSTOCK_ASSIGN_OR_RETURN(const bool exists, files->exists(path));
    if (!exists)
      return Status::corruption("there is no checkpoint or savepoint '" + path +
                                "': the path does not exist");
    return damaged(path, "it has no _metadata, so it was never completed");
  }
  return parse_metadata(*bytes, file);
}

Result<LoadedCheckpoint> read_checkpoint(FileSystem* files, const std::string& path) {
  LoadedCheckpoint out;
  out.path = path;
  PENSTOCK_ASSIGN_OR_RETURN(out.metadata, read_checkpoint_metadata(files, path));
  FilePlacer placer(files, path, out.metadata);
  const PlaceStateFile place = [&](std::optional<std::string_view> content, StateFile* file) {
    return placer.place(content, file);
  };
  for (const TaskFile& listed : out.metadata.tasks) {
    PENSTOCK_ASSIGN_OR_RETURN(TaskState state, read_listed_task(files, path, listed, place));
    out.tasks.push_back(std::move(state));
  }
  for (TaskState& task : out.tasks) {
    for (OperatorEntry& entry : task.operators) {
      for (NativeState& native : entry.state.native) native.owner = placer.owner();
    }
  }
  return out;
}

}  // namespace penstock
