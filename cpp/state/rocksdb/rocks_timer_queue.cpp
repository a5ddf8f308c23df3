#include "state/rocksdb/rocks_timer_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "record/key_encoding.h"
#include "state/keyed_state.h"

namespace penstock {

namespace {
constexpr size_t kLeastPerGroup = 8;

Timestamp timestamp_of(std::string_view place) {
  Timestamp timestamp = 0;
  KeyReader(place).read_i64(&timestamp);
  return timestamp;
}

TimerView view_of(const TimerKeyParts& parts) {
  const uint32_t hash = parts.key.empty() ? 0 : murmur3_32(parts.key.data(), parts.key.size());
  return {parts.timestamp, parts.key, hash, parts.name_space};
}
}  // namespace

Result<std::unique_ptr<RocksTimerQueue>> RocksTimerQueue::open(WriteBackTier* tier,
                                                               RocksFamily* family,
                                                               KeyGroupRange groups,
                                                               int32_t max_parallelism,
                                                               size_t cached) {
  std::unique_ptr<RocksTimerQueue> queue(
      new RocksTimerQueue(tier, family, groups, max_parallelism, cached));
  PENSTOCK_RETURN_NOT_OK(queue->fill());
  return queue;
}

std::string_view RocksTimerQueue::start_key(const TimerView& timer) {
  const EntryKey entry{timer.key, timer.hash, {}};
  key_.clear();
  append_timer_key(entry.key_group(max_parallelism_), timer, &key_);
  return std::string_view(key_).substr(kGroupBytes);
}

Status RocksTimerQueue::add(const TimerView& timer) {
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  const std::string_view place = start_key(timer);
  if (is_cached(place)) {
    if (!cache_.try_emplace(std::string(place), group_of_key(key_)).second) return Status::ok();
    if (cache_.size() > 2 * cached_) trim();
  }
  PENSTOCK_RETURN_NOT_OK(layers_.set(key_, std::string_view()));
  return fill_if_empty();
}

Status RocksTimerQueue::remove(const TimerView& timer) {
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  const std::string_view place = start_key(timer);
  if (is_cached(place)) {
    const auto found = cache_.find(place);
    if (found == cache_.end()) return Status::ok();
    cache_.erase(found);
  }
  PENSTOCK_RETURN_NOT_OK(layers_.set(key_, std::nullopt));
  return fill_if_empty();
}

Timestamp RocksTimerQueue::next() const {
  return cache_.empty() ? kMaxTimestamp : timestamp_of(cache_.begin()->first);
}

Result<bool> RocksTimerQueue::pop_due(Timestamp until, TimerView* out) {
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  if (cache_.empty() || next() > until) return false;
  popped_key_.clear();
  append_group(cache_.begin()->second, &popped_key_);
  popped_key_.append(cache_.begin()->first);
  if (!split_timer_key(popped_key_, &popped_)) return damaged();
  cache_.erase(cache_.begin());
  PENSTOCK_RETURN_NOT_OK(layers_.set(popped_key_, std::nullopt));
  PENSTOCK_RETURN_NOT_OK(fill_if_empty());
  *out = view_of(popped_);
  return true;
}

Status RocksTimerQueue::fill() {
  const auto groups = static_cast<size_t>(std::max(groups_.size(), 1));
  const size_t most = std::max(kLeastPerGroup, cached_ / groups);
  Cache found;
  std::optional<std::string> limit;
  for (int32_t group = groups_.start; group <= groups_.end; ++group) {
    std::string last;
    PENSTOCK_ASSIGN_OR_RETURN(const bool more, read_group(group, most, &found, &last));
    if (more && (!limit || last < *limit)) limit = std::move(last);
  }
  // Behind the limit some groups have timers that were not read.
  if (limit) found.erase(found.upper_bound(*limit), found.end());
  cache_.merge(found);
  limit_ = std::move(limit);
  return Status::ok();
}

Result<bool> RocksTimerQueue::read_group(int32_t group, size_t most, Cache* found,
                                         std::string* last) {
  std::string from = group_prefix(group);
  if (!limit_->empty()) from.append(*limit_).push_back('\0');
  size_t count = 0;
  const auto take = [&](std::string_view key, std::string_view) {
    *last = key.substr(kGroupBytes);
    found->emplace(*last, group);
    return ++count < most;
  };
  PENSTOCK_RETURN_NOT_OK(layers_.scan(from, group_prefix(group + 1), take));
  return count == most;
}

void RocksTimerQueue::trim() {
  auto first = cache_.begin();
  std::advance(first, static_cast<std::ptrdiff_t>(cached_));
  cache_.erase(first, cache_.end());
  limit_ = cache_.rbegin()->first;
}

Status RocksTimerQueue::for_each(const std::function<Status(const TimerView&)>& visit) {
  Status status;
  TimerKeyParts parts;
  PENSTOCK_RETURN_NOT_OK(
      layers_.scan(group_prefix(0), "\xff\xff", [&](std::string_view key, std::string_view) {
        status = split_timer_key(key, &parts) ? visit(view_of(parts)) : damaged();
        return status.is_ok();
      }));
  return status;
}

Status RocksTimerQueue::damaged() {
  return layers_.layers().store()->check(rocksdb::Status::Corruption("a timer that is none"),
                                         layers_.state());
}

}  // namespace penstock
