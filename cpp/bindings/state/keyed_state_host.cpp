#include "bindings/state/keyed_state_host.h"

#include "operators/backend_context.h"
#include "operators/window/window_snapshot.h"

namespace penstock::bindings {

namespace {

// Names of states, which reach disk: never to change.
constexpr const char* kEventTimers = "event-time-timers";
constexpr const char* kProcessingTimers = "processing-time-timers";

}  // namespace

Status KeyedStateHost::restore_watermark(const OperatorContext& context) {
  access_->operator_name = context.name;
  access_->clock = context.clock;
  if (context.restored == nullptr) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(access_->current_watermark,
                            window::restore_watermark(*context.restored));
  return Status::ok();
}

Status KeyedStateHost::open_unkeyed(const OperatorContext& context) {
  return restore_watermark(context);
}

Status KeyedStateHost::open_keyed(const OperatorContext& context, bool timers) {
  PENSTOCK_RETURN_NOT_OK(restore_watermark(context));
  PENSTOCK_ASSIGN_OR_RETURN(access_->backend, make_keyed_state_backend(backend_context(context)));
  if (context.restored != nullptr)
    PENSTOCK_RETURN_NOT_OK(access_->backend->restore(*context.restored));
  if (!timers) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(access_->event_timers, access_->backend->timer_queue(kEventTimers));
  PENSTOCK_ASSIGN_OR_RETURN(access_->processing_timers,
                            access_->backend->timer_queue(kProcessingTimers));
  return Status::ok();
}

Status KeyedStateHost::snapshot(OperatorState* state) {
  window::snapshot_watermark(access_->current_watermark, state);
  return access_->backend == nullptr ? Status::ok()
                                     : access_->backend->snapshot(state->request, state);
}

Status KeyedStateHost::checkpoint_completed(CheckpointId id) {
  return access_->backend == nullptr ? Status::ok() : access_->backend->checkpoint_completed(id);
}

}  // namespace penstock::bindings
