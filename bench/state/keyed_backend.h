// One subtask's backend with a value state of {count, sum} per int key, worked on batch by batch.
#pragma once

#include <algorithm>
#include <memory>

#include "bench/state/bench.h"
#include "state/keyed_state_backend.h"

namespace penstock::bench {

class KeyedSubtask {
 public:
  // A subtask of `parallelism`, on `kind` (hashmap or rocksdb), with what `restored` has.
  explicit KeyedSubtask(const std::string& kind, int32_t subtask = 0, int32_t parallelism = 1,
                        const OperatorState* restored = nullptr);
  ~KeyedSubtask();
  KeyedSubtask(KeyedSubtask&&) = default;

  // For each row: get, add one and the value, put.
  void add(const int64_t* keys, const int64_t* values, int64_t rows);
  void add(const Rows& rows);
  // Each of the keys [from, to) once.
  void add_range(int64_t from, int64_t to);
  void put(std::string_view key, std::string_view value);

  [[nodiscard]] KeyedStateBackend* backend() { return backend_.get(); }
  [[nodiscard]] ValueTable* table() { return table_; }
  uint64_t digest();
  // Both parts of a snapshot, one after the other.
  OperatorState snapshot(bool canonical);

 private:
  std::unique_ptr<KeyedStateBackend> backend_;
  ValueTable* table_ = nullptr;
};

inline constexpr int32_t kMaxParallelism = 128;

}  // namespace penstock::bench
