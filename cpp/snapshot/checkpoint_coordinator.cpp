#include "snapshot/checkpoint_coordinator.h"

#include <algorithm>
#include <utility>

namespace penstock {

namespace {

// a + b, at most kMaxTimestamp. REQUIRES: b >= 0.
int64_t add_saturating(int64_t a, int64_t b) {
  return a > kMaxTimestamp - b ? kMaxTimestamp : a + b;
}

}  // namespace

CheckpointCoordinator::CheckpointCoordinator(const CoordinatorOptions& options, const Clock* clock,
                                             const std::vector<TaskId>& tasks, CheckpointId next_id)
    : options_(options),
      clock_(clock),
      running_(tasks.begin(), tasks.end()),
      next_id_(next_id),
      last_trigger_millis_(clock->now_millis()),
      last_end_millis_(kMinTimestamp / 2) {}

CoordinatorDecisions CheckpointCoordinator::tick() {
  CoordinatorDecisions out;
  const int64_t now = clock_->now_millis();
  for (auto it = pending_.begin(); it != pending_.end();) {
    // One that is being stored has its fate in the storage's hands.
    const bool expired = !it->second.storing &&
                         now >= add_saturating(it->second.trigger_millis, options_.timeout_millis);
    if (expired) {
      const std::string reason = "not complete after " + std::to_string(options_.timeout_millis) +
                                 " ms: " + who_is_missing(it->second);
      it = abort(it, reason, !waits_for_an_end(it->second), &out);
    } else {
      ++it;
    }
  }
  if (now >= next_trigger_millis()) {
    last_trigger_millis_ = now;
    trigger(/*savepoint=*/false, &out);
  }
  return out;
}

int64_t CheckpointCoordinator::next_tick_millis() const {
  int64_t next = next_trigger_millis();
  for (const auto& [id, pending] : pending_) {
    if (pending.storing) continue;
    next = std::min(next, add_saturating(pending.trigger_millis, options_.timeout_millis));
  }
  return next;
}

CoordinatorDecisions CheckpointCoordinator::trigger_now() {
  CoordinatorDecisions out;
  if (!running_.empty()) trigger(/*savepoint=*/false, &out);
  return out;
}

CoordinatorDecisions CheckpointCoordinator::trigger_savepoint() {
  CoordinatorDecisions out;
  if (!running_.empty()) trigger(/*savepoint=*/true, &out);
  return out;
}

CheckpointId CheckpointCoordinator::take_id() {
  const CheckpointId id = next_id_;
  next_id_ = CheckpointId{id.value + 1};
  return id;
}

void CheckpointCoordinator::received(CheckpointId id, const TaskId& task) {
  const auto it = pending_.find(id);
  if (it == pending_.end() || it->second.missing.erase(task) == 0) return;
  it->second.writing.insert(task);
}

CoordinatorDecisions CheckpointCoordinator::acknowledge(CheckpointId id, const TaskId& task) {
  CoordinatorDecisions out;
  const auto it = pending_.find(id);
  if (it == pending_.end()) return out;
  it->second.missing.erase(task);
  it->second.writing.erase(task);
  store_if_all_acknowledged(it, &out);
  return out;
}

CoordinatorDecisions CheckpointCoordinator::decline(CheckpointId id, const TaskId& task,
                                                    const std::string& reason) {
  CoordinatorDecisions out;
  const auto it = pending_.find(id);
  if (it == pending_.end()) return out;
  abort(it, "declined by task " + to_string(task) + ": " + reason, true, &out);
  return out;
}

CoordinatorDecisions CheckpointCoordinator::task_finished(const TaskId& task) {
  CoordinatorDecisions out;
  if (running_.erase(task) == 0) return out;
  finished_.push_back(task);
  for (auto it = pending_.begin(); it != pending_.end();) {
    auto current = it++;
    if (current->second.missing.erase(task) == 0) continue;
    current->second.finished.push_back(task);
    store_if_all_acknowledged(current, &out);
  }
  return out;
}

CoordinatorDecisions CheckpointCoordinator::stored(CheckpointId id) {
  CoordinatorDecisions out;
  const auto found = pending_.find(id);
  if (found != pending_.end() && found->second.savepoint) {
    pending_.erase(found);
    return out;
  }
  if (pending_.erase(id) == 0) {
    // Given up while it was being written: it is complete on disk but no longer wanted.
    const bool known = std::find(completed_.begin(), completed_.end(), id) != completed_.end();
    if (!known) out.emplace_back(DiscardCheckpoint{id});
    return out;
  }
  failures_ = 0;
  last_end_millis_ = clock_->now_millis();
  // An older one that completes later would be newer than its successor to whoever restores: no.
  for (auto it = pending_.begin(); it != pending_.end() && it->first < id;) {
    if (it->second.savepoint) {
      ++it;
      continue;
    }
    it = abort(it, "checkpoint " + std::to_string(id.value) + " completed before it", false, &out);
  }
  out.emplace_back(NotifyCheckpointComplete{id});
  completed_.push_back(id);
  // Discarded only now: at every moment at least one complete checkpoint exists.
  while (completed_.size() > static_cast<size_t>(std::max(options_.retained, 1))) {
    out.emplace_back(DiscardCheckpoint{completed_.front()});
    completed_.erase(completed_.begin());
  }
  return out;
}

CoordinatorDecisions CheckpointCoordinator::store_failed(CheckpointId id, const Status& status) {
  CoordinatorDecisions out;
  const auto it = pending_.find(id);
  if (it != pending_.end()) abort(it, "could not be stored: " + status.message(), true, &out);
  return out;
}

void CheckpointCoordinator::trigger(bool savepoint, CoordinatorDecisions* out) {
  const CheckpointId id = take_id();
  const int64_t now = clock_->now_millis();
  pending_.emplace(id, Pending{now, running_, {}, finished_, false, savepoint});
  out->emplace_back(TriggerCheckpoint{Barrier{id, now, savepoint}});
}

void CheckpointCoordinator::store_if_all_acknowledged(PendingMap::iterator it,
                                                      CoordinatorDecisions* out) {
  Pending& pending = it->second;
  if (!pending.missing.empty() || !pending.writing.empty() || pending.storing) return;
  if (pending.finished.size() == running_.size() + finished_.size()) {
    abort(it, "all tasks have ended", false, out);
    return;
  }
  pending.storing = true;
  out->emplace_back(
      StoreCheckpoint{it->first, pending.trigger_millis, pending.finished, pending.savepoint});
}

CheckpointCoordinator::PendingMap::iterator CheckpointCoordinator::abort(
    PendingMap::iterator it, const std::string& reason, bool failure, CoordinatorDecisions* out) {
  const CheckpointId id = it->first;
  out->emplace_back(AbortCheckpoint{id, reason});
  if (it->second.savepoint) return pending_.erase(it);
  last_end_millis_ = clock_->now_millis();
  if (failure && ++failures_ > options_.tolerable_failures) {
    out->emplace_back(FailJob{
        Status::internal("checkpoint " + std::to_string(id.value) + " failed (" + reason + "); " +
                         std::to_string(failures_) + " failure(s) in a row, tolerable are " +
                         std::to_string(options_.tolerable_failures))});
  }
  return pending_.erase(it);
}

std::string CheckpointCoordinator::who_is_missing(const Pending& pending) {
  const bool all_here = pending.missing.empty();
  const std::set<TaskId>& tasks = all_here ? pending.writing : pending.missing;
  return std::to_string(tasks.size()) +
         (all_here ? " state(s) not written yet, " : " task(s) missing, ") +
         to_string(*tasks.begin()) + " first";
}

bool CheckpointCoordinator::waits_for_an_end(const Pending& pending) const {
  const std::set<TaskId> ended(pending.finished.begin(), pending.finished.end());
  const auto has_ended = [&](const TaskId& task) { return ended.contains(task); };
  return std::any_of(pending.missing.begin(), pending.missing.end(), [&](const TaskId& task) {
    const auto found = inputs_.find(task);
    return found != inputs_.end() &&
           std::all_of(found->second.begin(), found->second.end(), has_ended);
  });
}

int64_t CheckpointCoordinator::next_trigger_millis() const {
  const auto checkpoints = std::count_if(pending_.begin(), pending_.end(),
                                         [](const auto& p) { return !p.second.savepoint; });
  const bool full = checkpoints >= std::max(options_.max_concurrent, 1);
  if (running_.empty() || full || options_.interval_millis == kMaxTimestamp) return kMaxTimestamp;
  return std::max(add_saturating(last_trigger_millis_, options_.interval_millis),
                  add_saturating(last_end_millis_, options_.min_pause_millis));
}

}  // namespace penstock
