// Filling a database from a checkpoint or savepoint.
//
// Thread safety: functions without state; the directory and the store belong to the caller.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "snapshot/operator_state.h"
#include "state/rocksdb/rocks_store.h"
#include "state/value_change.h"

namespace penstock {

// Puts the files of `native` at `path`, as a database that can be opened there: hard links where
// possible (SST files never change), copies else.
Status place_files(const NativeState& native, const std::string& path);

// The states in all of `natives`. kCorruption when two do not agree what a state is.
Result<std::vector<StateMeta>> states_of(const std::vector<NativeState>& natives);

// Takes over into `store`, which has families for all states, the key groups in `range` of what
// others wrote.
Status merge_natives(RocksStore* store, const std::vector<NativeState>& natives,
                     const KeyGroupRange& range);

// A store that has of `natives` what is in `range`, in a new directory (`setup.directory` is not
// looked at).
Result<std::shared_ptr<RocksStore>> open_restored(RocksSetup setup,
                                                  const std::vector<NativeState>& natives,
                                                  const KeyGroupRange& range, int32_t subtask);

// Takes over one canonical state. REQUIRES: the store has a family for it.
Status ingest_canonical(RocksStore* store, const KeyedStateData& data, const KeyGroupRange& range,
                        int32_t max_parallelism);

// Rewrites the family of that name as one of `meta`, each value as `change` makes it.
Status change_values(RocksStore* store, const StateMeta& meta, const ValueChange& change);

}  // namespace penstock
