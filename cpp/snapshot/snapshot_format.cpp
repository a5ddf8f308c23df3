#include "snapshot/snapshot_format.h"

#include <memory>
#include <utility>

#include "snapshot/bytes.h"

namespace penstock {

namespace {

// Section types reach disk: never renumber.
constexpr uint32_t kTaskSection = 1;
constexpr uint32_t kOperatorSection = 2;
constexpr uint32_t kKeyedStateSection = 3;  // belongs to the operator before it
constexpr uint32_t kKeyGroupSection = 4;    // belongs to the keyed state before it
constexpr uint32_t kListStateSection = 5;   // belongs to the operator before it

void put_meta(std::string* out, const StateMeta& meta) {
  put_bytes(out, meta.name);
  out->push_back(static_cast<char>(meta.kind));
  put_bytes(out, meta.key_type);
  put_bytes(out, meta.namespace_type);
  put_bytes(out, meta.value_type);
}

bool get_meta(ByteReader* in, StateMeta* meta) {
  uint8_t kind = 0;
  if (!in->get_string(&meta->name) || !in->get_u8(&kind)) return false;
  meta->kind = static_cast<StateKind>(kind);
  return in->get_string(&meta->key_type) && in->get_string(&meta->namespace_type) &&
         in->get_string(&meta->value_type);
}

Status write_keyed(ContainerWriter* out, const KeyedStateData& state, const KeyGroupRange& range) {
  std::string head;
  put_meta(&head, state.meta);
  put_i32(&head, range.start);
  put_i32(&head, range.end);
  put_u32(&head, static_cast<uint32_t>(state.groups.size()));
  PENSTOCK_RETURN_NOT_OK(out->add_section(kKeyedStateSection, head));
  for (const auto& [group, entries] : state.groups) {
    if (!range.contains(group)) {
      return Status::internal("state '" + state.meta.name + "': key group " +
                              std::to_string(group) + " is not in [" + std::to_string(range.start) +
                              ", " + std::to_string(range.end) + "]");
    }
    std::string number;
    put_i32(&number, group);
    PENSTOCK_RETURN_NOT_OK(out->add_section(kKeyGroupSection, number, entries));
  }
  return Status::ok();
}

Status write_list(ContainerWriter* out, const ListStateData& state) {
  std::string payload;
  put_meta(&payload, state.meta);
  put_u32(&payload, static_cast<uint32_t>(state.items.size()));
  for (const std::string& item : state.items) put_bytes(&payload, item);
  return out->add_section(kListStateSection, payload);
}

// Puts a TaskState together, section by section.
class TaskStateParser {
 public:
  explicit TaskStateParser(std::string name) : name_(std::move(name)) {}

  Status add(const Section& section) {
    ByteReader in(section.payload);
    bool good = false;
    switch (section.type) {
      case kTaskSection:
        good = add_task(&in);
        break;
      case kOperatorSection:
        good = add_operator(&in);
        break;
      case kKeyedStateSection:
        good = add_keyed(&in);
        break;
      case kKeyGroupSection:
        good = add_group(&in);
        break;
      case kListStateSection:
        good = add_list(&in);
        break;
      default:
        break;
    }
    if (good) return Status::ok();
    return damaged(name_, "its section of type " + std::to_string(section.type) +
                              " does not make sense where it stands");
  }

  Result<TaskState> finish() {
    if (!has_task_ || groups_missing_ != 0) return damaged(name_, "sections are missing");
    for (const OperatorEntry& entry : state_.operators) {
      for (const KeyedStateData& state : entry.state.keyed) {
        PENSTOCK_RETURN_NOT_OK(check_kind(state.meta, entry.uid));
      }
      for (const ListStateData& state : entry.state.lists) {
        PENSTOCK_RETURN_NOT_OK(check_kind(state.meta, entry.uid));
      }
    }
    return std::move(state_);
  }

 private:
  bool add_task(ByteReader* in) {
    if (std::exchange(has_task_, true)) return false;
    return in->get_string(&state_.task.vertex) && in->get_i32(&state_.task.subtask) &&
           in->get_i32(&state_.parallelism) && in->get_i32(&state_.max_parallelism) && in->at_end();
  }

  bool add_operator(ByteReader* in) {
    if (!has_task_ || groups_missing_ != 0) return false;
    OperatorEntry& entry = state_.operators.emplace_back();
    return in->get_string(&entry.uid) && in->at_end();
  }

  bool add_keyed(ByteReader* in) {
    if (state_.operators.empty() || groups_missing_ != 0) return false;
    KeyedStateData& state = state_.operators.back().state.keyed.emplace_back();
    return get_meta(in, &state.meta) && in->get_i32(&range_.start) && in->get_i32(&range_.end) &&
           in->get_u32(&groups_missing_) && in->at_end();
  }

  bool add_group(ByteReader* in) {
    int32_t group = 0;
    if (groups_missing_ == 0 || !in->get_i32(&group) || !range_.contains(group)) return false;
    --groups_missing_;
    auto& groups = state_.operators.back().state.keyed.back().groups;
    return groups.emplace(group, std::string(in->rest())).second;
  }

  bool add_list(ByteReader* in) {
    if (state_.operators.empty() || groups_missing_ != 0) return false;
    ListStateData& state = state_.operators.back().state.lists.emplace_back();
    uint32_t count = 0;
    if (!get_meta(in, &state.meta) || !in->get_u32(&count)) return false;
    for (; count > 0; --count) {
      if (!in->get_string(&state.items.emplace_back())) return false;
    }
    return in->at_end();
  }

  // A kind of state that is not known must not be read as if it were another.
  [[nodiscard]] Status check_kind(const StateMeta& meta, const std::string& uid) const {
    if (is_known(meta.kind)) return Status::ok();
    return Status::not_supported("'" + name_ + "': state '" + meta.name + "' of operator '" + uid +
                                 "' is of kind " + std::to_string(static_cast<int>(meta.kind)) +
                                 ", which this Penstock does not know: use the Penstock release "
                                 "that wrote it, or a newer one");
  }

  const std::string name_;
  TaskState state_;
  bool has_task_ = false;
  KeyGroupRange range_;          // of the keyed state being read
  uint32_t groups_missing_ = 0;  // of the keyed state being read
};

Status write_operators(ContainerWriter* out, const TaskState& state) {
  const KeyGroupRange range =
      key_group_range(state.task.subtask, state.max_parallelism, state.parallelism);
  for (const OperatorEntry& entry : state.operators) {
    std::string uid;
    put_bytes(&uid, entry.uid);
    PENSTOCK_RETURN_NOT_OK(out->add_section(kOperatorSection, uid));
    for (const KeyedStateData& keyed : entry.state.keyed) {
      PENSTOCK_RETURN_NOT_OK(write_keyed(out, keyed, range).with_context("operator " + entry.uid));
    }
    for (const ListStateData& list : entry.state.lists) {
      PENSTOCK_RETURN_NOT_OK(write_list(out, list));
    }
  }
  return Status::ok();
}

Result<FileSummary> write_state(WritableFile* file, const TaskState& state) {
  ContainerWriter out(file, ContainerKind::kTaskState);
  std::string head;
  put_bytes(&head, state.task.vertex);
  put_i32(&head, state.task.subtask);
  put_i32(&head, state.parallelism);
  put_i32(&head, state.max_parallelism);
  PENSTOCK_RETURN_NOT_OK(out.add_section(kTaskSection, head));
  PENSTOCK_RETURN_NOT_OK(write_operators(&out, state));
  return out.finish();
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

Result<FileSummary> write_task_state(FileSystem* files, const std::string& path,
                                     const TaskState& state) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, files->create(path));
  PENSTOCK_ASSIGN_OR_RETURN(const FileSummary summary, write_state(file.get(), state));
  PENSTOCK_RETURN_NOT_OK(file->close());
  return summary;
}

Result<std::string> serialise_task_state(const TaskState& state) {
  MemoryFile file;
  PENSTOCK_RETURN_NOT_OK(write_state(&file, state).status());
  return std::move(file.bytes);
}

Result<TaskState> parse_task_state(std::string_view bytes, const std::string& name) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<Section> sections,
                            read_container(bytes, ContainerKind::kTaskState, name));
  TaskStateParser parser(name);
  for (const Section& section : sections) PENSTOCK_RETURN_NOT_OK(parser.add(section));
  return parser.finish();
}

Result<TaskState> read_task_state(FileSystem* files, const std::string& path) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, files->read(path));
  if (!bytes) return damaged(path, "the file is missing");
  return parse_task_state(*bytes, path);
}

}  // namespace penstock
