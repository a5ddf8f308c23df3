#include "state/rocksdb/write_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

namespace penstock {
namespace {

TEST(WriteQueue, AFailureStopsWhatComesAfterIt) {
  WriteQueue queue;
  std::atomic<int> done{0};
  const auto work = [&done] {
    ++done;
    return Status::ok();
  };
  const uint64_t first = queue.push(work);
  EXPECT_TRUE(queue.finish(first).is_ok());
  queue.push([] { return Status::io_error("no disk"); });
  const uint64_t last = queue.push(work);
  EXPECT_EQ(queue.finish(last).code(), StatusCode::kIoError);
  EXPECT_FALSE(queue.is_done(last));
  EXPECT_EQ(done, 1);
}

TEST(WriteQueue, AJobThatThrowsHasFailed) {
  WriteQueue queue;
  const uint64_t job = queue.push([]() -> Status { throw std::bad_alloc(); });
  const Status status = queue.finish(job);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(queue.failure().message(), status.message());
}

}  // namespace
}  // namespace penstock
