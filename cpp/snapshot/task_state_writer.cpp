// The writing half of snapshot_format.h.
#include <memory>
#include <utility>

#include "snapshot/crc32c.h"
#include "snapshot/snapshot_format.h"
#include "snapshot/task_sections.h"

namespace penstock {

namespace {

// The longest prefix of whole entries that fits a section; at least one entry.
Result<std::string_view> whole_entries(std::string_view entries) {
  if (entries.size() <= kKeyGroupSectionBytes) return entries;
  ByteReader reader(entries);
  size_t size = 0;
  while (!reader.at_end()) {
    std::string_view part;
    if (!reader.get_bytes(&part) || !reader.get_bytes(&part) || !reader.get_bytes(&part)) {
      return Status::internal("the lengths of the entries do not add up");
    }
    const size_t behind = entries.size() - reader.rest().size();
    if (size > 0 && behind > kKeyGroupSectionBytes) break;
    size = behind;
  }
  return entries.substr(0, size);
}

// Writes one keyed state, key group by key group as they come.
class KeyedStateWriter {
 public:
  KeyedStateWriter(ContainerWriter* out, const StateMeta& meta, const KeyGroupRange& range)
      : out_(out), meta_(meta), range_(range) {}

  Status begin() {
    std::string head;
    put_meta(&head, meta_);
    put_i32(&head, range_.start);
    put_i32(&head, range_.end);
    return out_->add_section(kKeyedStateSection, head);
  }

  Status add(int32_t group, std::string_view entries) {
    if (!range_.contains(group)) {
      return failure(group, "is not in [" + std::to_string(range_.start) + ", " +
                                std::to_string(range_.end) + "]");
    }
    if (group < last_group_) return failure(group, "comes after " + std::to_string(last_group_));
    last_group_ = group;
    while (!entries.empty()) {
      PENSTOCK_ASSIGN_OR_RETURN(const std::string_view part, whole_entries(entries));
      std::string number;
      put_i32(&number, group);
      PENSTOCK_RETURN_NOT_OK(out_->add_section(kKeyGroupSection, number, part));
      entries.remove_prefix(part.size());
      ++num_sections_;
      num_bytes_ += part.size();
    }
    return Status::ok();
  }

  Status end() {
    std::string counts;
    put_u32(&counts, num_sections_);
    put_u64(&counts, num_bytes_);
    return out_->add_section(kEndOfKeyedStateSection, counts);
  }

 private:
  [[nodiscard]] Status failure(int32_t group, const std::string& what) const {
    return Status::internal("state '" + meta_.name + "': key group " + std::to_string(group) + " " +
                            what);
  }

  ContainerWriter* const out_;
  const StateMeta& meta_;
  const KeyGroupRange range_;
  int32_t last_group_ = -1;
  uint32_t num_sections_ = 0;
  uint64_t num_bytes_ = 0;
};

Status write_keyed(ContainerWriter* out, const KeyedStateData& state, const KeyGroupRange& range) {
  KeyedStateWriter writer(out, state.meta, range);
  PENSTOCK_RETURN_NOT_OK(writer.begin());
  for (const auto& [group, entries] : state.groups) {
    PENSTOCK_RETURN_NOT_OK(writer.add(group, entries));
  }
  return writer.end();
}

Status write_deferred(ContainerWriter* out, const DeferredKeyedState& state,
                      const KeyGroupRange& range) {
  KeyedStateWriter writer(out, state.meta(), range);
  PENSTOCK_RETURN_NOT_OK(writer.begin());
  PENSTOCK_RETURN_NOT_OK(state.for_each_group(
      [&](int32_t group, std::string_view entries) { return writer.add(group, entries); }));
  return writer.end();
}

Status write_list(ContainerWriter* out, const ListStateData& state) {
  std::string payload;
  put_meta(&payload, state.meta);
  put_u32(&payload, static_cast<uint32_t>(state.items.size()));
  for (const std::string& item : state.items) put_bytes(&payload, item);
  return out->add_section(kListStateSection, payload);
}

void put_file(std::string* out, const StateFile& file) {
  put_bytes(out, file.name);
  put_u64(out, file.size);
  put_u32(out, file.crc32c);
  put_bytes(out, file.content_id);
}

// Files that are shared go to `store`, the others into sections behind the state's.
Status write_native(ContainerWriter* out, NativeState state, const StoreSharedFile& store,
                    std::vector<SharedFile>* shared) {
  PENSTOCK_RETURN_NOT_OK(state.complete());
  std::string payload;
  put_bytes(&payload, state.backend);
  put_bytes(&payload, state.description);
  put_i32(&payload, state.key_groups.start);
  put_i32(&payload, state.key_groups.end);
  put_u32(&payload, static_cast<uint32_t>(state.states.size()));
  for (const StateMeta& meta : state.states) put_meta(&payload, meta);
  put_u32(&payload, static_cast<uint32_t>(state.files.size()));
  std::vector<std::pair<std::string, std::string>> inside;  // name, content
  for (StateFile file : state.files) {
    if (!store) file.content_id.clear();
    if (file.content_id.empty()) {
      PENSTOCK_ASSIGN_OR_RETURN(std::string content, read_state_file(file));
      file.size = content.size();
      file.crc32c = crc32c(content);
      inside.emplace_back(file.name, std::move(content));
    } else {
      PENSTOCK_ASSIGN_OR_RETURN(SharedFile stored, store(file));
      file.size = stored.size;
      file.crc32c = stored.crc32c;
      shared->push_back(std::move(stored));
    }
    put_file(&payload, file);
  }
  PENSTOCK_RETURN_NOT_OK(out->add_section(kNativeStateSection, payload));
  for (const auto& [name, content] : inside) {
    std::string head;
    put_bytes(&head, name);
    PENSTOCK_RETURN_NOT_OK(out->add_section(kFileSection, head, content));
  }
  return Status::ok();
}

Status write_operator(ContainerWriter* out, const OperatorState& state, const KeyGroupRange& range,
                      const StoreSharedFile& store, std::vector<SharedFile>* shared) {
  for (const KeyedStateData& keyed : state.keyed) {
    PENSTOCK_RETURN_NOT_OK(write_keyed(out, keyed, range));
  }
  for (const auto& deferred : state.deferred) {
    PENSTOCK_RETURN_NOT_OK(write_deferred(out, *deferred, range));
  }
  for (const ListStateData& list : state.lists) PENSTOCK_RETURN_NOT_OK(write_list(out, list));
  for (const NativeState& native : state.native) {
    PENSTOCK_RETURN_NOT_OK(write_native(out, native, store, shared));
  }
  return Status::ok();
}

Result<WrittenTaskState> write_state(WritableFile* file, const TaskState& state,
                                     const StoreSharedFile& store) {
  ContainerWriter out(file, ContainerKind::kTaskState);
  WrittenTaskState written;
  std::string head;
  put_bytes(&head, state.task.vertex);
  put_i32(&head, state.task.subtask);
  put_i32(&head, state.parallelism);
  put_i32(&head, state.max_parallelism);
  PENSTOCK_RETURN_NOT_OK(out.add_section(kTaskSection, head));
  const KeyGroupRange range =
      key_group_range(state.task.subtask, state.max_parallelism, state.parallelism);
  for (const OperatorEntry& entry : state.operators) {
    std::string uid;
    put_bytes(&uid, entry.uid);
    PENSTOCK_RETURN_NOT_OK(out.add_section(kOperatorSection, uid));
    PENSTOCK_RETURN_NOT_OK(write_operator(&out, entry.state, range, store, &written.shared)
                               .with_context("operator " + entry.uid));
  }
  PENSTOCK_ASSIGN_OR_RETURN(written.file, out.finish());
  return written;
}

struct MemoryFile final : WritableFile {
  Status append(std::string_view more) override {
    bytes.append(more);
    return Status::ok();
  }
  Status sync() override { return Status::ok(); }
  Status close() override { return Status::ok(); }
  std::string bytes;
};

}  // namespace

std::string to_string(const TaskId& task) {
  return task.vertex + "/" + std::to_string(task.subtask);
}

Result<std::string> read_state_file(const StateFile& file) {
  PENSTOCK_ASSIGN_OR_RETURN(std::optional<std::string> bytes, local_file_system()->read(file.path));
  if (!bytes) return damaged(file.path, "the file is missing");
  if (bytes->size() != file.size) {
    return damaged(file.path, "it has " + std::to_string(bytes->size()) +
                                  " bytes and should have " + std::to_string(file.size));
  }
  if (file.crc32c != 0 && crc32c(*bytes) != file.crc32c) {
    return damaged(file.path, "its checksum does not match");
  }
  return std::move(*bytes);
}

Result<WrittenTaskState> write_task_state(FileSystem* files, const std::string& path,
                                          const TaskState& state, const StoreSharedFile& store) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, files->create(path));
  PENSTOCK_ASSIGN_OR_RETURN(WrittenTaskState written, write_state(file.get(), state, store));
  PENSTOCK_RETURN_NOT_OK(file->close());
  return written;
}

Result<std::string> serialise_task_state(const TaskState& state) {
  MemoryFile file;
  PENSTOCK_RETURN_NOT_OK(write_state(&file, state, {}).status());
  return std::move(file.bytes);
}

}  // namespace penstock
