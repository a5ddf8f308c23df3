#include "task/restore.h"

#include <algorithm>
#include <set>

namespace penstock {

namespace {

bool has_state(const std::vector<OperatorState>& states) {
  return std::any_of(states.begin(), states.end(),
                     [](const OperatorState& s) { return !s.empty(); });
}

Status check_operators(const JobPlan& plan, const LoadedCheckpoint& checkpoint,
                       bool ignore_unclaimed) {
  std::map<std::string, const VertexPlan*> vertex_of;
  for (const VertexPlan& vertex : plan.vertices) {
    for (const ChainNodeSpec& node : vertex.subtasks[0].nodes) vertex_of[node.uid] = &vertex;
  }
  for (const OperatorInfo& written : checkpoint.metadata.operators) {
    if (!has_state(checkpoint.states_of(written.uid))) continue;
    const auto found = vertex_of.find(written.uid);
    if (found == vertex_of.end()) {
      if (ignore_unclaimed) continue;
      return Status::invalid(
          "checkpoint '" + checkpoint.path + "' has state of operator '" + written.name +
          "' (uid " + written.uid +
          "), which this job does not have: its state would be lost. Give operators a uid() that "
          "stays, start the job under another job id, or leave the state behind with "
          "execution.state-recovery.ignore-unclaimed-state");
    }
    if (found->second->max_parallelism != written.max_parallelism) {
      return Status::invalid("checkpoint '" + checkpoint.path + "': operator '" + written.name +
                             "' (uid " + written.uid + ") was written with max parallelism " +
                             std::to_string(written.max_parallelism) + " and now has " +
                             std::to_string(found->second->max_parallelism) + "; it cannot change");
    }
  }
  return Status::ok();
}

}  // namespace

TaskId task_id(const VertexPlan& vertex, int32_t subtask) {
  return {vertex.subtasks[0].nodes[0].uid, subtask};
}

std::vector<OperatorInfo> operator_infos(const JobPlan& plan) {
  std::vector<OperatorInfo> infos;
  for (const VertexPlan& vertex : plan.vertices) {
    for (const ChainNodeSpec& node : vertex.subtasks[0].nodes) {
      infos.push_back({node.uid, node.name, vertex.parallelism, vertex.max_parallelism});
    }
  }
  return infos;
}

Result<std::map<TaskId, OperatorStates>> assign_states(const JobPlan& plan,
                                                       const LoadedCheckpoint& checkpoint,
                                                       bool ignore_unclaimed) {
  PENSTOCK_RETURN_NOT_OK(check_operators(plan, checkpoint, ignore_unclaimed));
  std::map<TaskId, OperatorStates> assigned;
  for (const VertexPlan& vertex : plan.vertices) {
    for (const ChainNodeSpec& node : vertex.subtasks[0].nodes) {
      const std::vector<OperatorState> written = checkpoint.states_of(node.uid);
      if (!has_state(written)) continue;
      for (int32_t subtask = 0; subtask < vertex.parallelism; ++subtask) {
        PENSTOCK_ASSIGN_OR_RETURN(
            OperatorState state,
            reassign(written, subtask, vertex.parallelism, vertex.max_parallelism));
        assigned[task_id(vertex, subtask)].emplace_back(node.uid, std::move(state));
      }
    }
  }
  return assigned;
}

}  // namespace penstock
