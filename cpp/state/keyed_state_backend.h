// KeyedStateBackend: all keyed state of one operator in one subtask, and its timers.
//
// Order of calls: make_keyed_state_backend, restore? (once, before any table is asked for), then
// tables and timers, for each barrier snapshot. Unrestored names and restored ones that nobody asks
// for alike enter every later snapshot: a state that is opened late loses nothing.
//
// Thread safety: none; belongs to the subtask's thread. What snapshot() hands over may be used from
// any one thread, also after the backend is gone.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "columnar/batch.h"
#include "common/clock.h"
#include "snapshot/operator_state.h"
#include "state/keyed_state.h"
#include "state/state_backend_config.h"
#include "state/state_descriptor.h"
#include "timers/timer_queue.h"

namespace penstock {

class KeyedStateBackend {
 public:
  virtual ~KeyedStateBackend() = default;

  // The table of a state, made when it is not there yet; `descriptor.kind` decides which of the
  // three may be asked for. kTypeError naming both when the name is known with another kind or with
  // other types, restored state included.
  virtual Result<ValueTable*> value_table(const StateDescriptor& descriptor) = 0;
  virtual Result<ListTable*> list_table(const StateDescriptor& descriptor) = 0;
  virtual Result<MapTable*> map_table(const StateDescriptor& descriptor) = 0;
  // The queue of timers called `name`, which enters snapshots as a state of that name.
  virtual Result<TimerQueue*> timer_queue(const std::string& name) = 0;

  // The keys that are about to be asked for, without namespace: a backend that has to fetch may
  // fetch them together. Only a hint.
  virtual Status prepare(const EncodedKeys& keys) {
    (void)keys;
    return Status::ok();
  }

  // The synchronous part: hands over, into `out`, what the asynchronous part needs. It never holds
  // up the task for longer than a few milliseconds, whatever the size of the state.
  virtual Status snapshot(const SnapshotRequest& request, OperatorState* out) = 0;
  // `state` is of this operator and cut to its key groups; what it has beside keyed state is ignored.
  virtual Status restore(const OperatorState& state) = 0;
  virtual Status checkpoint_completed(CheckpointId id) {
    (void)id;
    return Status::ok();
  }
  virtual Status checkpoint_aborted(CheckpointId id) {
    (void)id;
    return Status::ok();
  }

  virtual Status close() = 0;
};

// Who the backend works for.
struct BackendContext {
  std::string operator_name;
  std::string uid;
  int32_t subtask = 0;
  int32_t max_parallelism = kDefaultMaxParallelism;
  KeyGroupRange key_groups{0, kDefaultMaxParallelism - 1};
  const Clock* clock = nullptr;  // outlives the backend
  StateBackendConfigPtr config;  // null: hashmap with its defaults
};

Result<std::unique_ptr<KeyedStateBackend>> make_keyed_state_backend(const BackendContext& context);

}  // namespace penstock
