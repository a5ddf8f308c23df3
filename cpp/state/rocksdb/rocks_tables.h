// Value, list and map state on RocksDB (state/keyed_state.h has the contract). Each is a column
// family and its layers of the write-back tier.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/keyed_state.h"
#include "state/rocksdb/entry_access.h"
#include "state/rocksdb/latency_tracker.h"
#include "state/rocksdb/ordered_layer.h"

namespace penstock {

class RocksValueTable final : public ValueTable {
 public:
  RocksValueTable(WriteBackTier* tier, RocksFamily* family, int32_t max_parallelism,
                  int64_t sample_interval)
      : access_(tier, family, max_parallelism), latency_(sample_interval) {}

  Result<std::optional<std::string_view>> get(const EntryKey& entry) override;
  Status put(const EntryKey& entry, std::string_view value) override;
  Status remove(const EntryKey& entry) override;
  Status for_each(const EntryVisitor& visit) override { return access_.for_each(visit); }

  // Reads ahead, if the batch before was read from.
  Status prepare(const EncodedKeys& keys);
  [[nodiscard]] LatencyTracker& latency() { return latency_; }

 private:
  EntryAccess access_;
  LatencyTracker latency_;
  bool was_read_ = false;
};

class RocksListTable final : public ListTable {
 public:
  RocksListTable(WriteBackTier* tier, RocksFamily* family, int32_t max_parallelism,
                 int64_t sample_interval)
      : access_(tier, family, max_parallelism), latency_(sample_interval) {}

  Status get(const EntryKey& entry, std::vector<std::string_view>* out) override;
  Status add(const EntryKey& entry, std::string_view element) override;
  Status update(const EntryKey& entry, const std::vector<std::string_view>& elements) override;
  Status clear(const EntryKey& entry) override;
  Status for_each(const EntryVisitor& visit) override;
  [[nodiscard]] LatencyTracker& latency() { return latency_; }

 private:
  // The whole list, in the young layer.
  Result<TierRecord*> whole(const EntryPlace& place);

  EntryAccess access_;
  LatencyTracker latency_;
  std::string list_;
};

class RocksMapTable final : public MapTable {
 public:
  RocksMapTable(WriteBackTier* tier, RocksFamily* family, int32_t max_parallelism,
                int64_t sample_interval)
      : layers_(tier, family), max_parallelism_(max_parallelism), latency_(sample_interval) {}

  Result<std::optional<std::string_view>> get(const EntryKey& entry,
                                              std::string_view user_key) override;
  Status put(const EntryKey& entry, std::string_view user_key, std::string_view value) override;
  Status remove(const EntryKey& entry, std::string_view user_key) override;
  Result<bool> is_empty(const EntryKey& entry) override;
  Status clear(const EntryKey& entry) override;
  Status scan(const EntryKey& entry, std::optional<std::string_view> after, size_t limit,
              std::vector<UserEntry>* out) override;
  Status for_each(const EntryVisitor& visit) override;
  [[nodiscard]] LatencyTracker& latency() { return latency_; }

 private:
  // The prefix of all entries of the map, in key_.
  void start_key(const EntryKey& entry);

  OrderedLayers layers_;
  const int32_t max_parallelism_;
  LatencyTracker latency_;
  std::string key_;
  std::deque<std::string> scanned_;  // what the last scan gave out
};

}  // namespace penstock
