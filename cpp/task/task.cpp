#include "task/task.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>

namespace penstock {

namespace {
template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
}  // namespace

void Task::post(Letter letter) {
  {
    const std::lock_guard<std::mutex> lock(mail_mutex_);
    if (ended_) return;
    mail_.push_back(std::move(letter));
  }
  has_mail_.store(true, std::memory_order_release);
  waker_->wake();
}

void Task::trigger_checkpoint(Barrier barrier) {
  post({[this, barrier] { return take_checkpoint(barrier); }, /*any_time=*/false});
}

void Task::resume(CheckpointId id) {
  post({[this, id] {
          if (held_by_.erase(id) == 0) resumed_.insert(id);
          return Status::ok();
        },
        /*any_time=*/true});
}

void Task::end_source() {
  post({[this] {
          ending_ = true;
          return Status::ok();
        },
        /*any_time=*/true});
}

void Task::notify_checkpoint_completed(CheckpointId id) {
  post({[this, id] { return chain_->checkpoint_completed(id); }, /*any_time=*/true});
}

void Task::abort_checkpoint(CheckpointId id) {
  post({[this, id] {
          if (gate_) gate_->abort_checkpoint(id);
          return Status::ok();
        },
        /*any_time=*/true});
}

Status Task::drain_mailbox() {
  if (!has_mail_.load(std::memory_order_acquire)) return Status::ok();
  std::vector<Letter> letters;
  {
    const std::lock_guard<std::mutex> lock(mail_mutex_);
    letters.swap(mail_);
    has_mail_.store(false, std::memory_order_release);
  }
  for (Letter& letter : letters) PENSTOCK_RETURN_NOT_OK(letter.read());
  return Status::ok();
}

Status Task::drain_any_time_letters() {
  if (!has_mail_.load(std::memory_order_acquire)) return Status::ok();
  std::vector<Letter> letters;
  {
    const std::lock_guard<std::mutex> lock(mail_mutex_);
    const auto first = std::stable_partition(mail_.begin(), mail_.end(),
                                             [](const Letter& letter) { return !letter.any_time; });
    std::move(first, mail_.end(), std::back_inserter(letters));
    mail_.erase(first, mail_.end());
    has_mail_.store(!mail_.empty(), std::memory_order_release);
  }
  for (Letter& letter : letters) PENSTOCK_RETURN_NOT_OK(letter.read());
  return Status::ok();
}

void Task::close_mailbox() {
  const std::lock_guard<std::mutex> lock(mail_mutex_);
  ended_ = true;
  mail_.clear();
}

Status Task::take_checkpoint(const Barrier& barrier) {
  OperatorStates state;
  PENSTOCK_RETURN_NOT_OK(chain_->barrier(barrier, &state));
  if (barrier.hold) hold(barrier.id);
  listener_->acknowledged(chain_->info(), barrier, std::move(state));
  return Status::ok();
}

// The letter to resume may have overtaken the barrier: it may be read at any time, a trigger not.
void Task::hold(CheckpointId id) {
  if (!resumed_.contains(id)) held_by_.insert(id);
  // Barriers come in the order of their ids: those before it do not come any more.
  resumed_.erase(resumed_.begin(), resumed_.upper_bound(id));
}

void Task::run() {
  OperatorStates final_state;
  Status status;
  // The core throws nothing, but memory can run out, and libraries below it may throw: the job
  // fails, the process lives.
  try {
    chain_->set_yield([this] { return drain_any_time_letters(); });
    status = chain_->open(restored_);
    restored_.clear();
    if (status.is_ok()) status = loop();
    if (status.is_ok()) status = chain_->snapshot({{}, /*canonical=*/true}, &final_state);
  } catch (const std::exception& error) {
    status = Status::internal("task '" + chain_->info().vertex_name + "', subtask " +
                              std::to_string(chain_->info().subtask + 1) + ": " + error.what());
  }
  close_mailbox();
  Status closed = chain_->close();
  if (status.is_ok()) status = std::move(closed);
  if (status.is_ok()) {
    listener_->finished(chain_->info(), std::move(final_state));
  } else {
    listener_->failed(chain_->info(), std::move(status));
  }
}

Status Task::loop() {
  bool done = false;
  while (!done) {
    if (cancelled_->load(std::memory_order_relaxed))
      return Status::cancelled("the job was cancelled");
    PENSTOCK_RETURN_NOT_OK(drain_mailbox());
    if (!held_by_.empty() && !is_suspended()) {
      wait_for_mail();
      continue;
    }
    if (!is_suspended()) PENSTOCK_RETURN_NOT_OK(run_due_timers());
    PENSTOCK_RETURN_NOT_OK(gate_ ? gate_step(&done) : source_step(&done));
  }
  if (!is_suspended()) return chain_->end_input();
  // That the savepoint is complete was posted before the job was suspended.
  PENSTOCK_RETURN_NOT_OK(drain_mailbox());
  return chain_->leave();
}

Status Task::run_due_timers() {
  const int64_t next = chain_->next_processing_time();
  if (next == kMaxTimestamp) return Status::ok();
  const int64_t now = clock_->now_millis();
  return next <= now ? chain_->on_processing_time(now) : Status::ok();
}

void Task::wait(Waker::Ticket ticket, int64_t deadline_millis) {
  if (has_mail_.load(std::memory_order_acquire) || cancelled_->load(std::memory_order_acquire))
    return;
  deadline_millis = std::min(deadline_millis, chain_->next_processing_time());
  if (deadline_millis == kMaxTimestamp) {
    waker_->wait(ticket);
  } else {
    waker_->wait(ticket, deadline_millis - clock_->now_millis());
  }
}

void Task::wait_for_mail() {
  const Waker::Ticket ticket = waker_->prepare();
  if (has_mail_.load(std::memory_order_acquire) || cancelled_->load(std::memory_order_acquire) ||
      is_suspended()) {
    return;
  }
  waker_->wait(ticket);
}

Status Task::source_step(bool* done) {
  const Waker::Ticket ticket = waker_->prepare();
  if (is_suspended()) {
    *done = true;
    return Status::ok();
  }
  if (ending_) {
    *done = true;
    return chain_->process_watermark(Watermark{kMaxTimestamp});
  }
  PENSTOCK_ASSIGN_OR_RETURN(const Poll poll, chain_->poll_source());
  switch (poll.kind) {
    case PollKind::kMore:
      return Status::ok();
    case PollKind::kWait:
      wait(ticket, poll.wake_millis);
      return Status::ok();
    case PollKind::kEnd:
      *done = true;
      return chain_->process_watermark(Watermark{kMaxTimestamp});
  }
  return Status::internal("a source gave an unknown poll kind");
}

Status Task::gate_step(bool* done) {
  const Waker::Ticket ticket = waker_->prepare();
  PENSTOCK_ASSIGN_OR_RETURN(GateEvent event, gate_->poll());
  if (is_suspended()) {
    *done = std::holds_alternative<EndOfAllInput>(event);
    if (std::holds_alternative<Nothing>(event) && !has_mail_) waker_->wait(ticket);
    return Status::ok();
  }
  return std::visit(
      Overloaded{
          [&](Nothing) {
            wait(ticket, kMaxTimestamp);
            return Status::ok();
          },
          [&](BatchReceived& received) { return chain_->process_batch(std::move(received.batch)); },
          [&](Watermark watermark) { return chain_->process_watermark(watermark); },
          [&](WatermarkStatus status) { return chain_->process_status(status); },
          [&](const CheckpointReady& ready) { return take_checkpoint(ready.barrier); },
          [&](const CheckpointSubsumed&) { return Status::ok(); },
          [&](EndOfAllInput) {
            *done = true;
            return Status::ok();
          },
      },
      event);
}

}  // namespace penstock
