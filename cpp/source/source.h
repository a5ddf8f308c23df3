// Source: the head of a source vertex, polled by its task's thread.
//
// A source emits into the same Output as an operator. It owns its splits and its position in each,
// which are its state: after a restore it goes on with the very next row.
#pragma once

#include "operators/operator.h"

namespace penstock {

enum class PollKind {
  kMore,  // something was emitted, or can be at once
  kWait,  // nothing before `wake_millis` (or a letter in the mailbox)
  kEnd,   // all input was emitted
};

struct Poll {
  PollKind kind = PollKind::kMore;
  int64_t wake_millis = kMaxTimestamp;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual Status open(const OperatorContext& context) {
    context_ = context;
    return Status::ok();
  }
  // Emits at most one batch.
  virtual Result<Poll> poll(Output& output) = 0;
  virtual Status snapshot(OperatorState* state) = 0;
  virtual Status restore(const OperatorState& state) = 0;
  // Waits for its data (rate limited, or fed from outside) rather than running flat out.
  [[nodiscard]] virtual bool is_live() const { return false; }
  virtual Status close() { return Status::ok(); }

 protected:
  OperatorContext context_;
};

}  // namespace penstock
