#include "bindings/snapshot_access.h"

#include <algorithm>
#include <map>

#include "record/key_encoding.h"
#include "snapshot/pending_checkpoint.h"
#include "state/keyed_state_backend.h"

namespace penstock::bindings {

namespace {

uint32_t hash_of(const std::string& key) {
  return key.empty() ? 0 : murmur3_32(key.data(), key.size());
}

// The entries of one native state, by the backend that wrote it.
Result<std::vector<KeyedStateData>> read_out(const std::string& uid, int32_t max_parallelism,
                                             NativeState native) {
  BackendContext context;
  context.operator_name = "a reader of snapshots";
  context.uid = uid;
  context.max_parallelism = max_parallelism;
  context.key_groups = native.key_groups;
  const SystemClock clock;
  context.clock = &clock;
  context.config =
      std::make_shared<const StateBackendConfig>(StateBackendConfig{native.backend, {}});
  PENSTOCK_ASSIGN_OR_RETURN(const auto backend, make_keyed_state_backend(context));
  OperatorState restored;
  restored.native.push_back(std::move(native));
  OperatorState out;
  Status status = backend->restore(restored);
  if (status.is_ok()) status = backend->snapshot({{}, /*canonical=*/true}, &out);
  if (status.is_ok()) status = out.materialise();
  const Status closed = backend->close();
  PENSTOCK_RETURN_NOT_OK(status);
  PENSTOCK_RETURN_NOT_OK(closed);
  return std::move(out.keyed);
}

}  // namespace

Result<std::unique_ptr<SnapshotReader>> SnapshotReader::open(const StorageLocation& path) {
  auto reader = std::make_unique<SnapshotReader>();
  PENSTOCK_ASSIGN_OR_RETURN(reader->checkpoint_, read_checkpoint(path.file_system(), path.path));
  PENSTOCK_RETURN_NOT_OK(reader->read_out_native());
  return reader;
}

Status SnapshotReader::read_out_native() {
  for (TaskState& task : checkpoint_.tasks) {
    for (OperatorEntry& entry : task.operators) {
      for (NativeState& native : std::exchange(entry.state.native, {})) {
        const std::string backend = native.backend;
        PENSTOCK_ASSIGN_OR_RETURN(std::vector<KeyedStateData> keyed,
                                  read_out(entry.uid, task.max_parallelism, std::move(native)));
        for (KeyedStateData& state : keyed) {
          backends_.emplace_back(entry.uid, state.meta.name, backend);
          entry.state.keyed.push_back(std::move(state));
        }
      }
    }
  }
  return Status::ok();
}

Result<std::vector<StateInfo>> SnapshotReader::states() const {
  std::map<std::pair<std::string, std::string>, StateInfo> found;
  const auto info_of = [&](const std::string& uid, const StateMeta& meta) -> StateInfo& {
    StateInfo& info = found[{uid, meta.name}];
    info.uid = uid;
    info.meta = meta;
    return info;
  };
  for (const TaskState& task : checkpoint_.tasks) {
    for (const auto& [uid, state] : task.operators) {
      for (const KeyedStateData& keyed : state.keyed) {
        StateInfo& info = info_of(uid, keyed.meta);
        PENSTOCK_RETURN_NOT_OK(keyed.for_each([&](int32_t, auto key, auto name_space, auto value) {
          ++info.entries;
          info.bytes += static_cast<int64_t>(key.size() + name_space.size() + value.size());
          return Status::ok();
        }));
      }
      for (const ListStateData& list : state.lists) {
        StateInfo& info = info_of(uid, list.meta);
        info.entries += static_cast<int64_t>(list.items.size());
        for (const std::string& item : list.items) info.bytes += static_cast<int64_t>(item.size());
      }
    }
  }
  for (const auto& [uid, name, backend] : backends_) found[{uid, name}].backend = backend;
  std::vector<StateInfo> out;
  for (auto& [name, info] : found) out.push_back(std::move(info));
  return out;
}

std::vector<const KeyedStateData*> SnapshotReader::keyed(const std::string& uid,
                                                         const std::string& name) const {
  std::vector<const KeyedStateData*> out;
  for (const TaskState& task : checkpoint_.tasks) {
    for (const OperatorEntry& entry : task.operators) {
      if (entry.uid != uid) continue;
      for (const KeyedStateData& state : entry.state.keyed) {
        if (state.meta.name == name) out.push_back(&state);
      }
    }
  }
  return out;
}

std::vector<const ListStateData*> SnapshotReader::lists(const std::string& uid,
                                                        const std::string& name) const {
  std::vector<const ListStateData*> out;
  for (const TaskState& task : checkpoint_.tasks) {
    for (const OperatorEntry& entry : task.operators) {
      const ListStateData* list = entry.uid == uid ? entry.state.find_list(name) : nullptr;
      if (list != nullptr) out.push_back(list);
    }
  }
  return out;
}

Status write_new_savepoint(const StorageLocation& path, int32_t max_parallelism,
                           const std::vector<NewOperator>& operators, int64_t now_millis) {
  FileSystem* const files = path.file_system();
  PENSTOCK_ASSIGN_OR_RETURN(const bool exists, files->exists(path.path));
  if (exists) return Status::invalid("'" + path.path + "' exists already");
  CheckpointMetadata metadata;
  metadata.job_id = "savepoint-writer";
  metadata.job_name = "SavepointWriter";
  metadata.checkpoint_id = CheckpointId{1};
  metadata.trigger_millis = now_millis;
  metadata.savepoint = true;
  PENSTOCK_ASSIGN_OR_RETURN(
      PendingCheckpoint pending,
      PendingCheckpoint::begin(files, metadata.checkpoint_id, path.path, nullptr));
  for (const NewOperator& one : operators) {
    TaskState task{{one.uid, 0}, 1, max_parallelism, {{one.uid, {}}}};
    for (const NewState& state : one.states) {
      KeyedStateData data;
      data.meta = state.meta;
      for (const NewEntry& entry : state.entries) {
        const int32_t group = key_group_of(hash_of(entry.key), max_parallelism);
        data.add(group, entry.key, entry.name_space, entry.value);
      }
      task.operators[0].state.keyed.push_back(std::move(data));
    }
    metadata.operators.push_back({one.uid, one.uid, 1, max_parallelism});
    PENSTOCK_ASSIGN_OR_RETURN(TaskFile file, pending.write_task(task));
    metadata.tasks.push_back(std::move(file));
  }
  return pending.complete(metadata);
}

}  // namespace penstock::bindings
