// Checkpointing: carries out what the CheckpointCoordinator decides, for a job on threads of one
// process.
//
// One thread of its own: it watches the clock, sends triggers to the source tasks, writes the
// states that tasks hand over (so tasks go on while theirs is written), completes and discards
// checkpoints. Everything that happens elsewhere reaches it as an event in a queue, so the
// coordinator and the storage are touched by this thread only.
//
// The state of a task that has ended is kept and written into every later checkpoint: a source that
// had read everything must not read it again.
//
// Thread safety: start, stop and the functions named after events may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "snapshot/checkpoint_coordinator.h"
#include "snapshot/checkpoint_storage.h"
#include "snapshot/directory_lock.h"
#include "task/operator_chain.h"

namespace penstock {

struct CheckpointingOptions {
  std::string directory;
  std::string job_id;
  std::string job_name;
  CoordinatorOptions coordinator;
  // A job that has finished needs no checkpoint any more: a new run of it starts from the
  // beginning, as in Flink.
  bool discard_when_finished = true;
};

using TaskInputs = std::map<TaskId, std::vector<TaskId>>;

// What checkpointing asks of the job. Called on its own thread.
class CheckpointedJob {
 public:
  virtual ~CheckpointedJob() = default;
  virtual void trigger_sources(const Barrier& barrier) = 0;
  virtual void notify_completed(CheckpointId id) = 0;
  virtual void notify_aborted(CheckpointId id) = 0;
  virtual void fail(Status status) = 0;
};

class Checkpointing {
 public:
  // Makes the directory, proves that it can be written to, and locks it for this run. kIoError saying
  // so when it cannot be written to, kInvalidArgument when another run has it.
  static Result<std::unique_ptr<Checkpointing>> open(CheckpointingOptions options);
  ~Checkpointing() { stop(); }

  // The newest complete checkpoint of this job, if there is one.
  [[nodiscard]] Result<CheckpointStorage::Newest> newest() const {
    return storage_.newest_complete();
  }

  // `job` outlives this object or its stop(). `inputs`: the tasks that each task but the sources
  // reads from. `restored`: the checkpoint the job was started from.
  Status start(CheckpointedJob* job, std::vector<OperatorInfo> operators,
               const std::map<TaskId, TaskInfo>& tasks, const TaskInputs& inputs,
               std::optional<CheckpointId> restored);
  // Ends the thread; what is half-made is removed.
  void stop();
  // The job has finished: see CheckpointingOptions::discard_when_finished. After stop().
  Status discard_all();
  // Lets other runs of the job have the directory. After stop().
  void unlock() { lock_.release(); }

  void trigger_now();
  void acknowledged(const TaskId& task, CheckpointId id, OperatorStates state);
  void finished(const TaskId& task, OperatorStates final_state);

  // Of this run, oldest first.
  [[nodiscard]] std::vector<CheckpointId> completed() const;

 private:
  using Event = std::function<void()>;
  struct Pending {
    PendingCheckpoint files;
    std::vector<TaskFile> tasks;
  };

  Checkpointing(CheckpointingOptions options, CheckpointStorage storage, DirectoryLock lock)
      : options_(std::move(options)), storage_(std::move(storage)), lock_(std::move(lock)) {}
  void post(Event event);
  void run();
  void carry_out(CoordinatorDecisions decisions);
  void begin(const Barrier& barrier);
  void write_task(const TaskId& task, CheckpointId id, OperatorStates state);
  void store(const StoreCheckpoint& decision);
  Status complete(const StoreCheckpoint& decision, Pending* pending);
  [[nodiscard]] TaskState task_state(const TaskId& task, OperatorStates state) const;

  const CheckpointingOptions options_;
  const CheckpointStorage storage_;
  DirectoryLock lock_;
  const SystemClock clock_;
  CheckpointedJob* job_ = nullptr;
  std::vector<OperatorInfo> operators_;
  std::map<TaskId, TaskInfo> tasks_;

  // The thread's own.
  std::unique_ptr<CheckpointCoordinator> coordinator_;
  std::map<CheckpointId, Pending> pending_;
  std::map<TaskId, TaskState> final_states_;

  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  // Guarded by mutex_.
  std::deque<Event> events_;
  bool stopping_ = false;
  std::vector<CheckpointId> completed_;
};

}  // namespace penstock
