// What a task's input gives it to do, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include "common/status.h"
#include "record/element.h"

namespace penstock {

// No channel has anything that may be read now.
struct Nothing {};

struct BatchReceived {
  Batch batch;
  int32_t channel = 0;
  int32_t input = 0;  // the logical input (operand) that the channel belongs to
};

// The barrier has arrived everywhere: snapshot now, then send the barrier on.
struct CheckpointReady {
  Barrier barrier;
};

// A pending checkpoint was overtaken by a newer one: no snapshot will be taken for it here.
struct CheckpointSubsumed {
  CheckpointId id;
};

// Given once, after the last channel has ended and everything before it has been given.
struct EndOfAllInput {};

// Watermark and WatermarkStatus are those of the whole gate.
using GateEvent = std::variant<Nothing, BatchReceived, Watermark, WatermarkStatus, CheckpointReady,
                               CheckpointSubsumed, EndOfAllInput>;

using VisitGateEvent = std::function<Status(GateEvent)>;

}  // namespace penstock
