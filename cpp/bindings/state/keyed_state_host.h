// KeyedStateHost: an operator's keyed state, from open() to close(): the backend behind a StateAccess,
// and the watermark, which is part of the state (what was late stays late after a restore).
#pragma once

#include <memory>
#include <string>

#include "bindings/state/state_access.h"
#include "operators/operator.h"

namespace penstock::bindings {

class KeyedStateHost {
 public:
  KeyedStateHost() : access_(std::make_shared<StateAccess>()) {}

  // Without a backend: a function that has a context, but no key.
  Status open_unkeyed(const OperatorContext& context);
  // With one, restored from `context.restored`. `timers`: with both queues.
  Status open_keyed(const OperatorContext& context, bool timers);
  Status snapshot(OperatorState* state);
  Status checkpoint_completed(CheckpointId id);
  // REQUIRES: the GIL, for the handles.
  Status close() { return access_->close(); }

  [[nodiscard]] const StateAccessPtr& access() const { return access_; }
  StateAccess* operator->() { return access_.get(); }

 private:
  Status restore_watermark(const OperatorContext& context);
  StateAccessPtr access_;
};

}  // namespace penstock::bindings
