// RocksTimerQueue: timers in a column family of their own (rocks_keys.h has their keys), for more of
// them than memory holds.
//
// The earliest are in memory too: the cache has all timers up to `limit_`. It is filled when it runs
// empty, from every key group a few, so that taking timers out costs one look at the database per
// some thousands of them.
//
// Invariants: 1. what is in the cache is in the family (in front of it, in the layers); 2. of what
// is in the family all up to `limit_` is in the cache; without a limit, all; 3. the cache is empty
// only if there are no timers at all.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "record/key_group.h"
#include "state/rocksdb/ordered_layer.h"
#include "state/rocksdb/rocks_keys.h"
#include "timers/timer_queue.h"

namespace penstock {

class RocksTimerQueue final : public TimerQueue {
 public:
  // `cached`: about how many timers are held in memory.
  static Result<std::unique_ptr<RocksTimerQueue>> open(WriteBackTier* tier, RocksFamily* family,
                                                       KeyGroupRange groups,
                                                       int32_t max_parallelism,
                                                       size_t cached = 4096);

  Status add(const TimerView& timer) override;
  Status remove(const TimerView& timer) override;
  [[nodiscard]] Timestamp next() const override;
  [[nodiscard]] bool is_empty() const override { return cache_.empty(); }
  Result<bool> pop_due(Timestamp until, TimerView* out) override;
  Status for_each(const std::function<Status(const TimerView&)>& visit) override;

 private:
  // A timer's key without its key group -> that. Sorts as timers do.
  using Cache = std::map<std::string, int32_t, std::less<>>;

  RocksTimerQueue(WriteBackTier* tier, RocksFamily* family, KeyGroupRange groups,
                  int32_t max_parallelism, size_t cached)
      : layers_(tier, family),
        groups_(groups),
        max_parallelism_(max_parallelism),
        cached_(cached) {}

  // Fills key_; the part of it that sorts.
  std::string_view start_key(const TimerView& timer);
  [[nodiscard]] bool is_cached(std::string_view place) const {
    return !limit_ || place <= std::string_view(*limit_);
  }
  Status fill_if_empty() { return cache_.empty() && limit_ ? fill() : Status::ok(); }
  Status fill();
  // The first timers of a group behind the limit, into `found`; true: there may be more.
  Result<bool> read_group(int32_t group, size_t most, Cache* found, std::string* last);
  void trim();
  Status damaged();

  OrderedLayers layers_;
  const KeyGroupRange groups_;
  const int32_t max_parallelism_;
  const size_t cached_;
  Cache cache_;
  std::optional<std::string> limit_ = std::string();  // at first nothing is in the cache
  std::string key_;
  TimerKeyParts popped_;
  std::string popped_key_;
};

}  // namespace penstock
