// What a state backend has to know of the operator that it works for.
#pragma once

#include "operators/operator.h"
#include "state/keyed_state_backend.h"

namespace penstock {

inline BackendContext backend_context(const OperatorContext& context) {
  BackendContext backend;
  backend.operator_name = context.name;
  backend.uid = context.uid;
  backend.subtask = context.subtask;
  backend.max_parallelism = context.max_parallelism;
  backend.key_groups = context.key_groups();
  backend.clock = context.clock;
  backend.config = context.state_backend;
  return backend;
}

}  // namespace penstock
