// Checkpointing: carries out what the CheckpointCoordinator decides, for a job on threads of one
// process; takes savepoints.
//
// One thread of its own watches the clock, sends triggers to the source tasks, and discards
// checkpoints. Everything that happens elsewhere reaches it as an event in a queue, so the
// coordinator is touched by this thread only. Other threads (writer_threads.h) write the states that
// tasks hand over, while the tasks go on, and complete checkpoints; what came of it is an event.
//
// The state of a task that has ended is kept and written into every later checkpoint: a source that
// had read everything must not read it again.
//
// Each checkpoint may also be kept on the machine itself (options.local_directory), to be read from
// there when the job starts again on the same machine. A failure of that copy fails nothing.
//
// Thread safety: start, stop and the functions named after events may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "snapshot/checkpoint_coordinator.h"
#include "snapshot/checkpoint_storage.h"
#include "snapshot/directory_lock.h"
#include "task/operator_chain.h"
#include "task/savepoint.h"
#include "task/writer_threads.h"

namespace penstock {

struct CheckpointingOptions {
  StorageLocation directory;  // path empty: no checkpoints, savepoints only
  std::string job_id;
  std::string job_name;
  CoordinatorOptions coordinator;
  // A job that has finished needs no checkpoint any more: a new run of it starts from the
  // beginning, as in Flink.
  bool discard_when_finished = true;
  std::string local_directory;  // for copies of the newest checkpoint; empty: none
};

using TaskInputs = std::map<TaskId, std::vector<TaskId>>;

// What checkpointing asks of the job. Called on its own thread.
class CheckpointedJob {
 public:
  virtual ~CheckpointedJob() = default;
  // After a barrier with `hold`, tasks do nothing until resume() or suspend().
  virtual void trigger_sources(const Barrier& barrier) = 0;
  virtual void resume(CheckpointId id) = 0;
  // The job ends where it is: nothing fires, no end of input.
  virtual void suspend() = 0;
  // As if the input had come to its end.
  virtual void end_sources() = 0;
  virtual void notify_completed(CheckpointId id) = 0;
  virtual void notify_aborted(CheckpointId id) = 0;
  virtual void fail(Status status) = 0;
};

class Checkpointing {
 public:
  // Makes the directory, proves that it can be written to, and locks it for this run (if it is on
  // this machine). kIoError saying so when it cannot be written to, kInvalidArgument when another run
  // has it.
  static Result<std::unique_ptr<Checkpointing>> open(CheckpointingOptions options);
  ~Checkpointing() { stop(); }

  // The newest complete checkpoint of this job, if there is one.
  [[nodiscard]] Result<CheckpointStorage::Newest> newest() const;

  // `job` outlives this object or its stop(). `inputs`: the tasks that each task but the sources
  // reads from. `restored`: the checkpoint the job was started from.
  Status start(CheckpointedJob* job, std::vector<OperatorInfo> operators,
               const std::map<TaskId, TaskInfo>& tasks, const TaskInputs& inputs,
               std::optional<CheckpointId> restored);
  // All tasks have ended: waits for the savepoint of a job that was to be drained, if it `succeeded`.
  void finish_drain(bool succeeded);
  // Ends the threads; what is half-made is removed, savepoints that are not done fail.
  void stop();
  // The job has finished: see CheckpointingOptions::discard_when_finished. After stop().
  Status discard_all();
  // Lets other runs of the job have the directory. After stop().
  void unlock() { lock_.release(); }

  void trigger_now();
  void trigger_savepoint(const std::shared_ptr<Savepoint>& savepoint);
  void acknowledged(const TaskId& task, CheckpointId id, OperatorStates state);
  void finished(const TaskId& task, OperatorStates final_state);

  // Of this run, oldest first.
  [[nodiscard]] std::vector<CheckpointId> completed() const;

 private:
  using Event = std::function<void()>;
  using FinalState = std::shared_ptr<const TaskState>;
  // Writers hold it too, so it removes itself only when the last of them has let go.
  struct Pending {
    explicit Pending(PendingCheckpoint main) : files(std::move(main)) {}
    PendingCheckpoint files;
    std::optional<PendingCheckpoint> copy;
    std::atomic<bool> copy_failed{false};
    std::vector<TaskFile> tasks;  // of Checkpointing's thread, then of complete()
  };
  using PendingPtr = std::shared_ptr<Pending>;

  Checkpointing(CheckpointingOptions options, std::optional<CheckpointStorage> storage,
                std::optional<CheckpointStorage> copies, DirectoryLock lock)
      : options_(std::move(options)),
        storage_(std::move(storage)),
        copies_(std::move(copies)),
        lock_(std::move(lock)) {}
  Result<CheckpointId> prepare_storage();
  void post(Event event);
  void run();
  void carry_out(CoordinatorDecisions decisions);
  void begin(Barrier barrier);
  Result<PendingPtr> begin_files(const Barrier& barrier);
  void write_task(const TaskId& task, CheckpointId id, OperatorStates state);
  void written(const TaskId& task, CheckpointId id, const Result<TaskFile>& file);
  void store(const StoreCheckpoint& decision);
  void stored(CheckpointId id, const Result<std::string>& path);
  void completed(CheckpointId id);
  void aborted(const AbortCheckpoint& decision);
  void discard(CheckpointId id);
  void begin_savepoint(const std::shared_ptr<Savepoint>& savepoint);
  void savepoint_done(CheckpointId id, Result<std::string> path);
  void write_drained_if_all_ended();
  Result<std::string> write_drained(const Savepoint& savepoint);
  [[nodiscard]] TaskState task_state(const TaskId& task, OperatorStates state) const;
  // On the writers' threads.
  static Result<TaskFile> write_files(Pending* pending, const TaskState& state);
  Result<std::string> complete(const StoreCheckpoint& decision, Pending* pending,
                               const std::vector<FinalState>& final_states);

  const CheckpointingOptions options_;
  const std::optional<CheckpointStorage> storage_;
  const std::optional<CheckpointStorage> copies_;  // on this machine
  DirectoryLock lock_;
  const SystemClock clock_;
  CheckpointedJob* job_ = nullptr;
  std::vector<OperatorInfo> operators_;
  std::map<TaskId, TaskInfo> tasks_;

  // The thread's own.
  std::unique_ptr<CheckpointCoordinator> coordinator_;
  std::map<CheckpointId, PendingPtr> pending_;
  std::map<CheckpointId, std::shared_ptr<Savepoint>> savepoints_;
  std::map<TaskId, FinalState> final_states_;

  std::thread thread_;
  WriterThreads writers_;
  std::mutex final_states_mutex_;  // held while one is read out: one thread at a time may
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  // Guarded by mutex_.
  std::deque<Event> events_;
  bool stopping_ = false;
  std::vector<CheckpointId> completed_;
  std::set<std::shared_ptr<Savepoint>> unfinished_savepoints_;
  std::shared_ptr<Savepoint> drain_;
};

}  // namespace penstock
