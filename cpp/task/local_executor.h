// LocalExecutor: runs a JobPlan on threads of this process, one per subtask, with channels between
// them.
//
//   start() -> tasks run -> all ended -> wait() gives true; state() says how it went
//
// The first failure wins: it cancels all other tasks, and whatever they report while they are being
// cancelled is ignored. cancel() always ends the job: tasks look at the flag between two batches,
// and whoever sleeps is woken.
//
// Ownership: owns tasks, channels, wakers and the checkpointing. Thread safety: everything but
// add_* and start() may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "task/checkpointing.h"
#include "task/job_plan.h"
#include "task/local_transport.h"
#include "task/task.h"

namespace penstock {

enum class JobState { kCreated, kRunning, kFailing, kCancelling, kFinished, kFailed, kCanceled };
const char* to_string(JobState state);

class LocalExecutor final : private TaskListener, private CheckpointedJob {
 public:
  static Result<std::unique_ptr<LocalExecutor>> create(
      JobPlan plan, size_t channel_capacity = Channel::kDefaultCapacity);
  // Cancels what still runs and waits for it.
  ~LocalExecutor() override;

  // Before start(). The job's checkpoints, and from which one it starts.
  Status set_checkpointing(CheckpointingOptions options);
  struct Restored {
    std::optional<CheckpointId> id;
    std::vector<SkippedCheckpoint> skipped;
  };
  Result<Restored> restore_newest(bool ignore_unclaimed = false);
  // `ignore_unclaimed`: state of operators that the job does not have is left behind.
  Result<CheckpointId> restore_from(const StorageLocation& path, bool ignore_unclaimed = false);

  Status start();
  // True when all tasks have ended and nothing of the job runs any more.
  bool wait(std::chrono::milliseconds timeout);
  void cancel();

  [[nodiscard]] JobState state() const;
  // What failed the job; OK when nothing did.
  [[nodiscard]] Status failure() const;
  void trigger_checkpoint();
  // A savepoint under `directory`, self-contained. It fails when the job does not run (any more).
  std::shared_ptr<Savepoint> trigger_savepoint(StorageLocation directory, AfterSavepoint after);
  [[nodiscard]] std::vector<CheckpointId> completed_checkpoints() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Task>>& tasks() const { return tasks_; }

 private:
  LocalExecutor(JobPlan plan, size_t channel_capacity)
      : plan_(std::move(plan)), channel_capacity_(channel_capacity) {}
  void build();
  void connect(const EdgePlan& edge);
  void build_task(size_t vertex, int32_t subtask);
  Status start_threads();
  void stop_tasks();
  void task_ended();
  void end_job();
  [[nodiscard]] size_t place_of(int32_t vertex, int32_t subtask) const {
    return first_task_[static_cast<size_t>(vertex)] + static_cast<size_t>(subtask);
  }
  [[nodiscard]] TaskId id_of(const TaskInfo& task) const;
  [[nodiscard]] TaskInputs task_inputs() const;

  // TaskListener, on the tasks' threads.
  void acknowledged(const TaskInfo& task, const Barrier& barrier, OperatorStates state) override;
  void finished(const TaskInfo& task, OperatorStates final_state) override;
  void failed(const TaskInfo& task, Status status) override;
  // CheckpointedJob, on the checkpointing's thread.
  void trigger_sources(const Barrier& barrier) override;
  void resume(CheckpointId id) override;
  void suspend() override;
  void end_sources() override;
  void notify_completed(CheckpointId id) override;
  void notify_aborted(CheckpointId id) override;
  void fail(Status status) override;

  // One per task, in the order of the vertices; outlives the task.
  struct Place {
    Waker waker;
    std::vector<GateChannel> inputs;
    std::unique_ptr<LocalTransport> transport;
    std::vector<ChainEdgeSpec> edges;
  };

  JobPlan plan_;
  const size_t channel_capacity_;
  const SystemClock clock_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> suspended_{false};
  std::vector<size_t> first_task_;  // of each vertex
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::thread> threads_;
  std::unique_ptr<Checkpointing> checkpointing_;
  std::optional<CheckpointId> restored_id_;
  std::map<TaskId, OperatorStates> restored_;

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  // Guarded by mutex_.
  JobState state_ = JobState::kCreated;
  Status failure_;
  size_t running_ = 0;
  bool joined_ = false;
};

}  // namespace penstock
