#include "snapshot/checkpoint_storage.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

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

}  // namespace

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
  PENSTOCK_ASSIGN_OR_RETURN(std::shared_ptr<SharedStateRegistry> shared, registry());
  return PendingCheckpoint::begin(files_, id, path_of(id), std::move(shared));
}

Result<CheckpointStorage::Listing> CheckpointStorage::list_completed() const {
  Listing out;
  PENSTOCK_ASSIGN_OR_RETURN(const auto directories, list_directories());
  for (const auto& [id, in_progress, path] : directories) {
    if (in_progress) {
      out.skipped.push_back({path, "it was never completed"});
      continue;
    }
    auto metadata = read_checkpoint_metadata(files_, path_of(id));
    if (metadata.status().code() == StatusCode::kIoError) return metadata.status();
    if (metadata.is_ok()) {
      out.completed.push_back(std::move(metadata).value());
    } else {
      out.skipped.push_back({path_of(id), metadata.status().message()});
      out.has_damaged = true;
    }
  }
  return out;
}

Result<CheckpointStorage::Newest> CheckpointStorage::newest_complete(
    const CheckpointStorage* copies) const {
  Newest out;
  PENSTOCK_ASSIGN_OR_RETURN(auto directories, list_directories());
  std::reverse(directories.begin(), directories.end());
  for (const auto& [id, in_progress, path] : directories) {
    if (in_progress) {
      out.skipped.push_back({path, "it was never completed"});
      continue;
    }
    auto checkpoint = read(id, copies);
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

// A copy is one of what is here now: its metadata, checksums of the files included, is the same.
Result<LoadedCheckpoint> CheckpointStorage::read(CheckpointId id,
                                                 const CheckpointStorage* copies) const {
  if (copies == nullptr) return read_checkpoint(files_, path_of(id));
  PENSTOCK_ASSIGN_OR_RETURN(const CheckpointMetadata metadata,
                            read_checkpoint_metadata(files_, path_of(id)));
  auto copy = read_checkpoint(copies->files_, copies->path_of(id));
  const bool same =
      copy.is_ok() && metadata_to_json(copy.value().metadata) == metadata_to_json(metadata);
  return same ? std::move(copy) : read_checkpoint(files_, path_of(id));
}

Result<CheckpointId> CheckpointStorage::highest_id() const {
  PENSTOCK_ASSIGN_OR_RETURN(const auto directories, list_directories());
  return directories.empty() ? CheckpointId{0} : directories.back().id;
}

Status CheckpointStorage::discard(CheckpointId id) const {
  // Renamed first: half-removed it could look damaged, and damage asks for attention.
  const std::string path = path_of(id);
  PENSTOCK_ASSIGN_OR_RETURN(const std::shared_ptr<SharedStateRegistry> shared, registry());
  PENSTOCK_ASSIGN_OR_RETURN(const bool exists, files_->exists(path));
  if (!exists) return shared->release(id);
  std::string leftover = path;
  if (files_->is_local()) {
    leftover += kInProgress;
    PENSTOCK_RETURN_NOT_OK(files_->remove_all(leftover));
    PENSTOCK_RETURN_NOT_OK(files_->rename(path, leftover));
    // Before anything of it goes: it may not come back without its files.
    PENSTOCK_RETURN_NOT_OK(files_->sync_directory(job_directory_));
  }
  return remove_checkpoint(files_, leftover, id, shared.get());
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
  for (const auto& [id, in_progress, path] : directories) {
    if (in_progress) PENSTOCK_RETURN_NOT_OK(files_->remove_all(path));
  }
  PENSTOCK_ASSIGN_OR_RETURN(const std::shared_ptr<SharedStateRegistry> shared, registry());
  return shared->remove_unused();
}

std::string CheckpointStorage::path_of(CheckpointId id) const {
  return job_directory_ + "/" + std::string(kPrefix) + std::to_string(id.value);
}

Result<std::shared_ptr<SharedStateRegistry>> CheckpointStorage::registry() const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->registry != nullptr) return shared_->registry;
  PENSTOCK_ASSIGN_OR_RETURN(const Listing listing, list_completed());
  std::vector<SharedStateRegistry::Use> uses;
  for (const CheckpointMetadata& metadata : listing.completed) {
    uses.push_back({metadata.checkpoint_id, metadata.shared_files});
  }
  auto registry =
      std::make_shared<SharedStateRegistry>(files_, shared_directory_of(path_of(CheckpointId{})));
  PENSTOCK_RETURN_NOT_OK(registry->load(uses, listing.has_damaged));
  shared_->registry = registry;
  return registry;
}

Result<std::vector<CheckpointStorage::Directory>> CheckpointStorage::list_directories() const {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->list(job_directory_));
  std::vector<Directory> out;
  for (const std::string& name : names) {
    bool in_progress = false;
    const auto id = parse_name(name, &in_progress);
    if (!id) continue;
    std::string path = job_directory_ + "/" + name;
    if (!files_->is_local()) {
      PENSTOCK_ASSIGN_OR_RETURN(const bool complete,
                                files_->exists(path + "/" + std::string(kMetadataFileName)));
      in_progress = !complete;
    }
    out.push_back({*id, in_progress, std::move(path)});
  }
  std::sort(out.begin(), out.end(), [](const Directory& a, const Directory& b) {
    return std::tie(a.id, a.in_progress) < std::tie(b.id, b.in_progress);
  });
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
