// WriterThreads: the threads that write state to storage, so that tasks and the coordinator go on
// meanwhile.
//
// They run at a lower priority than tasks: a snapshot takes the time that is left over, and some.
//
// Thread safety: run() from any thread; start() and stop() from the owner's.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace penstock {

class WriterThreads {
 public:
  using Work = std::function<void()>;  // throws nothing

  WriterThreads() = default;
  ~WriterThreads() { stop(); }
  WriterThreads(const WriterThreads&) = delete;
  WriterThreads& operator=(const WriterThreads&) = delete;

  void start(size_t count);
  // What runs is finished, what waits is dropped.
  void stop();
  // In the order of the calls, as far as there are threads. Dropped after stop().
  void run(Work work);

 private:
  void loop();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable woken_;
  // Guarded by mutex_.
  std::deque<Work> waiting_;
  bool stopping_ = false;
};

}  // namespace penstock
