// Snapshots from outside of a job: what is in one, and making one.
//
// Thread safety: a SnapshotReader does not change after its making.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "snapshot/checkpoint_reader.h"
#include "task/savepoint.h"

namespace penstock::bindings {

// A state with what all subtasks wrote of it.
struct StateInfo {
  std::string uid;
  StateMeta meta;
  std::string backend;  // "rocksdb": in that backend's own files; else empty
  int64_t entries = 0;  // of keyed state; items of a list
  int64_t bytes = 0;    // of keys, namespaces and values; of items
};

class SnapshotReader {
 public:
  // All of it verified. State in a backend's own files is read out into entries.
  static Result<std::unique_ptr<SnapshotReader>> open(const StorageLocation& path);

  [[nodiscard]] const CheckpointMetadata& metadata() const { return checkpoint_.metadata; }
  [[nodiscard]] Result<std::vector<StateInfo>> states() const;
  // The keyed states of that operator and name, one per subtask that wrote it.
  [[nodiscard]] std::vector<const KeyedStateData*> keyed(const std::string& uid,
                                                         const std::string& name) const;
  // The same for lists.
  [[nodiscard]] std::vector<const ListStateData*> lists(const std::string& uid,
                                                        const std::string& name) const;

 private:
  Status read_out_native();

  LoadedCheckpoint checkpoint_;
  // (uid, state name) -> backend, of what was native.
  std::vector<std::tuple<std::string, std::string, std::string>> backends_;
};

struct NewEntry {
  std::string key;
  std::string name_space;
  std::string value;
};
struct NewState {
  StateMeta meta;
  std::vector<NewEntry> entries;
};
struct NewOperator {
  std::string uid;
  std::vector<NewState> states;
};

// A savepoint of operators that no job has run yet. kInvalidArgument when `path` exists.
Status write_new_savepoint(const StorageLocation& path, int32_t max_parallelism,
                           const std::vector<NewOperator>& operators, int64_t now_millis);

}  // namespace penstock::bindings
