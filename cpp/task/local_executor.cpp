#include "task/local_executor.h"

#include <exception>
#include <utility>

#include "task/restore.h"

namespace penstock {

const char* to_string(JobState state) {
  switch (state) {
    case JobState::kCreated:
      return "created";
    case JobState::kRunning:
      return "running";
    case JobState::kFailing:
      return "failing";
    case JobState::kCancelling:
      return "cancelling";
    case JobState::kFinished:
      return "finished";
    case JobState::kFailed:
      return "failed";
    case JobState::kCanceled:
      break;
  }
  return "canceled";
}

Result<std::unique_ptr<LocalExecutor>> LocalExecutor::create(JobPlan plan,
                                                             size_t channel_capacity) {
  PENSTOCK_RETURN_NOT_OK(plan.validate());
  return std::unique_ptr<LocalExecutor>(new LocalExecutor(std::move(plan), channel_capacity));
}

LocalExecutor::~LocalExecutor() {
  cancel();
  if (state() != JobState::kCreated) wait(std::chrono::hours(24 * 365));
}

Status LocalExecutor::set_checkpointing(CheckpointingOptions options) {
  PENSTOCK_ASSIGN_OR_RETURN(checkpointing_, Checkpointing::open(std::move(options)));
  return Status::ok();
}

Result<LocalExecutor::Restored> LocalExecutor::restore_newest(bool ignore_unclaimed) {
  if (checkpointing_ == nullptr) return Status::invalid("the job has no checkpoint directory");
  PENSTOCK_ASSIGN_OR_RETURN(CheckpointStorage::Newest newest, checkpointing_->newest());
  Restored out{std::nullopt, std::move(newest.skipped)};
  if (!newest.checkpoint) return out;
  PENSTOCK_ASSIGN_OR_RETURN(restored_, assign_states(plan_, *newest.checkpoint, ignore_unclaimed));
  restored_id_ = newest.checkpoint->metadata.checkpoint_id;
  out.id = restored_id_;
  return out;
}

Result<CheckpointId> LocalExecutor::restore_from(const StorageLocation& path,
                                                 bool ignore_unclaimed) {
  PENSTOCK_ASSIGN_OR_RETURN(const LoadedCheckpoint checkpoint,
                            read_checkpoint(path.file_system(), path.path));
  PENSTOCK_ASSIGN_OR_RETURN(restored_, assign_states(plan_, checkpoint, ignore_unclaimed));
  restored_id_ = checkpoint.metadata.checkpoint_id;
  return *restored_id_;
}

TaskId LocalExecutor::id_of(const TaskInfo& task) const {
  return task_id(plan_.vertices[static_cast<size_t>(task.vertex)], task.subtask);
}

TaskInputs LocalExecutor::task_inputs() const {
  TaskInputs inputs;
  for (const EdgePlan& edge : plan_.edges) {
    const VertexPlan& source = plan_.vertices[static_cast<size_t>(edge.source_vertex)];
    const VertexPlan& target = plan_.vertices[static_cast<size_t>(edge.target_vertex)];
    const bool forward = edge.partitioning.kind == PartitioningKind::kForward;
    for (int32_t to = 0; to < target.parallelism; ++to) {
      for (int32_t from = 0; from < source.parallelism; ++from) {
        if (!forward || from == to) inputs[task_id(target, to)].push_back(task_id(source, from));
      }
    }
  }
  return inputs;
}

void LocalExecutor::build() {
  for (const VertexPlan& vertex : plan_.vertices) {
    first_task_.push_back(places_.size());
    for (int32_t i = 0; i < vertex.parallelism; ++i) {
      places_.push_back(std::make_unique<Place>());
      places_.back()->transport =
          std::make_unique<LocalTransport>(&places_.back()->waker, &cancelled_);
    }
  }
  for (const EdgePlan& edge : plan_.edges) connect(edge);
  for (size_t v = 0; v < plan_.vertices.size(); ++v) {
    for (int32_t i = 0; i < plan_.vertices[v].parallelism; ++i) build_task(v, i);
  }
}

void LocalExecutor::connect(const EdgePlan& edge) {
  const VertexPlan& source = plan_.vertices[static_cast<size_t>(edge.source_vertex)];
  const VertexPlan& target = plan_.vertices[static_cast<size_t>(edge.target_vertex)];
  const bool forward = edge.partitioning.kind == PartitioningKind::kForward;
  for (int32_t from = 0; from < source.parallelism; ++from) {
    Place& producer = *places_[place_of(edge.source_vertex, from)];
    std::vector<Channel*> channels;
    for (int32_t to = forward ? from : 0; to < (forward ? from + 1 : target.parallelism); ++to) {
      Place& consumer = *places_[place_of(edge.target_vertex, to)];
      channels_.push_back(
          std::make_unique<Channel>(&producer.waker, &consumer.waker, channel_capacity_));
      channels.push_back(channels_.back().get());
      // All edges into a vertex are one logical input (a union), until operators with two inputs
      // exist.
      consumer.inputs.push_back({channels_.back().get(), 0});
    }
    producer.transport->add_edge(std::move(channels));
    producer.edges.push_back(
        {edge.source_operator, edge.side,
         make_partitioner(edge.partitioning, target.parallelism, target.max_parallelism, from)});
  }
}

void LocalExecutor::build_task(size_t vertex, int32_t subtask) {
  VertexPlan& plan = plan_.vertices[vertex];
  Place& place = *places_[place_of(static_cast<int32_t>(vertex), subtask)];
  const TaskInfo info{static_cast<int32_t>(vertex), plan.name, subtask, plan.parallelism,
                      plan.max_parallelism};
  const SubtaskPlan& operators = plan.subtasks[static_cast<size_t>(subtask)];
  auto chain = std::make_unique<OperatorChain>(info, operators.source, operators.nodes,
                                               std::move(place.edges), place.transport.get(),
                                               &clock_, &cancelled_);
  chain->set_state_backend(plan_.state_backend);
  std::unique_ptr<InputGate> gate;
  if (!place.inputs.empty()) gate = std::make_unique<InputGate>(place.inputs);
  tasks_.push_back(std::make_unique<Task>(std::move(chain), std::move(gate), &place.waker, &clock_,
                                          &cancelled_, static_cast<TaskListener*>(this)));
  tasks_.back()->set_suspended(&suspended_);
  const auto restored = restored_.find(task_id(plan, subtask));
  if (restored != restored_.end()) tasks_.back()->set_restored(std::move(restored->second));
}

Status LocalExecutor::start() {
  if (state() != JobState::kCreated) return Status::invalid("the job has been started already");
  build();
  restored_.clear();
  {
    const std::lock_guard lock(mutex_);
    state_ = JobState::kRunning;
    running_ = tasks_.size();
  }
  if (checkpointing_ != nullptr) {
    std::map<TaskId, TaskInfo> infos;
    for (const auto& task : tasks_)
      infos.emplace(id_of(task->chain().info()), task->chain().info());
    const Status status =
        checkpointing_->start(this, operator_infos(plan_), infos, task_inputs(), restored_id_);
    if (!status.is_ok()) {
      const std::lock_guard lock(mutex_);
      state_ = JobState::kFailed;
      running_ = 0;
      return status;
    }
  }
  return start_threads();
}

Status LocalExecutor::start_threads() {
  try {
    for (const auto& task : tasks_) threads_.emplace_back([&task] { task->run(); });
    return Status::ok();
  } catch (const std::exception& error) {
    const Status status = Status::internal("only " + std::to_string(threads_.size()) + " of " +
                                           std::to_string(tasks_.size()) +
                                           " threads could be started: " + error.what());
    fail(status);  // ends those that run
    const std::lock_guard lock(mutex_);
    running_ -= tasks_.size() - threads_.size();
    if (running_ == 0) ended_.notify_all();
    return status;
  }
}

bool LocalExecutor::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (state_ == JobState::kCreated) return false;
  if (!ended_.wait_for(lock, timeout, [this] { return running_ == 0; })) return false;
  if (!std::exchange(joined_, true)) {
    lock.unlock();
    end_job();
    lock.lock();
    ended_.notify_all();
  }
  const auto over = [this] {
    return state_ == JobState::kFinished || state_ == JobState::kFailed ||
           state_ == JobState::kCanceled;
  };
  return ended_.wait_for(lock, timeout, over);
}

// Once, by the first who sees that all tasks have ended.
void LocalExecutor::end_job() {
  for (std::thread& thread : threads_) thread.join();
  if (checkpointing_ != nullptr) {
    checkpointing_->finish_drain(state() == JobState::kRunning);
    checkpointing_->stop();
  }
  const std::lock_guard lock(mutex_);
  switch (state_) {
    case JobState::kRunning:
      state_ = JobState::kFinished;
      // The results are out; a leftover directory is no reason to call the job failed.
      if (checkpointing_ != nullptr) (void)checkpointing_->discard_all().is_ok();
      break;
    case JobState::kFailing:
      state_ = JobState::kFailed;
      break;
    case JobState::kCancelling:
      state_ = JobState::kCanceled;
      break;
    default:
      break;
  }
  if (checkpointing_ != nullptr) checkpointing_->unlock();
}

void LocalExecutor::cancel() {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != JobState::kRunning || running_ == 0) return;
    state_ = JobState::kCancelling;
  }
  stop_tasks();
}

void LocalExecutor::stop_tasks() {
  cancelled_.store(true, std::memory_order_seq_cst);
  for (const auto& place : places_) place->waker.wake();
}

JobState LocalExecutor::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Status LocalExecutor::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void LocalExecutor::trigger_checkpoint() {
  if (checkpointing_ != nullptr) checkpointing_->trigger_now();
}

std::vector<CheckpointId> LocalExecutor::completed_checkpoints() const {
  return checkpointing_ == nullptr ? std::vector<CheckpointId>() : checkpointing_->completed();
}

void LocalExecutor::acknowledged(const TaskInfo& task, const Barrier& barrier,
                                 OperatorStates state) {
  if (checkpointing_ != nullptr)
    checkpointing_->acknowledged(id_of(task), barrier.id, std::move(state));
}

void LocalExecutor::finished(const TaskInfo& task, OperatorStates final_state) {
  if (checkpointing_ != nullptr) checkpointing_->finished(id_of(task), std::move(final_state));
  task_ended();
}

void LocalExecutor::failed(const TaskInfo& /*task*/, Status status) {
  fail(std::move(status));
  task_ended();
}

void LocalExecutor::fail(Status status) {
  {
    const std::lock_guard lock(mutex_);
    // While the job is being cancelled, or has failed already, the rest is a consequence of that.
    // After the end of all tasks a checkpoint may still fail, but the job has done its work.
    if (state_ != JobState::kRunning || running_ == 0) return;
    state_ = JobState::kFailing;
    failure_ = std::move(status);
  }
  stop_tasks();
}

void LocalExecutor::task_ended() {
  // Notified under the lock: a waiter that sees 0 may destroy this object as soon as it gets the
  // lock, but it joins the threads first.
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) ended_.notify_all();
}

std::shared_ptr<Savepoint> LocalExecutor::trigger_savepoint(StorageLocation directory,
                                                            AfterSavepoint after) {
  auto savepoint = std::make_shared<Savepoint>(std::move(directory), after);
  if (state() != JobState::kRunning) {
    savepoint->finish(
        Status::invalid("the job does not run: it is " + std::string(to_string(state()))));
  } else if (checkpointing_ == nullptr) {
    savepoint->finish(Status::invalid("the job was not made for savepoints"));
  } else {
    checkpointing_->trigger_savepoint(savepoint);
  }
  return savepoint;
}

void LocalExecutor::resume(CheckpointId id) {
  for (const auto& task : tasks_) task->resume(id);
}

void LocalExecutor::suspend() {
  suspended_.store(true, std::memory_order_release);
  for (const auto& task : tasks_) task->wake();
}

void LocalExecutor::end_sources() {
  for (const auto& task : tasks_) {
    if (task->chain().has_source()) task->end_source();
  }
}

void LocalExecutor::trigger_sources(const Barrier& barrier) {
  for (const auto& task : tasks_) {
    if (task->chain().has_source()) task->trigger_checkpoint(barrier);
  }
}

void LocalExecutor::notify_completed(CheckpointId id) {
  for (const auto& task : tasks_) task->notify_checkpoint_completed(id);
}

void LocalExecutor::notify_aborted(CheckpointId id) {
  for (const auto& task : tasks_) task->abort_checkpoint(id);
}

}  // namespace penstock
