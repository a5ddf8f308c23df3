#include "snapshot/pending_checkpoint.h"

#include <utility>

namespace penstock {

namespace {

constexpr std::string_view kInProgress = ".inprogress";

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

// The first `<prefix><n>` from `n` on that does not exist.
Result<std::string> free_path(FileSystem* files, const std::string& prefix, int64_t n) {
  for (;; ++n) {
    std::string path = prefix + std::to_string(n);
    PENSTOCK_ASSIGN_OR_RETURN(const bool exists, files->exists(path));
    if (!exists) return path;
  }
}

}  // namespace

Result<TaskFile> write_task_file(FileSystem* files, const std::string& directory,
                                 const TaskState& state, const StoreSharedFile& store) {
  TaskFile out;
  out.task = state.task;
  out.file = file_name_of(state.task);
  PENSTOCK_ASSIGN_OR_RETURN(const WrittenTaskState written,
                            write_task_state(files, directory + "/" + out.file, state, store));
  out.size = written.file.size;
  out.crc32c = written.file.crc32c;
  return out;
}

Status remove_checkpoint(FileSystem* files, const std::string& directory, CheckpointId id,
                         SharedStateRegistry* shared) {
  if (!files->is_local()) {
    PENSTOCK_RETURN_NOT_OK(files->remove_all(directory + "/" + std::string(kMetadataFileName)));
  }
  Status removed = files->remove_all(directory);
  Status released = shared == nullptr ? Status::ok() : shared->release(id);
  return removed.is_ok() ? released : removed;
}

PendingCheckpoint::PendingCheckpoint(FileSystem* files, CheckpointId id, std::string directory,
                                     std::string final_path,
                                     std::shared_ptr<SharedStateRegistry> shared)
    : files_(files),
      id_(id),
      directory_(std::move(directory)),
      final_path_(std::move(final_path)),
      shared_(std::move(shared)) {}

PendingCheckpoint::PendingCheckpoint(PendingCheckpoint&& other) noexcept
    : files_(other.files_),
      id_(other.id_),
      directory_(std::move(other.directory_)),
      final_path_(std::move(other.final_path_)),
      savepoint_prefix_(std::move(other.savepoint_prefix_)),
      shared_(std::move(other.shared_)),
      half_made_(std::exchange(other.half_made_, false)) {}

PendingCheckpoint::~PendingCheckpoint() {
  if (!half_made_) return;
  // What cannot be removed now is skipped by every reader and goes with remove_leftovers().
  (void)remove_checkpoint(files_, directory_, id_, shared_.get()).is_ok();
}

Result<PendingCheckpoint> PendingCheckpoint::begin(FileSystem* files, CheckpointId id,
                                                   std::string final_path,
                                                   std::shared_ptr<SharedStateRegistry> shared) {
  std::string directory = final_path;
  if (files->is_local()) directory += kInProgress;
  PendingCheckpoint pending(files, id, std::move(directory), std::move(final_path),
                            std::move(shared));
  PENSTOCK_RETURN_NOT_OK(pending.create());
  return pending;
}

Result<PendingCheckpoint> PendingCheckpoint::begin_savepoint(FileSystem* files, CheckpointId id,
                                                             const std::string& directory,
                                                             const std::string& job_id) {
  const std::string prefix = directory + "/savepoint-" + job_id.substr(0, 6) + "-";
  PENSTOCK_ASSIGN_OR_RETURN(std::string path, free_path(files, prefix, id.value));
  // With the whole job id: another job with the same first letters may be writing there too.
  std::string work = path;
  if (files->is_local()) work += "." + job_id + std::string(kInProgress);
  PendingCheckpoint pending(files, id, std::move(work), std::move(path), nullptr);
  pending.savepoint_prefix_ = prefix;
  PENSTOCK_RETURN_NOT_OK(pending.create());
  return pending;
}

Status PendingCheckpoint::create() {
  PENSTOCK_RETURN_NOT_OK(remove_checkpoint(files_, directory_, id_, shared_.get()));
  return files_->create_directories(directory_);
}

Result<TaskFile> PendingCheckpoint::write_task(const TaskState& state) const {
  StoreSharedFile store;
  if (shared_ != nullptr) {
    store = [this](const StateFile& file) { return shared_->put(id_, file); };
  }
  return write_task_file(files_, directory_, state, store);
}

Status PendingCheckpoint::complete(CheckpointMetadata metadata) {
  if (shared_ != nullptr) metadata.shared_files = shared_->files_of(id_);
  metadata.savepoint = metadata.savepoint || !savepoint_prefix_.empty();
  const std::string path = directory_ + "/" + std::string(kMetadataFileName);
  // Shared files may have been written for another checkpoint, whose completion comes later.
  if (!metadata.shared_files.empty()) PENSTOCK_RETURN_NOT_OK(shared_->sync());
  PENSTOCK_RETURN_NOT_OK(write_metadata(files_, path, metadata));
  if (files_->is_local()) {
    // Before the rename: the new name may never show a directory whose files are not all there.
    PENSTOCK_RETURN_NOT_OK(files_->sync_directory(directory_));
    PENSTOCK_RETURN_NOT_OK(move_to_final_path());
  }
  half_made_ = false;
  return files_->is_local() ? files_->sync_directory(parent_path(final_path_)) : Status::ok();
}

// A savepoint's name may have been taken meanwhile: renaming fails then, and the next one is tried.
Status PendingCheckpoint::move_to_final_path() {
  while (true) {
    Status status = files_->rename(directory_, final_path_);
    if (status.is_ok() || savepoint_prefix_.empty()) return status;
    PENSTOCK_ASSIGN_OR_RETURN(const bool taken, files_->exists(final_path_));
    if (!taken) return status;
    PENSTOCK_ASSIGN_OR_RETURN(final_path_, free_path(files_, savepoint_prefix_, id_.value));
  }
}

}  // namespace penstock
