#include "task/checkpointing.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

namespace penstock {

namespace {

constexpr size_t kWriters = 2;

Status check_writable(FileSystem* files, const std::string& directory) {
  const std::string probe = directory + "/.writable";
  PENSTOCK_RETURN_NOT_OK(files->create_directories(directory));
  PENSTOCK_RETURN_NOT_OK(write_file(files, probe, "writable"));
  return files->remove_all(probe);
}

}  // namespace

Result<std::unique_ptr<Checkpointing>> Checkpointing::open(CheckpointingOptions options) {
  std::optional<CheckpointStorage> storage;
  std::optional<CheckpointStorage> copies;
  DirectoryLock lock;
  if (!options.directory.path.empty()) {
    FileSystem* const files = options.directory.file_system();
    PENSTOCK_ASSIGN_OR_RETURN(
        storage, CheckpointStorage::open(options.directory.path, options.job_id, files));
    const Status writable = check_writable(files, storage->job_directory());
    if (!writable.is_ok()) {
      return writable.with_context("the checkpoint directory '" + options.directory.path +
                                   "' cannot be written to");
    }
    if (files->is_local()) {
      PENSTOCK_ASSIGN_OR_RETURN(lock, DirectoryLock::acquire(storage->job_directory()));
    }
    if (!options.local_directory.empty()) {
      PENSTOCK_ASSIGN_OR_RETURN(copies,
                                CheckpointStorage::open(options.local_directory, options.job_id));
    }
  }
  return std::unique_ptr<Checkpointing>(new Checkpointing(std::move(options), std::move(storage),
                                                          std::move(copies), std::move(lock)));
}

Result<CheckpointStorage::Newest> Checkpointing::newest() const {
  if (!storage_) return Status::invalid("the job has no checkpoint directory");
  return storage_->newest_complete(copies_ ? &*copies_ : nullptr);
}

// Gives the greatest number that was ever used.
Result<CheckpointId> Checkpointing::prepare_storage() {
  if (!storage_) return CheckpointId{0};
  PENSTOCK_RETURN_NOT_OK(storage_->remove_leftovers());
  if (copies_) (void)copies_->remove_leftovers().is_ok();
  return storage_->highest_id();
}

Status Checkpointing::start(CheckpointedJob* job, std::vector<OperatorInfo> operators,
                            const std::map<TaskId, TaskInfo>& tasks, const TaskInputs& inputs,
                            std::optional<CheckpointId> restored) {
  job_ = job;
  operators_ = std::move(operators);
  tasks_ = tasks;
  // Above everything that is there, also above what is damaged: no id is ever used twice.
  PENSTOCK_ASSIGN_OR_RETURN(const CheckpointId highest, prepare_storage());
  const int64_t last = std::max(highest.value, restored.value_or(CheckpointId{0}).value);
  std::vector<TaskId> ids;
  for (const auto& [id, info] : tasks) ids.push_back(id);
  CoordinatorOptions options = options_.coordinator;
  if (!storage_) options.interval_millis = kMaxTimestamp;
  coordinator_ =
      std::make_unique<CheckpointCoordinator>(options, &clock_, ids, CheckpointId{last + 1});
  for (const auto& [task, from] : inputs) coordinator_->set_inputs(task, from);
  if (storage_) {
    PENSTOCK_ASSIGN_OR_RETURN(const CheckpointStorage::Listing listing, storage_->list_completed());
    for (const CheckpointMetadata& metadata : listing.completed) {
      if (metadata.job_id == options_.job_id) coordinator_->add_completed(metadata.checkpoint_id);
    }
  }
  writers_.start(std::min(kWriters, tasks.size()));
  thread_ = std::thread([this] { run(); });
  return Status::ok();
}

void Checkpointing::stop() {
  std::set<std::shared_ptr<Savepoint>> unfinished;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    unfinished.swap(unfinished_savepoints_);
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
  writers_.stop();
  pending_.clear();
  for (const auto& savepoint : unfinished) {
    savepoint->finish(Status::cancelled("the job ended before the savepoint was complete"));
  }
}

Status Checkpointing::discard_all() {
  if (!options_.discard_when_finished || !storage_) return Status::ok();
  if (copies_) (void)copies_->retain(0).is_ok();
  PENSTOCK_ASSIGN_OR_RETURN(const auto discarded, storage_->retain(0));
  return Status::ok();
}

std::vector<CheckpointId> Checkpointing::completed() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

void Checkpointing::post(Event event) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    events_.push_back(std::move(event));
  }
  woken_.notify_all();
}

void Checkpointing::trigger_now() {
  if (storage_) post([this] { carry_out(coordinator_->trigger_now()); });
}

void Checkpointing::acknowledged(const TaskId& task, CheckpointId id, OperatorStates state) {
  // std::function wants something that can be copied.
  auto shared = std::make_shared<OperatorStates>(std::move(state));
  post([this, task, id, shared] { write_task(task, id, std::move(*shared)); });
}

void Checkpointing::finished(const TaskId& task, OperatorStates final_state) {
  auto shared = std::make_shared<OperatorStates>(std::move(final_state));
  post([this, task, shared] {
    final_states_.insert_or_assign(
        task, std::make_shared<const TaskState>(task_state(task, std::move(*shared))));
    carry_out(coordinator_->task_finished(task));
    write_drained_if_all_ended();
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
            completed(what.id);
          } else if constexpr (std::is_same_v<Decision, AbortCheckpoint>) {
            aborted(what);
          } else if constexpr (std::is_same_v<Decision, DiscardCheckpoint>) {
            discard(what.id);
          } else {
            job_->fail(std::move(what.status));
          }
        },
        decision);
  }
}

void Checkpointing::completed(CheckpointId id) {
  {
    const std::lock_guard lock(mutex_);
    completed_.push_back(id);
  }
  job_->notify_completed(id);
}

void Checkpointing::aborted(const AbortCheckpoint& decision) {
  pending_.erase(decision.id);
  job_->notify_aborted(decision.id);
  savepoint_done(decision.id, Status::io_error("the savepoint failed: " + decision.reason));
}

void Checkpointing::discard(CheckpointId id) {
  // One too many does no harm; the next discard, or a person, removes it.
  (void)storage_->discard(id).is_ok();
}

TaskState Checkpointing::task_state(const TaskId& task, OperatorStates state) const {
  const TaskInfo& info = tasks_.at(task);
  TaskState out{task, info.parallelism, info.max_parallelism, {}};
  for (auto& [uid, operator_state] : state)
    out.operators.push_back({uid, std::move(operator_state)});
  return out;
}

}  // namespace penstock
