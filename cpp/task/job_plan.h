// JobPlan: a job as the local executor takes it: vertices with the operators of each subtask, and
// edges between them.
//
// Filled by bindings (from the Python job graph) or by a test, checked by validate(), consumed by
// LocalExecutor. A vertex's operators are instances of their own per subtask; uids and names are
// the same in all subtasks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "exchange/partitioner.h"
#include "task/operator_chain.h"

namespace penstock {

struct SubtaskPlan {
  std::shared_ptr<Source> source;  // set: nodes[0] is its place, with a null operator
  std::vector<ChainNodeSpec> nodes;
};

struct VertexPlan {
  std::string name;
  int32_t parallelism = 1;
  int32_t max_parallelism = kDefaultMaxParallelism;
  std::vector<SubtaskPlan> subtasks;  // `parallelism` of them
};

enum class PartitioningKind { kForward, kRebalance, kBroadcast, kGlobal, kHash };

// "forward", "rebalance", "broadcast", "global", "hash".
Result<PartitioningKind> partitioning_kind(const std::string& name);

struct Partitioning {
  PartitioningKind kind = PartitioningKind::kForward;
  // Hash only; nullopt: by the encoded keys that the batches carry.
  std::optional<std::vector<std::string>> key_columns;
};

// For a producer with index `subtask`. Forward has one target whatever `num_targets` says.
std::unique_ptr<Partitioner> make_partitioner(const Partitioning& partitioning, int32_t num_targets,
                                              int32_t max_parallelism, int32_t subtask);

struct EdgePlan {
  int32_t source_vertex = 0;
  int32_t source_operator = 0;
  std::optional<int32_t> side;
  int32_t target_vertex = 0;
  Partitioning partitioning;
};

struct JobPlan {
  std::vector<VertexPlan> vertices;
  std::vector<EdgePlan> edges;
  StateBackendConfigPtr state_backend;  // null: on the heap

  // kInvalidArgument: an index out of range, subtasks that differ, a vertex without input or
  // source, a forward edge between different parallelisms.
  [[nodiscard]] Status validate() const;
};

}  // namespace penstock
