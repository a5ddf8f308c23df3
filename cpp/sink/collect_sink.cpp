#include "sink/collect_sink.h"

namespace penstock {

namespace {
constexpr std::chrono::milliseconds kCancellationCheck{50};
}

void ResultQueue::add_producer() {
  const std::lock_guard lock(mutex_);
  ++producers_;
  had_producers_ = true;
}

void ResultQueue::remove_producer() {
  const std::lock_guard lock(mutex_);
  if (--producers_ == 0) not_empty_.notify_all();
}

Status ResultQueue::push(Batch batch, const OperatorContext& context) {
  std::unique_lock lock(mutex_);
  while (!closed_ && batches_.size() >= capacity_) {
    if (context.is_cancelled())
      return Status::cancelled("cancelled while the results were not read");
    not_full_.wait_for(lock, kCancellationCheck);
  }
  if (closed_) return Status::ok();
  batches_.push_back(std::move(batch));
  not_empty_.notify_one();
  return Status::ok();
}

Result<ResultQueue::Popped> ResultQueue::pop(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return closed_ || (had_producers_ && producers_ == 0); };
  not_empty_.wait_for(lock, timeout,
                      [&] { return !batches_.empty() || !failure_.is_ok() || ended(); });
  if (!batches_.empty()) {
    Popped popped{PopKind::kBatch, std::move(batches_.front())};
    batches_.pop_front();
    not_full_.notify_one();
    return popped;
  }
  if (!failure_.is_ok()) return failure_;
  return Popped{ended() ? PopKind::kEnd : PopKind::kTimeout, {}};
}

void ResultQueue::close() {
  std::deque<Batch>
      dropped;  // freed without the lock: objects need the GIL, whose holder may want the lock
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(batches_);
  not_full_.notify_all();
  not_empty_.notify_all();
}

void ResultQueue::fail(Status status) {
  const std::lock_guard lock(mutex_);
  if (failure_.is_ok()) failure_ = std::move(status);
  not_empty_.notify_all();
}

CollectSink::CollectSink(std::shared_ptr<ResultQueue> queue) : queue_(std::move(queue)) {
  queue_->add_producer();
}

Status CollectSink::process_batch(Batch batch, Output& output) {
  (void)output;
  if (queue_ == nullptr) return Status::internal("a collect sink got a batch after it was closed");
  return queue_->push(std::move(batch), context_);
}

void CollectSink::leave() {
  if (queue_ == nullptr) return;
  queue_->remove_producer();
  queue_ = nullptr;
}

}  // namespace penstock
