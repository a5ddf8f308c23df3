#include "task/writer_threads.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace penstock {

namespace {

constexpr int kNice = 5;  // a third of a task's share when the machine is full

// On Linux a thread has a priority of its own. Where that is not so nothing is lost.
void step_back() {
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  (void)::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + kNice);
}

}  // namespace

void WriterThreads::start(size_t count) {
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { loop(); });
}

void WriterThreads::stop() {
  std::deque<Work> dropped;  // what it holds may take a while to go: not under the lock
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
  }
  woken_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WriterThreads::run(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    waiting_.push_back(std::move(work));
  }
  woken_.notify_one();
}

void WriterThreads::loop() {
  step_back();
  while (true) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace penstock
