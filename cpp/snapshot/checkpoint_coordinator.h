// Decides when checkpoints begin, when they are complete, and what becomes of them. Free of threads
// and of transport: it is told what happened and answers with decisions, which its caller carries
// out (inject barriers, write `_metadata`, tell tasks, remove directories).
//
//   tick --> Trigger --> acknowledge (each task) --> Store --> stored --> NotifyComplete, Discard
//                   \-> decline, timeout, newer one completes --> Abort (--> FailJob)
//
// A task that has ended counts as having acknowledged: it ended without seeing the barrier, so
// everything upstream of it had ended before the barrier, too, and its end is part of the cut. Until
// then it may have much to work off, and a checkpoint that only waits for that does not fail.
//
// Thread safety: none; the caller serialises.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/status.h"
#include "record/element.h"
#include "snapshot/snapshot_format.h"

namespace penstock {

struct CoordinatorOptions {
  int64_t interval_millis = kMaxTimestamp;  // from trigger to trigger; kMaxTimestamp: never
  int64_t min_pause_millis = 0;             // from the end of one to the trigger of the next
  int64_t timeout_millis = 600'000;         // an older pending one is given up
  int32_t max_concurrent = 1;
  int32_t tolerable_failures = 0;  // this many in a row are fine, one more fails the job
  int32_t retained = 1;            // complete ones kept
};

// Inject the barrier at these tasks (the sources that still run).
struct TriggerCheckpoint {
  Barrier barrier;
};
// All tasks have acknowledged: write the metadata, then call stored() or store_failed().
struct StoreCheckpoint {
  CheckpointId id;
  int64_t trigger_millis = 0;
  std::vector<TaskId> finished_tasks;  // had ended before the barrier
  bool savepoint = false;
};
// The checkpoint is durable: tell the tasks (two-phase commit sinks commit now).
struct NotifyCheckpointComplete {
  CheckpointId id;
};
// Given up: tell the tasks, remove what was written.
struct AbortCheckpoint {
  CheckpointId id;
  std::string reason;
};
// A complete one that is no longer retained.
struct DiscardCheckpoint {
  CheckpointId id;
};
struct FailJob {
  Status status;
};

using CoordinatorDecision =
    std::variant<TriggerCheckpoint, StoreCheckpoint, NotifyCheckpointComplete, AbortCheckpoint,
                 DiscardCheckpoint, FailJob>;
using CoordinatorDecisions = std::vector<CoordinatorDecision>;

class CheckpointCoordinator {
 public:
  // `clock` outlives the coordinator. `next_id` is one above the checkpoint restored from (else 1).
  CheckpointCoordinator(const CoordinatorOptions& options, const Clock* clock,
                        const std::vector<TaskId>& tasks, CheckpointId next_id = CheckpointId{1});

  // The tasks that `task` reads from. REQUIRES: at least one. Without a call it is a source.
  void set_inputs(const TaskId& task, std::vector<TaskId> inputs) {
    inputs_.insert_or_assign(task, std::move(inputs));
  }

  // To be called at next_tick_millis(), or at any other time.
  CoordinatorDecisions tick();
  // When tick() may have something to do; kMaxTimestamp: only after another event.
  [[nodiscard]] int64_t next_tick_millis() const;

  // A checkpoint outside the rhythm, whatever the interval, the pause and the number of pending ones
  // say. Nothing when all tasks have ended.
  CoordinatorDecisions trigger_now();
  // The same for a savepoint. It is no checkpoint that anybody restores from by himself: it counts
  // neither as retained nor as pending, none is given up for it, and its failure fails nothing.
  CoordinatorDecisions trigger_savepoint();
  // A number that no checkpoint has or will have.
  CheckpointId take_id();

  // Events of checkpoints no longer pending, and repeated ones, mean nothing.
  // The task has handed its state over, which is not written yet: when it ends now, it is that state
  // and not its last one that belongs to the checkpoint.
  void received(CheckpointId id, const TaskId& task);
  CoordinatorDecisions acknowledge(CheckpointId id, const TaskId& task);
  CoordinatorDecisions decline(CheckpointId id, const TaskId& task, const std::string& reason);
  CoordinatorDecisions task_finished(const TaskId& task);
  CoordinatorDecisions stored(CheckpointId id);
  CoordinatorDecisions store_failed(CheckpointId id, const Status& status);

  // A checkpoint that exists already (restored from): counts for `retained`.
  void add_completed(CheckpointId id) { completed_.push_back(id); }

  [[nodiscard]] const std::vector<CheckpointId>& completed() const { return completed_; }
  [[nodiscard]] size_t num_pending() const { return pending_.size(); }
  [[nodiscard]] int32_t failures_in_a_row() const { return failures_; }

 private:
  struct Pending {
    int64_t trigger_millis = 0;
    std::set<TaskId> missing;      // have not handed their state over
    std::set<TaskId> writing;      // have, but it is not written yet
    std::vector<TaskId> finished;  // had ended, or ended without acknowledging
    bool storing = false;          // Store has been decided
    bool savepoint = false;
  };
  using PendingMap = std::map<CheckpointId, Pending>;

  void trigger(bool savepoint, CoordinatorDecisions* out);
  void store_if_all_acknowledged(PendingMap::iterator it, CoordinatorDecisions* out);
  // Gives it up; `failure`: it counts against tolerable_failures.
  PendingMap::iterator abort(PendingMap::iterator it, const std::string& reason, bool failure,
                             CoordinatorDecisions* out);
  // For a task that will not see the barrier: all its inputs ended without it.
  [[nodiscard]] bool waits_for_an_end(const Pending& pending) const;
  [[nodiscard]] int64_t next_trigger_millis() const;
  // REQUIRES: not all have acknowledged.
  static std::string who_is_missing(const Pending& pending);

  const CoordinatorOptions options_;
  const Clock* const clock_;
  std::set<TaskId> running_;
  std::vector<TaskId> finished_;
  std::map<TaskId, std::vector<TaskId>> inputs_;  // of all tasks but the sources
  CheckpointId next_id_;
  PendingMap pending_;
  std::vector<CheckpointId> completed_;  // retained ones, oldest first
  int64_t last_trigger_millis_;          // of the rhythm; the start of the job before the first
  int64_t last_end_millis_;              // of the last one completed or given up
  int32_t failures_ = 0;                 // in a row
};

}  // namespace penstock
