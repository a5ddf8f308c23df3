#include "state/rocksdb/rocks_metrics.h"

#include <array>

namespace penstock {

namespace {

// Those that Flink has metrics for.
constexpr std::array kProperties = {
    "rocksdb.num-immutable-mem-table",
    "rocksdb.mem-table-flush-pending",
    "rocksdb.compaction-pending",
    "rocksdb.background-errors",
    "rocksdb.cur-size-active-mem-table",
    "rocksdb.cur-size-all-mem-tables",
    "rocksdb.size-all-mem-tables",
    "rocksdb.num-entries-active-mem-table",
    "rocksdb.num-entries-imm-mem-tables",
    "rocksdb.num-deletes-active-mem-table",
    "rocksdb.num-deletes-imm-mem-tables",
    "rocksdb.estimate-num-keys",
    "rocksdb.estimate-table-readers-mem",
    "rocksdb.num-snapshots",
    "rocksdb.num-live-versions",
    "rocksdb.estimate-live-data-size",
    "rocksdb.total-sst-files-size",
    "rocksdb.live-sst-files-size",
    "rocksdb.estimate-pending-compaction-bytes",
    "rocksdb.num-running-compactions",
    "rocksdb.num-running-flushes",
    "rocksdb.actual-delayed-write-rate",
    "rocksdb.is-write-stopped",
    "rocksdb.block-cache-capacity",
    "rocksdb.block-cache-usage",
    "rocksdb.block-cache-pinned-usage",
};

}  // namespace

void add_store_metrics(const RocksStore& store, Metrics* out) {
  for (const auto& [ticker, name] : rocksdb::TickersNameMap) {
    (*out)[name] = static_cast<int64_t>(store.statistics()->getTickerCount(ticker));
  }
  for (const auto& [state, family] : store.families()) {
    for (const char* property : kProperties) {
      uint64_t value = 0;
      if (store.db()->GetIntProperty(family->handle, property, &value)) {
        (*out)[std::string(property) + "." + state] = static_cast<int64_t>(value);
      }
    }
  }
}

void add_latencies(const std::string& state, const LatencyTracker& latency, Metrics* out) {
  for (const auto& [operation, histogram] : latency.histograms()) {
    const std::string prefix = "latency." + state + "." + operation + ".";
    (*out)[prefix + "count"] = histogram.count();
    (*out)[prefix + "p50"] = histogram.percentile(0.5);
    (*out)[prefix + "p95"] = histogram.percentile(0.95);
    (*out)[prefix + "p99"] = histogram.percentile(0.99);
    (*out)[prefix + "max"] = histogram.greatest();
  }
}

}  // namespace penstock
