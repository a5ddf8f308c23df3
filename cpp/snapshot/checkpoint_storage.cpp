#include "snapshot/checkpoint_storage.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "snapshot/crc32c.h"

namespace penstock {

namespace {

constexpr std::string_view kPrefix = "chk-";
constexpr std::string_view kInProgress = ".inprogress";

// "chk-12" -> 12, "chk-12.inprogress" -> 12 with *in_progress; nothing for other names.
std::optional<CheckpointId> parse_name(std::string_view name, bool* in_progress) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  *in_progress = name.ends_with(kInProgress);
  if (*in_progress) name.remove_suffix(kInProgress.size());
  int64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return CheckpointId{id};
}

// The metadata is verified; so each file must be exactly what it says.
Result<TaskState> read_listed_task(FileSystem* files, const std::string& directory,
                                   const TaskFile& listed) {
  const std::string path = directory + "/" + listed.file;
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, files->read(path));
  if (!bytes) return damaged(path, "the file is missing");
  if (bytes->size() != listed.size) {
    return damaged(path, "it has " + std::to_string(bytes->size()) + " bytes and should have " +
                             std::to_string(listed.size));
  }
  // Before the checksum of the whole: a newer format is to be reported as such.
  PENSTOCK_ASSIGN_OR_RETURN(TaskState state, parse_task_state(*bytes, path));
  if (crc32c(*bytes) != listed.crc32c) return damaged(path, "its checksum does not match");
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

Result<CheckpointMetadata> read_checkpoint_metadata(FileSystem* files, const std::string& path) {
  const std::string file = path + "/" + std::string(kMetadataFileName);
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, files->read(file));
  if (!bytes) return damaged(path, "it has no _metadata, so it was never completed");
  return parse_metadata(*bytes, file);
}

Result<LoadedCheckpoint> read_checkpoint(FileSystem* files, const std::string& path) {
  LoadedCheckpoint out;
  out.path = path;
  PENSTOCK_ASSIGN_OR_RETURN(out.metadata, read_checkpoint_metadata(files, path));
  for (const TaskFile& listed : out.metadata.tasks) {
    PENSTOCK_ASSIGN_OR_RETURN(TaskState state, read_listed_task(files, path, listed));
    out.tasks.push_back(std::move(state));
  }
  return out;
}

CheckpointStorage::CheckpointStorage(std::string directory, std::string job_id, FileSystem* files)
    : job_id_(std::move(job_id)),
      job_directory_(std::move(directory) + "/" + job_id_),
      files_(files) {}

Result<CheckpointStorage> CheckpointStorage::open(std::string directory, std::string job_id,
                                                  FileSystem* files) {
  if (directory.empty()) return Status::invalid("the checkpoint directory's name is empty");
  if (job_id.empty() || job_id == "." || job_id == ".." || job_id.find('/') != std::string::npos) {
    return Status::invalid("'" + job_id + "' is no job id: it must work as a directory's name");
  }
  return CheckpointStorage(std::move(directory), std::move(job_id), files);
}

Result<PendingCheckpoint> CheckpointStorage::begin(CheckpointId id) const {
  PENSTOCK_ASSIGN_OR_RETURN(const bool exists, files_->exists(path_of(id)));
  if (exists) {
    return Status::invalid("checkpoint '" + path_of(id) +
                           "' exists already: restore from it, or choose another job id");
  }
  PendingCheckpoint pending(files_, path_of(id));
  PENSTOCK_RETURN_NOT_OK(pending.begin());
  return pending;
}

Result<CheckpointStorage::Listing> CheckpointStorage::list_completed() const {
  Listing out;
  PENSTOCK_ASSIGN_OR_RETURN(const auto directories, list_directories());
  for (const auto& [id, in_progress] : directories) {
    if (in_progress) {
      out.skipped.push_back({path_of(id) + std::string(kInProgress), "it was never completed"});
      continue;
    }
    auto metadata = read_checkpoint_metadata(files_, path_of(id));
    if (metadata.status().code() == StatusCode::kIoError) return metadata.status();
    if (metadata.is_ok()) {
      out.completed.push_back(std::move(metadata).value());
    } else {
      out.skipped.push_back({path_of(id), metadata.status().message()});
    }
  }
  return out;
}

Result<CheckpointStorage::Newest> CheckpointStorage::newest_complete() const {
  Newest out;
  PENSTOCK_ASSIGN_OR_RETURN(auto directories, list_directories());
  std::reverse(directories.begin(), directories.end());
  for (const auto& [id, in_progress] : directories) {
    if (in_progress) {
      out.skipped.push_back({path_of(id) + std::string(kInProgress), "it was never completed"});
      continue;
    }
    auto checkpoint = read_checkpoint(files_, path_of(id));
    if (checkpoint.is_ok()) {
      PENSTOCK_RETURN_NOT_OK(check_job(checkpoint.value().metadata, id));
      out.checkpoint = std::move(checkpoint).value();
      return out;
    }
    if (checkpoint.status().code() != StatusCode::kCorruption) return checkpoint.status();
    out.skipped.push_back({path_of(id), checkpoint.status().message()});
  }
  return out;
}

Result<CheckpointId> CheckpointStorage::highest_id() const {
  PENSTOCK_ASSIGN_OR_RETURN(const auto directories, list_directories());
  return directories.empty() ? CheckpointId{0} : directories.back().first;
}

Status CheckpointStorage::discard(CheckpointId id) const {
  // Renamed first: half-removed it could look damaged, and damage asks for attention.
  const std::string path = path_of(id);
  PENSTOCK_ASSIGN_OR_RETURN(const bool exists, files_->exists(path));
  if (!exists) return Status::ok();
  const std::string leftover = path + std::string(kInProgress);
  PENSTOCK_RETURN_NOT_OK(files_->remove_all(leftover));
  PENSTOCK_RETURN_NOT_OK(files_->rename(path, leftover));
  return files_->remove_all(leftover);
}

Result<std::vector<CheckpointId>> CheckpointStorage::retain(size_t count) const {
  PENSTOCK_ASSIGN_OR_RETURN(const Listing listing, list_completed());
  std::vector<CheckpointId> discarded;
  for (size_t i = 0; i + count < listing.completed.size(); ++i) {
    const CheckpointMetadata& metadata = listing.completed[i];
    if (metadata.job_id != job_id_) continue;  // not ours to remove
    PENSTOCK_RETURN_NOT_OK(discard(metadata.checkpoint_id));
    discarded.push_back(metadata.checkpoint_id);
  }
  return discarded;
}

Status CheckpointStorage::remove_leftovers() const {
  PENSTOCK_ASSIGN_OR_RETURN(const auto directories, list_directories());
  for (const auto& [id, in_progress] : directories) {
    if (in_progress) {
      PENSTOCK_RETURN_NOT_OK(files_->remove_all(path_of(id) + std::string(kInProgress)));
    }
  }
  return Status::ok();
}

std::string CheckpointStorage::path_of(CheckpointId id) const {
  return job_directory_ + "/" + std::string(kPrefix) + std::to_string(id.value);
}

Result<std::vector<std::pair<CheckpointId, bool>>> CheckpointStorage::list_directories() const {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->list(job_directory_));
  std::vector<std::pair<CheckpointId, bool>> out;
  for (const std::string& name : names) {
    bool in_progress = false;
    const auto id = parse_name(name, &in_progress);
    if (id) out.emplace_back(*id, in_progress);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Status CheckpointStorage::check_job(const CheckpointMetadata& metadata, CheckpointId id) const {
  if (metadata.job_id == job_id_ && metadata.checkpoint_id == id) return Status::ok();
  return Status::invalid("'" + path_of(id) + "' holds checkpoint " +
                         std::to_string(metadata.checkpoint_id.value) + " of job '" +
                         metadata.job_id + "' (" + metadata.job_name + "), expected checkpoint " +
                         std::to_string(id.value) + " of job '" + job_id_ +
                         "': move it away, or give the job its own checkpoint directory");
}

}  // namespace penstock
