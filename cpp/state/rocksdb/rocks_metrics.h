// Figures of a RocksDB backend, by name.
//
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "state/rocksdb/latency_tracker.h"
#include "state/rocksdb/rocks_store.h"

namespace penstock {

using Metrics = std::map<std::string, int64_t>;

// RocksDB's tickers ("rocksdb.block.cache.hit"), and its properties per state
// ("rocksdb.estimate-num-keys.<state>").
void add_store_metrics(const RocksStore& store, Metrics* out);

// "latency.<state>.<operation>." and count, p50, p95, p99, max; all but the first in nanoseconds.
void add_latencies(const std::string& state, const LatencyTracker& latency, Metrics* out);

}  // namespace penstock
