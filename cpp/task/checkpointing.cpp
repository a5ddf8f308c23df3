#include "task/checkpointing.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

namespace penstock {

Result<std::unique_ptr<Checkpointing>> Checkpointing::open(CheckpointingOptions options) {
  PENSTOCK_ASSIGN_OR_RETURN(CheckpointStorage storage,
                            CheckpointStorage::open(options.directory, options.job_id));
  FileSystem* const files = local_file_system();
  const std::string probe = storage.job_directory() + "/.writable";
  Status status = files->create_directories(storage.job_directory());
  if (status.is_ok()) status = write_file(files, probe, "");
  if (status.is_ok()) status = files->remove_all(probe);
  if (!status.is_ok()) {
    return status.with_context("the checkpoint directory '" + options.directory +
                               "' cannot be written to");
  }
  PENSTOCK_ASSIGN_OR_RETURN(DirectoryLock lock, DirectoryLock::acquire(storage.job_directory()));
  return std::unique_ptr<Checkpointing>(
      new Checkpointing(std::move(options), std::move(storage), std::move(lock)));
}

Status Checkpointing::start(CheckpointedJob* job, std::vector<OperatorInfo> operators,
                            const std::map<TaskId, TaskInfo>& tasks, const TaskInputs& inputs,
                            std::optional<CheckpointId> restored) {
  job_ = job;
  operators_ = std::move(operators);
  tasks_ = tasks;
  PENSTOCK_RETURN_NOT_OK(storage_.remove_leftovers());
  // Above everything that is there, also above what is damaged: no id is ever used twice.
  PENSTOCK_ASSIGN_OR_RETURN(const CheckpointId highest, storage_.highest_id());
  const int64_t last = std::max(highest.value, restored.value_or(CheckpointId{0}).value);
  std::vector<TaskId> ids;
  for (const auto& [id, info] : tasks) ids.push_back(id);
  coordinator_ = std::make_unique<CheckpointCoordinator>(options_.coordinator, &clock_, ids,
                                                         CheckpointId{last + 1});
  for (const auto& [task, from] : inputs) coordinator_->set_inputs(task, from);
  PENSTOCK_ASSIGN_OR_RETURN(const CheckpointStorage::Listing listing, storage_.list_completed());
  for (const CheckpointMetadata& metadata : listing.completed) {
    if (metadata.job_id == options_.job_id) coordinator_->add_completed(metadata.checkpoint_id);
  }
  thread_ = std::thread([this] { run(); });
  return Status::ok();
}

void Checkpointing::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
  pending_.clear();
}

Status Checkpointing::discard_all() {
  if (!options_.discard_when_finished) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(const auto discarded, storage_.retain(0));
  return Status::ok();
}

std::vector<CheckpointId> Checkpointing::completed() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

void Checkpointing::post(Event event) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  woken_.notify_all();
}

void Checkpointing::trigger_now() {
  post([this] { carry_out(coordinator_->trigger_now()); });
}

void Checkpointing::acknowledged(const TaskId& task, CheckpointId id, OperatorStates state) {
  // std::function wants something that can be copied.
  auto shared = std::make_shared<OperatorStates>(std::move(state));
  post([this, task, id, shared] { write_task(task, id, std::move(*shared)); });
}

void Checkpointing::finished(const TaskId& task, OperatorStates final_state) {
  auto shared = std::make_shared<OperatorStates>(std::move(final_state));
  post([this, task, shared] {
    for (auto& [uid, operator_state] : *shared) {
      Status status = operator_state.materialise();
      if (!status.is_ok()) return job_->fail(std::move(status));
    }
    final_states_.insert_or_assign(task, task_state(task, std::move(*shared)));
    carry_out(coordinator_->task_finished(task));
  });
}

void Checkpointing::run() {
  while (true) {
    std::deque<Event> events;
    {
      std::unique_lock lock(mutex_);
      const auto ready = [this] { return stopping_ || !events_.empty(); };
      const int64_t next = coordinator_->next_tick_millis();
      if (next == kMaxTimestamp) {
        woken_.wait(lock, ready);
      } else {
        const int64_t span = std::clamp<int64_t>(next - clock_.now_millis(), 0, 3'600'000);
        woken_.wait_for(lock, std::chrono::milliseconds(span), ready);
      }
      if (stopping_) return;
      events.swap(events_);
    }
    // As in Task::run: when memory runs out the job fails, the process lives.
    try {
      for (Event& event : events) event();
      carry_out(coordinator_->tick());
    } catch (const std::exception& error) {
      job_->fail(Status::internal(std::string("checkpointing: ") + error.what()));
    }
  }
}

void Checkpointing::carry_out(CoordinatorDecisions decisions) {
  for (CoordinatorDecision& decision : decisions) {
    std::visit(
        [this](auto& what) {
          using Decision = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<Decision, TriggerCheckpoint>) {
            begin(what.barrier);
          } else if constexpr (std::is_same_v<Decision, StoreCheckpoint>) {
            store(what);
          } else if constexpr (std::is_same_v<Decision, NotifyCheckpointComplete>) {
            {
              const std::lock_guard lock(mutex_);
              completed_.push_back(what.id);
            }
            job_->notify_completed(what.id);
          } else if constexpr (std::is_same_v<Decision, AbortCheckpoint>) {
            pending_.erase(what.id);
            job_->notify_aborted(what.id);
          } else if constexpr (std::is_same_v<Decision, DiscardCheckpoint>) {
            // One too many does no harm; the next discard, or a person, removes it.
            (void)storage_.discard(what.id).is_ok();
          } else {
            job_->fail(std::move(what.status));
          }
        },
        decision);
  }
}

void Checkpointing::begin(const Barrier& barrier) {
  auto files = storage_.begin(barrier.id);
  if (!files.is_ok()) {
    carry_out(coordinator_->store_failed(barrier.id, files.status()));
    return;
  }
  pending_.emplace(barrier.id, Pending{std::move(files).value(), {}});
  job_->trigger_sources(barrier);
}

TaskState Checkpointing::task_state(const TaskId& task, OperatorStates state) const {
  const TaskInfo& info = tasks_.at(task);
  TaskState out{task, info.parallelism, info.max_parallelism, {}};
  for (auto& [uid, operator_state] : state)
    out.operators.push_back({uid, std::move(operator_state)});
  return out;
}

void Checkpointing::write_task(const TaskId& task, CheckpointId id, OperatorStates state) {
  const auto pending = pending_.find(id);
  if (pending == pending_.end()) return;  // given up meanwhile
  const auto file = pending->second.files.write_task(task_state(task, std::move(state)));
  if (!file.is_ok()) {
    carry_out(coordinator_->decline(id, task, file.status().message()));
    return;
  }
  pending->second.tasks.push_back(std::move(file).value());
  carry_out(coordinator_->acknowledge(id, task));
}

void Checkpointing::store(const StoreCheckpoint& decision) {
  auto pending = pending_.extract(decision.id);
  const Status status = complete(decision, &pending.mapped());
  carry_out(status.is_ok() ? coordinator_->stored(decision.id)
                           : coordinator_->store_failed(decision.id, status));
}

Status Checkpointing::complete(const StoreCheckpoint& decision, Pending* pending) {
  CheckpointMetadata metadata;
  metadata.job_id = options_.job_id;
  metadata.job_name = options_.job_name;
  metadata.checkpoint_id = decision.id;
  metadata.trigger_millis = decision.trigger_millis;
  metadata.operators = operators_;
  metadata.finished_tasks = decision.finished_tasks;
  for (const TaskId& task : decision.finished_tasks) {
    PENSTOCK_ASSIGN_OR_RETURN(TaskFile file, pending->files.write_task(final_states_.at(task)));
    pending->tasks.push_back(std::move(file));
  }
  metadata.tasks = std::move(pending->tasks);
  return pending->files.complete(metadata);
}

}  // namespace penstock
