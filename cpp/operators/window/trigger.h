// When a window is evaluated, and whether its contents are kept. One implementation per kind of
// trigger.
#pragma once

#include <cstdint>

#include "operators/window/time_window.h"

namespace penstock::window {

enum class TriggerResult : uint8_t { kContinue, kFire, kPurge, kFireAndPurge };

inline bool is_fire(TriggerResult result) {
  return result == TriggerResult::kFire || result == TriggerResult::kFireAndPurge;
}
inline bool is_purge(TriggerResult result) {
  return result == TriggerResult::kPurge || result == TriggerResult::kFireAndPurge;
}

// What a trigger may do; bound to one key and window for the length of a call.
class TriggerContext {
 public:
  virtual ~TriggerContext() = default;
  [[nodiscard]] virtual Timestamp current_watermark() const = 0;
  virtual void register_event_time_timer(Timestamp timestamp) = 0;
  virtual void delete_event_time_timer(Timestamp timestamp) = 0;
};

class Trigger {
 public:
  virtual ~Trigger() = default;
  virtual TriggerResult on_element(Timestamp timestamp, const TimeWindow& window,
                                   TriggerContext& context) = 0;
  virtual TriggerResult on_event_time(Timestamp time, const TimeWindow& window,
                                      TriggerContext& context) = 0;
  // The window is gone: forget its timers and state.
  virtual void clear(const TimeWindow& window, TriggerContext& context) = 0;
};

// Fires when the watermark passes the window's end, and at once for each element that comes after
// that.
class EventTimeTrigger final : public Trigger {
 public:
  TriggerResult on_element(Timestamp, const TimeWindow& window, TriggerContext& context) override {
    if (window.max_timestamp() <= context.current_watermark()) return TriggerResult::kFire;
    context.register_event_time_timer(window.max_timestamp());
    return TriggerResult::kContinue;
  }
  TriggerResult on_event_time(Timestamp time, const TimeWindow& window, TriggerContext&) override {
    return time == window.max_timestamp() ? TriggerResult::kFire : TriggerResult::kContinue;
  }
  void clear(const TimeWindow& window, TriggerContext& context) override {
    context.delete_event_time_timer(window.max_timestamp());
  }
};

}  // namespace penstock::window
