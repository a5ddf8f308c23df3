#include "timers/heap_timer_queue.h"

#include <string>

namespace penstock {

TimerProbe::TimerProbe(const TimerView& timer) : view(timer) {
  if (timer.key.size() + timer.name_space.size() > kInlineBytes) return;
  tag = cell_fill(timer.key, timer.name_space, &cell);
  key_bytes = static_cast<uint8_t>(timer.key.size());
}

HeapTimerQueue::~HeapTimerQueue() { TimerTreeTraits::release(popped_); }

Status HeapTimerQueue::add(const TimerView& timer) {
  const uint64_t size = uint64_t{timer.key.size()} + timer.name_space.size();
  if (size >= UINT32_MAX - 64) {
    return Status::not_supported("a timer with a key of " + std::to_string(size) + " bytes");
  }
  const TimerProbe probe(timer);
  bool inserted = false;
  TimerEntry* const entry = timers_.find_or_insert(probe, &inserted);
  if (!inserted) return Status::ok();
  *entry = {timer.timestamp, timer.hash, probe.tag, probe.key_bytes, probe.cell};
  if (probe.tag == kBlobTag) {
    cell_fill(timer.key, timer.name_space, &entry->cell);
    entry->cell.out.extra = static_cast<uint32_t>(timer.key.size());
  }
  return Status::ok();
}

Status HeapTimerQueue::remove(const TimerView& timer) {
  TimerEntry removed{};
  timers_.take(TimerProbe(timer), &removed);
  TimerTreeTraits::release(removed);
  return Status::ok();
}

Timestamp HeapTimerQueue::next() const {
  return timers_.empty() ? kMaxTimestamp : timers_.first()->timestamp;
}

Result<bool> HeapTimerQueue::pop_due(Timestamp until, TimerView* out) {
  if (timers_.empty() || timers_.first()->timestamp > until) return false;
  TimerTreeTraits::release(popped_);
  popped_ = timers_.take_first();
  *out = popped_.view();
  return true;
}

Status HeapTimerQueue::for_each(const std::function<Status(const TimerView&)>& visit) {
  Status status;
  timers_.visit([&](const TimerEntry& entry) {
    status = visit(entry.view());
    return status.is_ok();
  });
  return status;
}

}  // namespace penstock
