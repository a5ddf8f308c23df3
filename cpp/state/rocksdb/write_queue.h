// WriteQueue: what is to be written to a database, in order, by a thread of its own.
//
// Everything that changes the database goes through here, and so does what has to see it as it is
// at one point in that order: a snapshot. A job that fails, or throws, stops the queue for good: what comes
// after it would build on what is not there.
//
// Thread safety: all methods may be called from any thread. A job must not call finish(), nor own
// the last reference to what owns the queue.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "common/status.h"

namespace penstock {

class WriteQueue {
 public:
  using Job = std::function<Status()>;

  WriteQueue() : worker_([this] { work(); }) {}
  // Drops the jobs that have not begun.
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // The number of the job, for the other calls.
  uint64_t push(Job job);
  [[nodiscard]] bool is_done(uint64_t number) const {
    return done_.load(std::memory_order_acquire) >= number;
  }
  // Waits until the job and all before it are done. The failure that stopped the queue, if one did.
  Status finish(uint64_t number);
  // The same of everything there is.
  Status finish_all();
  // Ok while nothing has failed. Cheap.
  [[nodiscard]] Status failure() const {
    return failed_.load(std::memory_order_acquire) ? read_failure() : Status::ok();
  }

 private:
  void work();
  [[nodiscard]] Status read_failure() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;   // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  uint64_t pushed_ = 0;    // guarded by mutex_
  Status failure_;         // guarded by mutex_
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> done_{0};
  std::thread worker_;  // last: it uses all of the above
};

}  // namespace penstock
