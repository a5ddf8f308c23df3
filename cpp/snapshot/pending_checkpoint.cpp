// The writing half of checkpoint_storage.h.
#include <utility>

#include "snapshot/checkpoint_storage.h"

namespace penstock {

namespace {

// The vertex as part of a file's name: whatever is not safe in one becomes %xx.
std::string file_name_of(const TaskId& task) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string name = "task-";
  for (const char c : task.vertex) {
    const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
    if (safe) {
      name.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name.push_back('%');
    name.push_back(kHex[byte >> 4]);
    name.push_back(kHex[byte & 15]);
  }
  return name + "-" + std::to_string(task.subtask);
}

}  // namespace

Result<TaskFile> write_task_file(FileSystem* files, const std::string& directory,
                                 const TaskState& state) {
  TaskFile out;
  out.task = state.task;
  out.file = file_name_of(state.task);
  PENSTOCK_ASSIGN_OR_RETURN(const FileSummary summary,
                            write_task_state(files, directory + "/" + out.file, state));
  out.size = summary.size;
  out.crc32c = summary.crc32c;
  return out;
}

PendingCheckpoint::PendingCheckpoint(FileSystem* files, std::string final_path)
    : files_(files), final_path_(std::move(final_path)), directory_(final_path_ + ".inprogress") {}

PendingCheckpoint::PendingCheckpoint(PendingCheckpoint&& other) noexcept
    : files_(other.files_),
      final_path_(std::move(other.final_path_)),
      directory_(std::move(other.directory_)),
      half_made_(std::exchange(other.half_made_, false)) {}

PendingCheckpoint::~PendingCheckpoint() {
  // What cannot be removed now is skipped by every reader and goes with remove_leftovers().
  if (half_made_) (void)files_->remove_all(directory_).is_ok();
}

Status PendingCheckpoint::begin() {
  PENSTOCK_RETURN_NOT_OK(files_->remove_all(directory_));
  half_made_ = true;
  return files_->create_directories(directory_);
}

Result<TaskFile> PendingCheckpoint::write_task(const TaskState& state) const {
  return write_task_file(files_, directory_, state);
}

Status PendingCheckpoint::complete(const CheckpointMetadata& metadata) {
  const std::string path = directory_ + "/" + std::string(kMetadataFileName);
  PENSTOCK_RETURN_NOT_OK(write_metadata(files_, path, metadata));
  // Before the rename: the new name may never show a directory whose files are not all there.
  PENSTOCK_RETURN_NOT_OK(files_->sync_directory(directory_));
  PENSTOCK_RETURN_NOT_OK(files_->rename(directory_, final_path_));
  half_made_ = false;
  return files_->sync_directory(parent_path(final_path_));
}

}  // namespace penstock
