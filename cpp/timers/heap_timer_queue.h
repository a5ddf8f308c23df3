// HeapTimerQueue: timers in memory, in a CowTree: adding, deleting and taking the first are
// O(log n) with nothing to amortise, next() is exact whatever was deleted, a snapshot shares the
// tree.
//
// Thread safety: none; belongs to the subtask's thread. A TimerTree that was copied from it may be
// read in another.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/cell.h"
#include "common/cow_tree.h"
#include "timers/timer_queue.h"

namespace penstock {

struct TimerEntry {
  Timestamp timestamp;
  uint32_t hash;
  uint8_t tag;        // of the cell, which holds the key and behind it the namespace
  uint8_t key_bytes;  // how many are the key, when they are in the cell
  Cell cell;

  [[nodiscard]] std::string_view joined() const { return cell_view(cell, tag); }
  [[nodiscard]] uint32_t key_size() const { return tag == kBlobTag ? cell.out.extra : key_bytes; }
  [[nodiscard]] std::string_view key() const { return joined().substr(0, key_size()); }
  [[nodiscard]] std::string_view name_space() const { return joined().substr(key_size()); }
  [[nodiscard]] TimerView view() const { return {timestamp, key(), hash, name_space()}; }
};

// A timer made ready to be compared with many: short ones are compared as numbers.
struct TimerProbe {
  explicit TimerProbe(const TimerView& timer);

  TimerView view;
  uint8_t tag = kBlobTag;
  uint8_t key_bytes = 0;
  Cell cell{.words = {0, 0}};  // of short keys
};

struct TimerTreeTraits {
  using Entry = TimerEntry;
  using Probe = TimerProbe;
  static constexpr uint16_t kFirstLeaf = 16;

  static void retain(const Entry& entry) { cell_retain(entry.cell, entry.tag); }
  static void release(const Entry& entry) { cell_release(entry.cell, entry.tag); }
  static Entry separator(const Entry& entry) {
    retain(entry);
    return entry;
  }
  static int compare(const TimerProbe& probe, const Entry& entry) {
    if (probe.view.timestamp != entry.timestamp) {
      return probe.view.timestamp < entry.timestamp ? -1 : 1;
    }
    // With keys of the same length the order of (key, namespace) is that of both as one string, and
    // the zeros behind a shorter one sort it first or leave it equal.
    if (entry.tag != kBlobTag && probe.tag != kBlobTag && probe.key_bytes == entry.key_bytes) {
      for (const int word : {0, 1}) {
        const uint64_t one = __builtin_bswap64(probe.cell.words[word]);
        const uint64_t other = __builtin_bswap64(entry.cell.words[word]);
        if (one != other) return one < other ? -1 : 1;
      }
      return int{probe.tag} - int{entry.tag};
    }
    const int by_key = probe.view.key.compare(entry.key());
    return by_key != 0 ? by_key : probe.view.name_space.compare(entry.name_space());
  }
};

using TimerTree = CowTree<TimerTreeTraits>;

class HeapTimerQueue final : public TimerQueue {
 public:
  HeapTimerQueue() = default;
  HeapTimerQueue(const HeapTimerQueue&) = delete;
  HeapTimerQueue& operator=(const HeapTimerQueue&) = delete;
  ~HeapTimerQueue() override;

  Status add(const TimerView& timer) override;
  Status remove(const TimerView& timer) override;
  [[nodiscard]] Timestamp next() const override;
  [[nodiscard]] bool is_empty() const override { return timers_.empty(); }
  Result<bool> pop_due(Timestamp until, TimerView* out) override;
  Status for_each(const std::function<Status(const TimerView&)>& visit) override;

  // What the queue holds now, for ever.
  [[nodiscard]] TimerTree snapshot() const { return timers_; }

 private:
  TimerTree timers_;
  TimerEntry popped_{};  // what pop_due gave out last
};

}  // namespace penstock
