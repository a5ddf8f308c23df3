// parse_task_state() over any sections: what it accepts can be dealt out to subtasks, and is the
// same after writing and reading it again.
#include "common/fuzzing.h"
#include "snapshot/fuzzed_container.h"
#include "snapshot/snapshot_format.h"

namespace penstock {
namespace {

// Entries whose lengths add up are the concatenation of what for_each() gives.
void check_entries(const KeyedStateData& state) {
  KeyedStateData rebuilt;
  const Status status = state.for_each([&](int32_t group, std::string_view key,
                                           std::string_view name_space, std::string_view value) {
    rebuilt.add(group, key, name_space, value);
    return Status::ok();
  });
  if (!status.is_ok()) return;
  for (const auto& [group, entries] : state.groups) {
    must_hold(rebuilt.groups[group] == entries, "entries are the bytes of their group");
  }
}

// With these parallelisms nothing may be lost: each entry and item goes to somebody.
void check_reassign(const TaskState& state, const OperatorState& written, int32_t parallelism) {
  size_t bytes = 0;
  size_t items = 0;
  for (int32_t subtask = 0; subtask < parallelism; ++subtask) {
    const auto mine = reassign({written}, subtask, parallelism, state.max_parallelism);
    if (!mine.is_ok()) return;
    for (const KeyedStateData& keyed : mine.value().keyed) {
      for (const auto& [group, entries] : keyed.groups) bytes += entries.size();
    }
    for (const ListStateData& list : mine.value().lists) {
      if (list.meta.kind == StateKind::kOperatorList) items += list.items.size();
    }
  }
  for (const KeyedStateData& keyed : written.keyed) {
    for (const auto& [group, entries] : keyed.groups) bytes -= entries.size();
  }
  for (const ListStateData& list : written.lists) {
    if (list.meta.kind == StateKind::kOperatorList) items -= list.items.size();
  }
  must_hold(bytes == 0 && items == 0, "reassigning to all subtasks loses and doubles nothing");
}

void check_round_trip(const TaskState& state) {
  const auto written = serialise_task_state(state);
  must_hold(written.is_ok(), "what was read can be written", written.status().message());
  const auto again = parse_task_state(written.value(), "FILE");
  must_hold(again.is_ok(), "what was written can be read", again.status().message());
  must_hold(serialise_task_state(again.value()).value() == written.value(),
            "a task's state is the same after a round trip");
}

// Files of backends are given names and not written anywhere.
Status place_nowhere(std::optional<std::string_view> content, StateFile* file) {
  must_hold(!content || content->size() == file->size, "the content has the size it says");
  file->path = "/nowhere/" + file->name;
  return Status::ok();
}

void check(std::string_view bytes) {
  const auto parsed = parse_task_state(bytes, "FILE", place_nowhere);
  if (!parsed.is_ok()) return;
  const TaskState& state = parsed.value();
  bool has_files = false;
  for (const OperatorEntry& entry : state.operators) {
    for (const NativeState& native : entry.state.native) {
      has_files = true;
      for (const StateFile& file : native.files) {
        must_hold(!file.path.empty(), "each file of a backend has been placed");
      }
    }
  }
  if (!has_files) check_round_trip(state);
  for (const OperatorEntry& entry : state.operators) {
    for (const KeyedStateData& keyed : entry.state.keyed) check_entries(keyed);
    for (const int32_t parallelism : {1, 3}) check_reassign(state, entry.state, parallelism);
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string_view bytes = as_bytes(data, size);
  check(bytes);
  check(repair_container(bytes, ContainerKind::kTaskState));
  return 0;
}
