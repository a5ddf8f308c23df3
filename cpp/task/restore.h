// From a checkpoint to the state of each task of a job, whatever parallelism wrote it.
#pragma once

#include <map>

#include "snapshot/checkpoint_storage.h"
#include "task/job_plan.h"

namespace penstock {

// The task's id in checkpoints: the uid of its vertex's head.
TaskId task_id(const VertexPlan& vertex, int32_t subtask);
// The same for operators: what `_metadata` says of them.
std::vector<OperatorInfo> operator_infos(const JobPlan& plan);

// kInvalidArgument: the checkpoint has state of an operator that the job does not have (it would be
// lost; `ignore_unclaimed`: it is), or was written with another max parallelism.
Result<std::map<TaskId, OperatorStates>> assign_states(const JobPlan& plan,
                                                       const LoadedCheckpoint& checkpoint,
                                                       bool ignore_unclaimed = false);

}  // namespace penstock
