// Task: one parallel subtask. Gate (or source) -> chain -> writers, owned by one thread.
//
// Everything from outside (checkpoint triggers, completions, cancellation) enters as a letter in
// the mailbox, which the thread reads between two batches; the data path takes no lock. The task
// knows neither who moves its elements (Transport) nor who runs it: the local executor calls run()
// on a thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "exchange/waker.h"
#include "input/input_gate.h"
#include "task/operator_chain.h"

namespace penstock {

// How the task answers. Called on the task's thread.
class TaskListener {
 public:
  virtual ~TaskListener() = default;
  virtual void acknowledged(const TaskInfo& task, const Barrier& barrier, OperatorStates state) = 0;
  // `final_state`: what every later checkpoint holds for this task.
  virtual void finished(const TaskInfo& task, OperatorStates final_state) = 0;
  virtual void failed(const TaskInfo& task, Status status) = 0;
};

class Task {
 public:
  // `gate` is null iff the chain has a source. All pointers outlive the task.
  Task(std::unique_ptr<OperatorChain> chain, std::unique_ptr<InputGate> gate, Waker* waker,
       const Clock* clock, std::atomic<bool>* cancelled, TaskListener* listener)
      : chain_(std::move(chain)),
        gate_(std::move(gate)),
        waker_(waker),
        clock_(clock),
        cancelled_(cancelled),
        listener_(listener) {}

  void set_restored(OperatorStates state) { restored_ = std::move(state); }

  // Until the input ends, an error, or cancellation. Reports to the listener; closes the operators
  // in any case.
  void run();

  // From any thread.
  void trigger_checkpoint(Barrier barrier);
  // Ends what the barrier `id` with `hold` has begun, or will when it arrives.
  void resume(CheckpointId id);
  // A source ends as if it had no more data.
  void end_source();
  // Set before run(): once true, the job ends where it is. Nothing is processed or fired any more;
  // a source ends at once, others when their inputs have.
  void set_suspended(const std::atomic<bool>* suspended) { suspended_ = suspended; }
  void notify_checkpoint_completed(CheckpointId id);
  void abort_checkpoint(CheckpointId id);
  void wake() { waker_->wake(); }
  [[nodiscard]] const OperatorChain& chain() const { return *chain_; }

 private:
  struct Letter {
    std::function<Status()> read;
    // It may be read while an operator is in the middle of an element (OperatorContext::yield); a
    // trigger may not: what is on its way through the chain would be in no checkpoint.
    bool any_time = false;
  };
  void post(Letter letter);
  Status drain_mailbox();
  Status drain_any_time_letters();
  // Letters to a task that has ended are dropped: nobody reads them, and others may run on for ever.
  void close_mailbox();
  Status loop();
  Status source_step(bool* done);
  Status gate_step(bool* done);
  Status take_checkpoint(const Barrier& barrier);
  void hold(CheckpointId id);
  Status run_due_timers();
  [[nodiscard]] bool is_suspended() const {
    return suspended_ != nullptr && suspended_->load(std::memory_order_acquire);
  }
  // Sleeps until woken or `deadline_millis` of the clock, unless there is mail already.
  void wait(Waker::Ticket ticket, int64_t deadline_millis);
  void wait_for_mail();

  std::unique_ptr<OperatorChain> chain_;
  std::unique_ptr<InputGate> gate_;
  Waker* waker_;
  const Clock* clock_;
  std::atomic<bool>* cancelled_;
  TaskListener* listener_;
  OperatorStates restored_;
  const std::atomic<bool>* suspended_ = nullptr;
  std::set<CheckpointId> held_by_;
  std::set<CheckpointId> resumed_;  // whose barriers have not been here
  bool ending_ = false;             // a source that is to end

  std::atomic<bool> has_mail_{false};
  std::mutex mail_mutex_;
  // Guarded by mail_mutex_.
  std::vector<Letter> mail_;
  bool ended_ = false;
};

}  // namespace penstock
