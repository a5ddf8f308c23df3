#include "task/job_plan.h"

namespace penstock {

Result<PartitioningKind> partitioning_kind(const std::string& name) {
  if (name == "forward") return PartitioningKind::kForward;
  if (name == "rebalance") return PartitioningKind::kRebalance;
  if (name == "broadcast") return PartitioningKind::kBroadcast;
  if (name == "global") return PartitioningKind::kGlobal;
  if (name == "hash") return PartitioningKind::kHash;
  return Status::invalid("unknown partitioning '" + name + "'");
}

std::unique_ptr<Partitioner> make_partitioner(const Partitioning& partitioning, int32_t num_targets,
                                              int32_t max_parallelism, int32_t subtask) {
  switch (partitioning.kind) {
    case PartitioningKind::kForward:
      return make_forward();
    case PartitioningKind::kRebalance:
      return make_rebalance(num_targets, subtask);
    case PartitioningKind::kBroadcast:
      return make_broadcast(num_targets);
    case PartitioningKind::kGlobal:
      return make_global(num_targets);
    case PartitioningKind::kHash:
      break;
  }
  if (!partitioning.key_columns) return make_hash(num_targets, max_parallelism, {});
  return make_hash_by_name(num_targets, max_parallelism, *partitioning.key_columns);
}

namespace {

Status check_vertex(const VertexPlan& vertex, bool has_input) {
  const std::string who = "vertex '" + vertex.name + "'";
  if (vertex.parallelism < 1 || vertex.parallelism > vertex.max_parallelism) {
    return Status::invalid(who + ": parallelism " + std::to_string(vertex.parallelism) +
                           " is not in [1, " + std::to_string(vertex.max_parallelism) + "]");
  }
  if (vertex.subtasks.size() != static_cast<size_t>(vertex.parallelism)) {
    return Status::invalid(who + " does not have the operators of all its subtasks");
  }
  for (const SubtaskPlan& subtask : vertex.subtasks) {
    if (subtask.nodes.empty()) return Status::invalid(who + " has no operators");
    if (subtask.nodes.size() != vertex.subtasks[0].nodes.size()) {
      return Status::invalid(who + ": its subtasks have different operators");
    }
    if ((subtask.source != nullptr) == has_input) {
      return Status::invalid(who + (has_input ? " has an input and a source" : " has no input"));
    }
    for (size_t i = 0; i < subtask.nodes.size(); ++i) {
      const int32_t upstream = subtask.nodes[i].upstream;
      const bool ok = i == 0 ? upstream < 0 : upstream >= 0 && static_cast<size_t>(upstream) < i;
      if (!ok)
        return Status::invalid(who + ": operator " + std::to_string(i) + " hangs in the air");
    }
  }
  return Status::ok();
}

}  // namespace

Status JobPlan::validate() const {
  if (vertices.empty()) return Status::invalid("the job has no operators");
  std::vector<bool> has_input(vertices.size(), false);
  const auto is_vertex = [this](int32_t v) {
    return v >= 0 && static_cast<size_t>(v) < vertices.size();
  };
  for (const EdgePlan& edge : edges) {
    if (!is_vertex(edge.source_vertex) || !is_vertex(edge.target_vertex)) {
      return Status::invalid("an edge names a vertex that is not there");
    }
    has_input[static_cast<size_t>(edge.target_vertex)] = true;
  }
  for (size_t i = 0; i < vertices.size(); ++i) {
    PENSTOCK_RETURN_NOT_OK(check_vertex(vertices[i], has_input[i]));
  }
  for (const EdgePlan& edge : edges) {
    const VertexPlan& source = vertices[static_cast<size_t>(edge.source_vertex)];
    const VertexPlan& target = vertices[static_cast<size_t>(edge.target_vertex)];
    if (edge.source_operator < 0 ||
        static_cast<size_t>(edge.source_operator) >= source.subtasks[0].nodes.size()) {
      return Status::invalid("an edge names an operator that vertex '" + source.name +
                             "' does not have");
    }
    if (edge.partitioning.kind == PartitioningKind::kForward &&
        source.parallelism != target.parallelism) {
      return Status::invalid("a forward edge from '" + source.name + "' to '" + target.name +
                             "', which have different parallelisms");
    }
  }
  return Status::ok();
}

}  // namespace penstock
