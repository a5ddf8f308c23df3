// The part of checkpointing.h that writes: checkpoints from their beginning to their completion, and
// savepoints.
#include <exception>
#include <utility>

#include "task/checkpointing.h"

namespace penstock {

namespace {

// A writer's thread must not die of an exception.
template <typename T, typename Action>
Result<T> catching(const Action& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    return Status::internal(std::string("writing state: ") + error.what());
  }
}

}  // namespace

Result<Checkpointing::PendingPtr> Checkpointing::begin_files(const Barrier& barrier) {
  if (barrier.savepoint) {
    const StorageLocation& directory = savepoints_.at(barrier.id)->directory();
    PENSTOCK_ASSIGN_OR_RETURN(PendingCheckpoint files, PendingCheckpoint::begin_savepoint(
                                                           directory.file_system(), barrier.id,
                                                           directory.path, options_.job_id));
    return std::make_shared<Pending>(std::move(files));
  }
  PENSTOCK_ASSIGN_OR_RETURN(PendingCheckpoint files, storage_->begin(barrier.id));
  auto pending = std::make_shared<Pending>(std::move(files));
  if (copies_) {
    auto copy = copies_->begin(barrier.id);
    if (copy.is_ok()) pending->copy.emplace(std::move(copy).value());
  }
  return pending;
}

void Checkpointing::begin(Barrier barrier) {
  auto pending = begin_files(barrier);
  if (!pending.is_ok()) {
    carry_out(coordinator_->store_failed(barrier.id, pending.status()));
    return;
  }
  pending_.emplace(barrier.id, std::move(pending).value());
  barrier.hold =
      barrier.savepoint && savepoints_.at(barrier.id)->after() == AfterSavepoint::kSuspend;
  job_->trigger_sources(barrier);
}

Result<TaskFile> Checkpointing::write_files(Pending* pending, const TaskState& state) {
  if (pending->copy && !pending->copy_failed) {
    if (!pending->copy->write_task(state).is_ok()) pending->copy_failed = true;
  }
  return pending->files.write_task(state);
}

void Checkpointing::write_task(const TaskId& task, CheckpointId id, OperatorStates state) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;  // given up meanwhile
  coordinator_->received(id, task);
  auto shared = std::make_shared<const TaskState>(task_state(task, std::move(state)));
  writers_.run([this, task, id, pending = found->second, shared]() mutable {
    const auto file = catching<TaskFile>([&] { return write_files(pending.get(), *shared); });
    shared.reset();  // before the others hear of it: a backend may wait for that
    pending.reset();
    post([this, task, id, file] { written(task, id, file); });
  });
}

void Checkpointing::written(const TaskId& task, CheckpointId id, const Result<TaskFile>& file) {
  const auto pending = pending_.find(id);
  if (pending == pending_.end()) return;  // given up meanwhile
  if (!file.is_ok()) {
    carry_out(coordinator_->decline(id, task, file.status().message()));
    return;
  }
  pending->second->tasks.push_back(file.value());
  carry_out(coordinator_->acknowledge(id, task));
}

void Checkpointing::store(const StoreCheckpoint& decision) {
  PendingPtr pending = std::move(pending_.extract(decision.id).mapped());
  std::vector<FinalState> final_states;
  for (const TaskId& task : decision.finished_tasks) {
    final_states.push_back(final_states_.at(task));
  }
  writers_.run([this, decision, pending, final_states]() mutable {
    const auto path =
        catching<std::string>([&] { return complete(decision, pending.get(), final_states); });
    pending.reset();  // a failed one removes itself
    final_states.clear();
    post([this, id = decision.id, path] { stored(id, path); });
  });
}

Result<std::string> Checkpointing::complete(const StoreCheckpoint& decision, Pending* pending,
                                            const std::vector<FinalState>& final_states) {
  CheckpointMetadata metadata;
  metadata.job_id = options_.job_id;
  metadata.job_name = options_.job_name;
  metadata.checkpoint_id = decision.id;
  metadata.trigger_millis = decision.trigger_millis;
  metadata.operators = operators_;
  metadata.finished_tasks = decision.finished_tasks;
  for (const FinalState& state : final_states) {
    const std::lock_guard lock(final_states_mutex_);
    PENSTOCK_ASSIGN_OR_RETURN(TaskFile file, write_files(pending, *state));
    pending->tasks.push_back(std::move(file));
  }
  metadata.tasks = std::move(pending->tasks);
  PENSTOCK_RETURN_NOT_OK(pending->files.complete(metadata));
  if (pending->copy && !pending->copy_failed) {
    if (pending->copy->complete(metadata).is_ok()) (void)copies_->retain(1).is_ok();
  }
  return pending->files.path();
}

void Checkpointing::stored(CheckpointId id, const Result<std::string>& path) {
  carry_out(path.is_ok() ? coordinator_->stored(id)
                         : coordinator_->store_failed(id, path.status()));
  savepoint_done(id, path);
}

void Checkpointing::trigger_savepoint(const std::shared_ptr<Savepoint>& savepoint) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) unfinished_savepoints_.insert(savepoint);
    if (stopping_) savepoint->finish(Status::invalid("the job has ended"));
  }
  post([this, savepoint] { begin_savepoint(savepoint); });
}

void Checkpointing::begin_savepoint(const std::shared_ptr<Savepoint>& savepoint) {
  if (savepoint->after() == AfterSavepoint::kDrain) {
    {
      const std::lock_guard lock(mutex_);
      drain_ = savepoint;
    }
    job_->end_sources();
    write_drained_if_all_ended();
    return;
  }
  CoordinatorDecisions decisions = coordinator_->trigger_savepoint();
  if (decisions.empty()) {
    savepoint->finish(Status::invalid("the job has ended"));
    return;
  }
  savepoints_.emplace(std::get<TriggerCheckpoint>(decisions[0]).barrier.id, savepoint);
  carry_out(std::move(decisions));
}

// Also called for checkpoints that are none; the first call for an id counts.
void Checkpointing::savepoint_done(CheckpointId id, Result<std::string> path) {
  auto found = savepoints_.extract(id);
  if (found.empty()) return;
  const std::shared_ptr<Savepoint> savepoint = std::move(found.mapped());
  if (savepoint->after() == AfterSavepoint::kSuspend) {
    if (path.is_ok()) {
      // What the savepoint holds is final: sinks may commit it.
      job_->notify_completed(id);
      job_->suspend();
    } else {
      job_->resume(id);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    unfinished_savepoints_.erase(savepoint);
  }
  savepoint->finish(std::move(path));
}

void Checkpointing::finish_drain(bool succeeded) {
  std::shared_ptr<Savepoint> drain;
  {
    const std::lock_guard lock(mutex_);
    drain = drain_;
  }
  if (drain == nullptr || !succeeded) return;  // stop() tells who waits
  while (!drain->wait(std::chrono::hours(1))) continue;
}

void Checkpointing::write_drained_if_all_ended() {
  if (final_states_.size() != tasks_.size()) return;
  std::shared_ptr<Savepoint> drain;
  {
    const std::lock_guard lock(mutex_);
    drain = drain_;
  }
  if (drain == nullptr) return;
  drain->finish(catching<std::string>([&] { return write_drained(*drain); }));
}

Result<std::string> Checkpointing::write_drained(const Savepoint& savepoint) {
  const CheckpointId id = coordinator_->take_id();
  StoreCheckpoint decision{id, clock_.now_millis(), {}, true};
  std::vector<FinalState> final_states;
  for (const auto& [task, state] : final_states_) {
    decision.finished_tasks.push_back(task);
    final_states.push_back(state);
  }
  const StorageLocation& directory = savepoint.directory();
  PENSTOCK_ASSIGN_OR_RETURN(PendingCheckpoint files,
                            PendingCheckpoint::begin_savepoint(directory.file_system(), id,
                                                               directory.path, options_.job_id));
  Pending pending(std::move(files));
  return complete(decision, &pending, final_states);
}

}  // namespace penstock
