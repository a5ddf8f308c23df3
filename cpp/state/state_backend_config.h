// Which state backend a job uses, and its settings under Flink's keys. One per job, shared by all
// subtasks.
//
// Thread safety: immutable.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace penstock {

struct StateBackendConfig {
  std::string kind = "hashmap";                // or "rocksdb"
  std::map<std::string, std::string> options;  // "state.backend.rocksdb.block.cache-size" -> "64mb"
};
using StateBackendConfigPtr = std::shared_ptr<const StateBackendConfig>;

}  // namespace penstock
