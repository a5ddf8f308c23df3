// ResultQueue: a job's results on their way to the client's thread. CollectSink: the operator that
// fills it.
//
// Bounded, so a client that reads slowly slows the job down. It ends when the last CollectSink has
// closed: all sinks of a job must exist before the first one runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "operators/operator.h"

namespace penstock {

// Thread safety: every method may be called from any thread.
class ResultQueue {
 public:
  static constexpr size_t kDefaultCapacity = 64;  // batches
  enum class PopKind { kBatch, kTimeout, kEnd };
  struct Popped {
    PopKind kind = PopKind::kTimeout;
    Batch batch;
  };

  explicit ResultQueue(size_t capacity = kDefaultCapacity) : capacity_(capacity) {}

  void add_producer();
  void remove_producer();
  // Waits for room. Drops the batch when nobody reads any more; kCancelled when the job is.
  Status push(Batch batch, const OperatorContext& context);
  // What was pushed before an end or a failure comes first.
  Result<Popped> pop(std::chrono::milliseconds timeout);
  // The reader has gone: nobody waits from now on.
  void close();
  // The job failed: the reader gets `status` after what is there already. The first failure wins.
  void fail(Status status);

 private:
  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  // All guarded by mutex_.
  std::deque<Batch> batches_;
  int producers_ = 0;
  bool had_producers_ = false;
  bool closed_ = false;
  Status failure_;
};

class CollectSink final : public Operator {
 public:
  // Counts as a producer from now on until close() or its end.
  explicit CollectSink(std::shared_ptr<ResultQueue> queue);
  ~CollectSink() override { leave(); }
  CollectSink(const CollectSink&) = delete;
  CollectSink& operator=(const CollectSink&) = delete;

  Status process_batch(Batch batch, Output& output) override;
  Status close() override {
    leave();
    return Status::ok();
  }

 private:
  void leave();

  std::shared_ptr<ResultQueue> queue_;  // null after leave()
};

}  // namespace penstock
