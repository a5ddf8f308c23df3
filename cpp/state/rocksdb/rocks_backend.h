// RocksKeyedStateBackend, "rocksdb": one database per backend, a column family per state, and a
// write-back tier of hot entries in front of it (write_back_tier.h).
//
// The database lies in a directory of its own that goes with the backend, or with the last snapshot
// that still needs it; what lasts is in checkpoints. It is opened when the first state is asked for
// or something is restored.
//
// A snapshot freezes the tier and leaves a job in the write queue: when it runs, the database holds
// what there was at the barrier, and either hard links are made of its files (native) or a RocksDB
// snapshot is taken that is read out later (canonical).
//
// Thread safety: that of KeyedStateBackend.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "state/keyed_state_backend.h"
#include "state/rocksdb/rocks_store.h"
#include "state/rocksdb/write_back_tier.h"

namespace penstock {

class RocksKeyedStateBackend final : public KeyedStateBackend {
 public:
  RocksKeyedStateBackend(const BackendContext& context, RocksSettings settings,
                         std::shared_ptr<RocksMemory> memory, rocksdb::Env* env);
  ~RocksKeyedStateBackend() override;

  Result<ValueTable*> value_table(const StateDescriptor& descriptor) override;
  Result<ListTable*> list_table(const StateDescriptor& descriptor) override;
  Result<MapTable*> map_table(const StateDescriptor& descriptor) override;
  Result<TimerQueue*> timer_queue(const std::string& name) override;
  Status prepare(const EncodedKeys& keys) override;
  Status snapshot(const SnapshotRequest& request, OperatorState* out) override;
  Status restore(const OperatorState& state) override;
  Status close() override;

  // What RocksDB counts ("rocksdb.block.cache.hit"), its properties per state
  // ("rocksdb.estimate-num-keys.<state>"), the tier's size, and where latencies are tracked
  // "latency.<state>.<operation>.p99" and the like, in nanoseconds.
  [[nodiscard]] std::map<std::string, int64_t> metrics() const;
  // nullptr before the first state.
  [[nodiscard]] RocksStore* store() const { return store_.get(); }
  // Writes what is in memory to the database.
  Status flush();

 private:
  struct State;

  Status open_if_needed() { return store_ == nullptr ? restore_native({}) : Status::ok(); }
  // The state, with a family of its types. When it is new its table is not made yet.
  Result<State*> open_state(const StateDescriptor& descriptor);
  Status move_timers_to_memory(State* state);
  Status restore_native(const std::vector<NativeState>& natives);
  Status restore_keyed(const KeyedStateData& data, const std::vector<NativeState>& natives);

  BackendContext context_;
  const RocksSettings settings_;
  const std::shared_ptr<RocksMemory> memory_;
  rocksdb::Env* const env_;
  std::string owner_;  // "operator 'Sum' (uid 'sum', subtask 0)"
  std::shared_ptr<DetachableClock> clock_;
  int64_t restored_at_ = 0;  // the time that restored values get when a time to live is switched on
  std::shared_ptr<RocksStore> store_;
  std::unique_ptr<WriteBackTier> tier_;
  std::map<std::string, std::unique_ptr<State>> states_;  // those that were asked for
};

// kInvalidArgument for options that cannot be. `env`: RocksDB's files, for tests; null: the
// machine's.
Result<std::unique_ptr<KeyedStateBackend>> make_rocksdb_backend(const BackendContext& context,
                                                                rocksdb::Env* env = nullptr);

}  // namespace penstock
