#include "task/checkpointing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace penstock {
namespace {

const TaskId kTask{"source", 0};

// Cannot be asked for a checkpoint.
class ThrowingJob final : public CheckpointedJob {
 public:
  void trigger_sources(const Barrier&) override { throw std::runtime_error("thrown"); }
  void resume(CheckpointId) override {}
  void suspend() override {}
  void end_sources() override {}
  void notify_completed(CheckpointId) override {}
  void notify_aborted(CheckpointId) override {}
  void fail(Status status) override {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(status);
    failed_.notify_all();
  }

  Status wait_for_failure() {
    std::unique_lock lock(mutex_);
    failed_.wait_for(lock, std::chrono::seconds(30), [this] { return !failure_.is_ok(); });
    return failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable failed_;
  Status failure_;
};

TEST(Checkpointing, WhatIsThrownOnItsThreadFailsTheJobAndNotTheProcess) {
  const auto directory = std::filesystem::temp_directory_path() /
                         ("penstock-checkpointing-" + std::to_string(::getpid()));
  auto checkpointing = Checkpointing::open({{directory, nullptr}, "job", "a job", {}, true, ""});
  ASSERT_TRUE(checkpointing.is_ok()) << checkpointing.status().message();
  ThrowingJob job;
  ASSERT_TRUE(checkpointing.value()
                  ->start(&job, {}, {{kTask, TaskInfo{0, "source", 0, 1, 128}}}, {}, {})
                  .is_ok());
  checkpointing.value()->trigger_now();
  EXPECT_EQ(job.wait_for_failure().message(), "checkpointing: thrown");
  checkpointing.value()->stop();
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace penstock
