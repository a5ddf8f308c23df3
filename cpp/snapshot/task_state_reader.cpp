// The reading half of snapshot_format.h.
#include <algorithm>
#include <optional>
#include <utility>

#include "snapshot/crc32c.h"
#include "snapshot/snapshot_format.h"
#include "snapshot/task_sections.h"

namespace penstock {

namespace {

// Joined to a directory: may not lead out of it.
bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// Puts a TaskState together, section by section.
class TaskStateParser {
 public:
  TaskStateParser(std::string name, const PlaceStateFile& place)
      : name_(std::move(name)), place_(place) {}

  Status add(const Section& section) {
    ByteReader in(section.payload);
    if (add_section(section.type, &in)) return std::exchange(failure_, {});
    return damaged(name_, "its section of type " + std::to_string(section.type) +
                              " does not make sense where it stands");
  }

  Result<TaskState> finish() {
    if (!has_task_ || is_open()) return damaged(name_, "sections are missing");
    for (const OperatorEntry& entry : state_.operators) {
      for (const KeyedStateData& state : entry.state.keyed) {
        PENSTOCK_RETURN_NOT_OK(check_kind(state.meta, true, entry.uid));
      }
      for (const ListStateData& state : entry.state.lists) {
        PENSTOCK_RETURN_NOT_OK(check_kind(state.meta, false, entry.uid));
      }
      for (const NativeState& native : entry.state.native) {
        for (const StateMeta& meta : native.states) {
          PENSTOCK_RETURN_NOT_OK(check_kind(meta, true, entry.uid));
        }
      }
    }
    return std::move(state_);
  }

 private:
  // What is being read and not complete yet.
  enum class Open { kNothing, kCounted, kKeyed, kNative };
  [[nodiscard]] bool is_open() const { return open_ != Open::kNothing; }

  // False: makes no sense here.
  bool add_section(uint32_t type, ByteReader* in) {
    switch (type) {
      case kTaskSection:
        return add_task(in);
      case kOperatorSection:
        return add_operator(in);
      case kCountedKeyedStateSection:
        return add_counted_keyed(in);
      case kKeyGroupSection:
        return open_ == Open::kCounted ? add_counted_group(in) : add_group(in);
      case kListStateSection:
        return add_list(in);
      case kKeyedStateSection:
        return add_keyed(in);
      case kEndOfKeyedStateSection:
        return end_keyed(in);
      case kNativeStateSection:
        return add_native(in);
      case kFileSection:
        return add_file(in);
      default:
        return false;
    }
  }

  bool add_task(ByteReader* in) {
    if (std::exchange(has_task_, true)) return false;
    const int32_t& subtask = state_.task.subtask;
    const int32_t& parallelism = state_.parallelism;
    return in->get_string(&state_.task.vertex) && in->get_i32(&state_.task.subtask) &&
           in->get_i32(&state_.parallelism) && in->get_i32(&state_.max_parallelism) &&
           in->at_end() && subtask >= 0 && subtask < parallelism &&
           parallelism <= state_.max_parallelism &&
           state_.max_parallelism <= kUpperBoundMaxParallelism;
  }

  // Only the subtask's own key groups may stand in its file.
  bool get_range(ByteReader* in, KeyGroupRange* range) const {
    const KeyGroupRange own =
        key_group_range(state_.task.subtask, state_.max_parallelism, state_.parallelism);
    return in->get_i32(&range->start) && in->get_i32(&range->end) && range->start == own.start &&
           range->end == own.end;
  }

  bool add_operator(ByteReader* in) {
    if (!has_task_ || is_open()) return false;
    OperatorEntry& entry = state_.operators.emplace_back();
    return in->get_string(&entry.uid) && in->at_end();
  }

  OperatorState& current() { return state_.operators.back().state; }

  // The part that both forms of a keyed state begin with.
  bool begin_keyed(ByteReader* in) {
    if (state_.operators.empty() || is_open()) return false;
    KeyedStateData& state = current().keyed.emplace_back();
    return get_meta(in, &state.meta) && get_range(in, &range_);
  }

  bool add_counted_keyed(ByteReader* in) {
    if (!begin_keyed(in) || !in->get_u32(&groups_missing_) || !in->at_end()) return false;
    open_ = groups_missing_ == 0 ? Open::kNothing : Open::kCounted;
    return true;
  }

  bool add_counted_group(ByteReader* in) {
    int32_t group = 0;
    if (!in->get_i32(&group) || !range_.contains(group)) return false;
    if (--groups_missing_ == 0) open_ = Open::kNothing;
    return current().keyed.back().groups.emplace(group, std::string(in->rest())).second;
  }

  bool add_keyed(ByteReader* in) {
    if (!begin_keyed(in) || !in->at_end()) return false;
    open_ = Open::kKeyed;
    num_sections_ = 0;
    num_bytes_ = 0;
    return true;
  }

  bool add_group(ByteReader* in) {
    int32_t group = 0;
    if (open_ != Open::kKeyed || !in->get_i32(&group) || !range_.contains(group)) return false;
    auto& groups = current().keyed.back().groups;
    if (!groups.empty() && group < groups.rbegin()->first) return false;
    ++num_sections_;
    num_bytes_ += in->rest().size();
    groups[group].append(in->rest());
    return true;
  }

  bool end_keyed(ByteReader* in) {
    uint32_t sections = 0;
    uint64_t bytes = 0;
    if (open_ != Open::kKeyed || !in->get_u32(&sections) || !in->get_u64(&bytes)) return false;
    open_ = Open::kNothing;
    return in->at_end() && sections == num_sections_ && bytes == num_bytes_;
  }

  bool add_list(ByteReader* in) {
    if (state_.operators.empty() || is_open()) return false;
    ListStateData& state = current().lists.emplace_back();
    uint32_t count = 0;
    if (!get_meta(in, &state.meta) || !in->get_u32(&count)) return false;
    for (; count > 0; --count) {
      if (!in->get_string(&state.items.emplace_back())) return false;
    }
    return in->at_end();
  }

  bool add_native(ByteReader* in) {
    if (state_.operators.empty() || is_open()) return false;
    NativeState& native = current().native.emplace_back();
    uint32_t states = 0;
    uint32_t files = 0;
    if (!in->get_string(&native.backend) || !in->get_string(&native.description) ||
        !get_range(in, &native.key_groups) || !in->get_u32(&states)) {
      return false;
    }
    for (; states > 0; --states) {
      if (!get_meta(in, &native.states.emplace_back())) return false;
    }
    if (!in->get_u32(&files)) return false;
    for (; files > 0; --files) {
      if (!get_file(in, &native.files.emplace_back())) return false;
    }
    next_file_ = 0;
    return in->at_end() && place_shared_files();
  }

  bool add_file(ByteReader* in) {
    std::string name;
    if (open_ != Open::kNative || !in->get_string(&name)) return false;
    StateFile& file = current().native.back().files[next_file_];
    const std::string_view content = in->rest();
    if (name != file.name || content.size() != file.size || crc32c(content) != file.crc32c) {
      return false;
    }
    failure_ = place_(content, &file);
    ++next_file_;
    return !failure_.is_ok() || place_shared_files();
  }

  static bool get_file(ByteReader* in, StateFile* file) {
    return in->get_string(&file->name) && in->get_u64(&file->size) && in->get_u32(&file->crc32c) &&
           in->get_string(&file->content_id) && is_file_name(file->name) &&
           (file->content_id.empty() || is_file_name(file->content_id));
  }

  // From next_file_ to the next file whose content stands in this file, or to the end.
  bool place_shared_files() {
    NativeState& native = current().native.back();
    if (!place_) {
      failure_ = Status::not_supported("'" + name_ + "' holds files of the state backend '" +
                                       native.backend + "', which cannot be used from here");
      return true;
    }
    for (; next_file_ < native.files.size(); ++next_file_) {
      StateFile& file = native.files[next_file_];
      if (file.content_id.empty()) break;
      failure_ = place_(std::nullopt, &file);
      if (!failure_.is_ok()) return true;
    }
    open_ = next_file_ < native.files.size() ? Open::kNative : Open::kNothing;
    return true;
  }

  // A kind of state that is not known must not be read as if it were another.
  [[nodiscard]] Status check_kind(const StateMeta& meta, bool keyed, const std::string& uid) const {
    const std::string what = "state '" + meta.name + "' of operator '" + uid + "' is of kind " +
                             std::to_string(static_cast<int>(meta.kind));
    if (!is_known(meta.kind)) {
      return Status::not_supported("'" + name_ + "': " + what +
                                   ", which this Penstock does not know: use the Penstock release "
                                   "that wrote it, or a newer one");
    }
    if (is_keyed(meta.kind) != keyed) return damaged(name_, what + " and should not be there");
    return Status::ok();
  }

  const std::string name_;
  const PlaceStateFile& place_;
  TaskState state_;
  Status failure_;  // of what was tried for a section that does make sense
  bool has_task_ = false;
  Open open_ = Open::kNothing;
  KeyGroupRange range_;          // of the keyed state being read
  uint32_t groups_missing_ = 0;  // of a counted one
  uint32_t num_sections_ = 0;    // of one that is not
  uint64_t num_bytes_ = 0;
  size_t next_file_ = 0;  // of the native state being read
};

}  // namespace

Result<TaskState> parse_task_state(std::string_view bytes, const std::string& name,
                                   const PlaceStateFile& place) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<Section> sections,
                            read_container(bytes, ContainerKind::kTaskState, name));
  TaskStateParser parser(name, place);
  for (const Section& section : sections) PENSTOCK_RETURN_NOT_OK(parser.add(section));
  return parser.finish();
}

Result<TaskState> read_task_state(FileSystem* files, const std::string& path) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, files->read(path));
  if (!bytes) return damaged(path, "the file is missing");
  return parse_task_state(*bytes, path);
}

}  // namespace penstock
