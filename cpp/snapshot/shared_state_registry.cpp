#include "snapshot/shared_state_registry.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "snapshot/crc32c.h"

namespace penstock {

namespace {

// A content id becomes a file's name.
Status check_content_id(const std::string& id) {
  const bool good = !id.empty() && id[0] != '.' && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  return good ? Status::ok() : Status::internal("'" + id + "' cannot be the id of a shared file");
}

// Others wait for what becomes of a file: a failure has to reach them, whatever it is.
template <typename Store>
Result<SharedFile> catching(const Store& store) {
  try {
    return store();
  } catch (const std::exception& error) {
    return Status::internal(std::string("storing a shared file: ") + error.what());
  }
}

}  // namespace

Status SharedStateRegistry::load(const std::vector<Use>& complete, bool damaged) {
  const std::lock_guard lock(mutex_);
  for (const Use& use : complete) {
    for (const SharedFile& file : use.files) {
      Entry& entry = entries_[file.content_id];
      if (!entry.users.empty() && entry.file != file) {
        return Status::corruption("'" + directory_ + "/" + file.content_id +
                                  "' should have two different contents, says the metadata of "
                                  "checkpoint " +
                                  std::to_string(use.id.value));
      }
      entry.state = State::kStored;
      entry.file = file;
      entry.users.insert(use.id);
    }
  }
  if (!damaged) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->list(directory_));
  kept_.insert(names.begin(), names.end());
  return Status::ok();
}

Result<SharedFile> SharedStateRegistry::put(CheckpointId id, const StateFile& file) {
  PENSTOCK_RETURN_NOT_OK(check_content_id(file.content_id));
  std::unique_lock lock(mutex_);
  while (true) {
    const auto [it, is_new] = entries_.try_emplace(file.content_id);
    if (is_new) break;  // ours to store
    Entry& entry = it->second;
    if (entry.state == State::kStored) {
      if (entry.file.size != file.size || (file.crc32c != 0 && entry.file.crc32c != file.crc32c)) {
        return Status::internal("two different files have the content id '" + file.content_id +
                                "': '" + file.path + "' and the one in storage");
      }
      entry.users.insert(id);
      return entry.file;
    }
    changed_.wait(lock);
  }
  lock.unlock();
  auto stored = catching([&] { return store(file, id); });
  lock.lock();
  const auto it = entries_.find(file.content_id);
  if (stored.is_ok()) {
    it->second.state = State::kStored;
    it->second.file = stored.value();
    it->second.users.insert(id);
  } else {
    entries_.erase(it);
  }
  changed_.notify_all();
  return stored;
}

// Under another name first: a file with a content id for its name is whole.
Result<SharedFile> SharedStateRegistry::store(const StateFile& file, CheckpointId id) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::string bytes, read_state_file(file));
  {
    const std::lock_guard lock(mutex_);
    if (!has_directory_) PENSTOCK_RETURN_NOT_OK(files_->create_directories(directory_));
    has_directory_ = true;
  }
  const std::string path = directory_ + "/" + file.content_id;
  if (!files_->is_local()) {
    PENSTOCK_RETURN_NOT_OK(write_file(files_, path, bytes));
  } else {
    const std::string temporary = path + "." + std::to_string(id.value) + ".inprogress";
    Status status = write_file(files_, temporary, bytes);
    if (status.is_ok()) status = files_->rename(temporary, path);
    if (!status.is_ok()) {
      (void)files_->remove_all(temporary).is_ok();
      return status;
    }
  }
  return SharedFile{file.content_id, bytes.size(), crc32c(bytes)};
}

Status SharedStateRegistry::release(CheckpointId id) {
  std::vector<std::string> unused;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [content_id, entry] : entries_) {
      if (entry.users.erase(id) == 0 || !entry.users.empty()) continue;
      // Until it has gone nobody may find it, nor write it again.
      entry.state = State::kDeleting;
      unused.push_back(content_id);
    }
  }
  Status first;
  for (const std::string& content_id : unused) {
    const bool keep = kept_.contains(content_id);
    Status status = keep ? Status::ok() : files_->remove_all(directory_ + "/" + content_id);
    if (first.is_ok()) first = std::move(status);
    const std::lock_guard lock(mutex_);
    entries_.erase(content_id);
    changed_.notify_all();
  }
  return first;
}

std::vector<SharedFile> SharedStateRegistry::files_of(CheckpointId id) const {
  const std::lock_guard lock(mutex_);
  std::vector<SharedFile> out;
  for (const auto& [content_id, entry] : entries_) {
    if (entry.users.contains(id)) out.push_back(entry.file);
  }
  return out;
}

Status SharedStateRegistry::remove_unused() {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->list(directory_));
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    if (entries_.contains(name) || kept_.contains(name)) continue;
    PENSTOCK_RETURN_NOT_OK(files_->remove_all(directory_ + "/" + name));
  }
  return Status::ok();
}

}  // namespace penstock
