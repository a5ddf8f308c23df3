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

  // Checkpoints are in the form that every backend reads, too: nothing of them is shared. Unlike
  // Flink's, a backend that can ship only what is new does so unless it is told not to.
  [[nodiscard]] bool full_checkpoints() const {
    const auto found = options.find("execution.checkpointing.incremental");
    return found != options.end() && found->second == "false";
  }
};
using StateBackendConfigPtr = std::shared_ptr<const StateBackendConfig>;

}  // namespace penstock
