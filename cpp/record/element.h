// Stream elements: all that a channel ever carries.
#pragma once

#include <cstdint>
#include <variant>

#include "columnar/batch.h"
#include "common/ids.h"

namespace penstock {

// No record with timestamp <= `timestamp` is expected any more. kMaxTimestamp: end of input.
struct Watermark {
  Timestamp timestamp = kMinTimestamp;
};

// An idle channel does not hold the watermark back.
struct WatermarkStatus {
  bool idle = false;
};

// Everything before it belongs to checkpoint `id`, everything after it does not.
struct Barrier {
  CheckpointId id;
  int64_t trigger_millis = 0;
  bool savepoint = false;  // taken in the form that every backend reads
  bool hold = false;       // who has passed it does nothing more until he is told
};

// The last element of a channel. Follows Watermark(kMaxTimestamp).
struct EndOfInput {};

using Element = std::variant<Batch, Watermark, WatermarkStatus, Barrier, EndOfInput>;

}  // namespace penstock
