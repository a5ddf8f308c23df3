// HeapKeyedStateBackend, "hashmap": all state in memory, copied on write while a snapshot is read
// out.
//
// restore() fills tables at once, whether or not anybody will ask for them; a table that is asked for
// is compared with what was restored under its name. Of restored state only the kinds that a backend
// has are taken: window contents (kWindowContents) belong to the window operators.
//
// Thread safety: that of KeyedStateBackend.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "state/heap/heap_tables.h"
#include "state/keyed_state_backend.h"
#include "timers/heap_timer_queue.h"

namespace penstock {

class HeapKeyedStateBackend final : public KeyedStateBackend {
 public:
  explicit HeapKeyedStateBackend(const BackendContext& context);
  ~HeapKeyedStateBackend() override;

  Result<ValueTable*> value_table(const StateDescriptor& descriptor) override;
  Result<ListTable*> list_table(const StateDescriptor& descriptor) override;
  Result<MapTable*> map_table(const StateDescriptor& descriptor) override;
  Result<TimerQueue*> timer_queue(const std::string& name) override;
  // The keys of a batch of records: incremental cleanup that was asked for each record runs here.
  Status prepare(const EncodedKeys& keys) override;
  Status snapshot(const SnapshotRequest& request, OperatorState* out) override;
  Status restore(const OperatorState& state) override;
  Status close() override;

 private:
  struct State;

  Result<State*> open(const StateDescriptor& descriptor);
  Status restore_state(const KeyedStateData& data);
  Status restore_entry(State* state, int32_t group, std::string_view key,
                       std::string_view name_space, std::string_view value);

  BackendContext context_;
  int64_t restored_at_ = 0;  // the time that restored values get when a time to live is switched on
  std::map<std::string, std::unique_ptr<State>> states_;
};

std::unique_ptr<KeyedStateBackend> make_heap_backend(const BackendContext& context);

}  // namespace penstock
