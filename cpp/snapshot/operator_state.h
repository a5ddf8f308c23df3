// What one operator of one subtask puts into a checkpoint, and what it gets back from one.
//
// Filled on the task thread at the barrier (the cheap, synchronous step), written to storage off
// it. Keyed state is cut by key group, so that any parallelism can read it back; operator state is
// a list of items.
//
// Thread safety: none; handed over by move from the task thread to the writer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/ids.h"
#include "common/status.h"
#include "record/key_group.h"

namespace penstock {

// Values reach disk: never renumber.
enum class StateKind : uint8_t {
  kWindowContents = 1,     // keyed: (key, window) -> accumulators
  kOperatorList = 2,       // items are split among subtasks when the parallelism changes
  kOperatorUnionList = 3,  // every subtask gets all items
  kValue = 4,              // keyed: (key, namespace) -> value
  kList = 5,               // keyed: -> elements
  kMap = 6,                // keyed: -> one entry per user key
  kReducing = 7,           // keyed: -> value
  kAggregating = 8,        // keyed: -> accumulator
  kTimers = 9,             // keyed: -> timestamp; a (key, namespace) may have many
  kBroadcast = 10          // the same in all subtasks; each gets one of the copies
};
// False: written by a newer release.
inline bool is_known(StateKind kind) {
  return kind >= StateKind::kWindowContents && kind <= StateKind::kBroadcast;
}
inline bool is_keyed(StateKind kind) {
  return kind == StateKind::kWindowContents ||
         (kind >= StateKind::kValue && kind <= StateKind::kTimers);
}
// "value", "map" ...: for messages and for readers.
const char* to_string(StateKind kind);

// Describes a state to whoever reads it later, from outside too. All strings are free text in
// Arrow's words.
struct StateMeta {
  std::string name;
  StateKind kind = StateKind::kOperatorList;
  std::string key_type;        // "int64", "encoded" (record/key_encoding.h) ...
  std::string namespace_type;  // "window_end:int64" ...
  std::string value_type;      // "count:int64,sum(price):float64", "pickle", "json" ...
};

// One keyed state: per key group the concatenation of entries (key, namespace, value), each part
// with a u32 little-endian length before it.
class KeyedStateData {
 public:
  StateMeta meta;
  std::map<int32_t, std::string> groups;  // key group -> entries; groups without entries are absent

  void add(int32_t group, std::string_view key, std::string_view name_space,
           std::string_view value);
  // Calls `visit(group, key, namespace, value)` for each entry. kCorruption when lengths do not add
  // up.
  Status for_each(const std::function<Status(int32_t, std::string_view, std::string_view,
                                             std::string_view)>& visit) const;
};

struct ListStateData {
  StateMeta meta;
  std::vector<std::string> items;
};

// Keyed state that is read out later, off the task's thread: what it was when it was handed over,
// however the task has gone on.
//
// Thread safety: one thread at a time, any thread; may be read out more than once.
class DeferredKeyedState {
 public:
  virtual ~DeferredKeyedState() = default;
  [[nodiscard]] virtual const StateMeta& meta() const = 0;
  // Calls `visit` with the entries of each key group that has some, groups ascending. A group may
  // come in several pieces, each of whole entries. The bytes are those of KeyedStateData::groups and
  // belong to the callee until it returns.
  virtual Status for_each_group(
      const std::function<Status(int32_t group, std::string_view entries)>& visit) const = 0;
};

// A file of a state backend, immutable from the moment it is handed over.
struct StateFile {
  std::string name;  // within the backend's directory: "000123.sst"
  std::string path;  // where it lies now
  uint64_t size = 0;
  uint32_t crc32c = 0;  // of the whole file; 0: not known yet
  // Two files with the same id have the same content, in all checkpoints of the job. Empty: the file
  // belongs to one checkpoint alone.
  std::string content_id;
};

// Keyed state as the files of the backend that holds it: what an incremental checkpoint ships.
struct NativeState {
  std::string backend;       // "rocksdb"
  std::string description;   // what the backend wants to know again
  KeyGroupRange key_groups;  // of the subtask that wrote it
  std::vector<StateMeta> states;
  std::vector<StateFile> files;
  std::shared_ptr<void> owner;  // keeps the files where they are
  // Makes the files and fills `files`, which takes time: in a snapshot what is left for the
  // asynchronous part. Empty: they are there.
  std::function<Status(NativeState*)> make_files;
  // To be called before `files` is looked at; off the task's thread. Does nothing the second time.
  Status complete() {
    const auto make = std::exchange(make_files, nullptr);
    return make ? make(this) : Status::ok();
  }
};

// What a snapshot is for.
struct SnapshotRequest {
  CheckpointId id;
  // In the form that every backend reads (a savepoint), not as the backend's own files.
  bool canonical = false;
};

struct OperatorState {
  SnapshotRequest request;  // set by who asks for a snapshot; means nothing in a restore
  std::vector<KeyedStateData> keyed;
  std::vector<ListStateData> lists;
  std::vector<std::shared_ptr<const DeferredKeyedState>> deferred;  // never in a restore
  std::vector<NativeState> native;
  [[nodiscard]] bool empty() const {
    return keyed.empty() && lists.empty() && deferred.empty() && native.empty();
  }
  // Reads out what is deferred, into `keyed`, and completes what is native.
  Status materialise();
  // nullptr when there is none of that name.
  [[nodiscard]] const KeyedStateData* find_keyed(std::string_view name) const;
  [[nodiscard]] const ListStateData* find_list(std::string_view name) const;
};

// State for subtask `subtask` of `parallelism`, out of the states that the subtasks of a checkpoint
// (in order) wrote: key groups in its range, lists split round-robin, union lists whole, one of the
// copies of a broadcast state. Of native state all that has some of its key groups.
Result<OperatorState> reassign(const std::vector<OperatorState>& written, int32_t subtask,
                               int32_t parallelism, int32_t max_parallelism);

}  // namespace penstock
