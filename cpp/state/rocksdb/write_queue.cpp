#include "state/rocksdb/write_queue.h"

#include <exception>
#include <string>
#include <utility>

namespace penstock {

namespace {

// When memory runs out, or a library below throws, the job fails and the process lives.
Status run(const WriteQueue::Job& job) {
  try {
    return job();
  } catch (const std::exception& error) {
    return Status::internal(std::string("writing state: ") + error.what());
  }
}

}  // namespace

WriteQueue::~WriteQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  worker_.join();
}

uint64_t WriteQueue::push(Job job) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    number = ++pushed_;
  }
  changed_.notify_all();
  return number;
}

Status WriteQueue::finish(uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_done(number) || !failure_.is_ok(); });
  return failure_;
}

Status WriteQueue::finish_all() {
  uint64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    last = pushed_;
  }
  return finish(last);
}

Status WriteQueue::read_failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void WriteQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    Status status;
    if (failure_.is_ok()) {
      lock.unlock();
      status = run(job);
      job = nullptr;  // what it holds goes before anybody is told that it is done
      lock.lock();
    }
    if (failure_.is_ok() && status.is_ok()) {
      done_.fetch_add(1, std::memory_order_acq_rel);
    } else if (failure_.is_ok()) {
      failure_ = status;
      failed_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
  }
}

}  // namespace penstock
