// What compactions do about time to live: they drop what has expired.
//
// A value with a time to live begins with an i64 little endian: when it was last touched, in
// milliseconds of processing time. Of a list every element does, and each expires by itself; of a
// map every entry is a key of its own.
//
// Expired entries are invisible already, so dropping one changes no answer. While a barrier's files
// are being made it does not either: it expires before and after.
//
// Thread safety: what is made here is used by RocksDB's threads.
#pragma once

#include <rocksdb/compaction_filter.h>

#include <memory>

#include "state/rocksdb/rocks_store.h"

namespace penstock {

// nullptr: states of that kind and type do not expire.
std::shared_ptr<rocksdb::CompactionFilterFactory> make_ttl_filter_factory(
    const StateMeta& meta, const std::shared_ptr<TtlFilterSettings>& settings,
    const std::shared_ptr<DetachableClock>& clock);

}  // namespace penstock
