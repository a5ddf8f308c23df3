// The second halves of snapshots of a RocksStore: hard links of its files, or a view of its contents
// that is read out entry by entry.
//
// Thread safety: what is handed over may be used from any one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "snapshot/operator_state.h"
#include "state/rocksdb/rocks_store.h"
#include "state/ttl/ttl_format.h"

namespace penstock {

// A NativeState whose files are made by a job that is put into the queue now.
NativeState cut_native(const std::shared_ptr<RocksStore>& store, KeyGroupRange key_groups,
                       std::vector<StateMeta> states);

// A point in the order of the queue, seen by readers for as long as they like.
class RocksCut;
std::shared_ptr<RocksCut> cut_contents(const std::shared_ptr<RocksStore>& store);
// `cutoff`: what has expired by then is left out.
std::shared_ptr<const DeferredKeyedState> defer_family(std::shared_ptr<RocksCut> cut,
                                                       const RocksFamily* family,
                                                       std::optional<TtlCutoff> cutoff);

// Calls `visit(group, key, namespace, value)` with the canonical form of every entry that `it` finds
// from where it stands. `check` makes a Status of RocksDB's.
using CanonicalVisitor = std::function<Status(int32_t group, std::string_view key,
                                              std::string_view name_space, std::string_view value)>;
Status visit_canonical(StateKind kind, rocksdb::Iterator* it, const CanonicalVisitor& visit);
// The other way: what an entry of a canonical snapshot is in the database.
Status from_canonical(StateKind kind, int32_t group, std::string_view key,
                      std::string_view name_space, std::string_view value, std::string* rocks_key,
                      std::string* rocks_value);

}  // namespace penstock
