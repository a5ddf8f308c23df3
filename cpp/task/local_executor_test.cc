#include "task/local_executor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <thread>

#include "task/task_testing.h"

namespace penstock {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::edge;
using testing::node;
using testing::source_vertex;
using testing::Sums;
using testing::vertex;

constexpr int64_t kRows = 100'000;
constexpr int64_t kTotal = kRows * (kRows - 1) / 2;

Partitioning hash_by_id() { return {PartitioningKind::kHash, std::vector<std::string>{"id"}}; }

VertexPlan sum_vertex(int32_t parallelism, Sums* sums) {
  return vertex("sum", parallelism, [&](int32_t) {
    return SubtaskPlan{nullptr, {node(std::make_shared<testing::SumSink>(sums), "sum")}};
  });
}

JobPlan two_vertices(VertexPlan source, VertexPlan sink, Partitioning partitioning) {
  JobPlan plan;
  plan.vertices.push_back(std::move(source));
  plan.vertices.push_back(std::move(sink));
  plan.edges.push_back(edge(0, 1, std::move(partitioning)));
  return plan;
}

std::unique_ptr<LocalExecutor> executor_of(JobPlan plan, size_t capacity = 4) {
  auto executor = LocalExecutor::create(std::move(plan), capacity);
  EXPECT_TRUE(executor.is_ok()) << executor.status().message();
  return std::move(executor).value();
}

class Exchanges : public ::testing::TestWithParam<std::tuple<PartitioningKind, int, int>> {};

TEST_P(Exchanges, EveryRowArrivesOnce) {
  const auto [kind, sources, sinks] = GetParam();
  if (kind == PartitioningKind::kForward && sources != sinks) return;
  Sums sums;
  Partitioning partitioning{kind, std::nullopt};
  if (kind == PartitioningKind::kHash) partitioning = hash_by_id();
  auto job = executor_of(
      two_vertices(source_vertex(sources, kRows), sum_vertex(sinks, &sums), partitioning));
  ASSERT_TRUE(job->start().is_ok());
  ASSERT_TRUE(job->wait(seconds(60)));
  EXPECT_EQ(job->state(), JobState::kFinished);
  const int copies = kind == PartitioningKind::kBroadcast ? sinks : 1;
  EXPECT_EQ(sums.rows, kRows * copies);
  EXPECT_EQ(sums.total, kTotal * copies);
  EXPECT_EQ(sums.ended, sinks);
  EXPECT_EQ(sums.closed, sinks);
}

INSTANTIATE_TEST_SUITE_P(
    All, Exchanges,
    ::testing::Combine(::testing::Values(PartitioningKind::kForward, PartitioningKind::kRebalance,
                                         PartitioningKind::kBroadcast, PartitioningKind::kGlobal,
                                         PartitioningKind::kHash),
                       ::testing::Values(1, 3), ::testing::Values(1, 3)));

TEST(LocalExecutor, CancelEndsAnUnboundedJob) {
  Sums sums;
  auto job =
      executor_of(two_vertices(source_vertex(2, std::nullopt), sum_vertex(2, &sums), hash_by_id()));
  ASSERT_TRUE(job->start().is_ok());
  while (sums.rows < 1000) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_FALSE(job->wait(milliseconds(1)));
  job->cancel();
  ASSERT_TRUE(job->wait(seconds(30)));
  EXPECT_EQ(job->state(), JobState::kCanceled);
  EXPECT_TRUE(job->failure().is_ok());
  EXPECT_EQ(sums.closed, 2);
}

TEST(LocalExecutor, CancelWakesASourceThatWaitsForItsRate) {
  Sums sums;
  auto job = executor_of(
      two_vertices(source_vertex(1, std::nullopt, 0.001), sum_vertex(1, &sums), hash_by_id()));
  ASSERT_TRUE(job->start().is_ok());
  while (sums.rows < 1) std::this_thread::sleep_for(milliseconds(1));
  job->cancel();
  EXPECT_TRUE(job->wait(seconds(10)));
}

// A sink that does not take anything until it is let go.
class StuckSink final : public Operator {
 public:
  explicit StuckSink(std::atomic<bool>* let_go) : let_go_(let_go) {}
  Status process_batch(Batch, Output&) override {
    while (!let_go_->load() && !context_.is_cancelled())
      std::this_thread::sleep_for(milliseconds(1));
    return Status::ok();
  }

 private:
  std::atomic<bool>* let_go_;
};

TEST(LocalExecutor, ASlowSinkStopsItsSource) {
  std::atomic<bool> let_go{false};
  auto sink = vertex("stuck", 1, [&](int32_t) {
    return SubtaskPlan{nullptr, {node(std::make_shared<StuckSink>(&let_go), "stuck")}};
  });
  auto job = executor_of(two_vertices(source_vertex(1, kRows), std::move(sink), hash_by_id()), 2);
  ASSERT_TRUE(job->start().is_ok());
  const OperatorMetrics& source = job->tasks()[0]->chain().metrics(0);
  int64_t before = -1;
  // Stands still: the source has filled the channel and waits.
  for (int still = 0; still < 20;) {
    std::this_thread::sleep_for(milliseconds(5));
    const int64_t now = source.records_out;
    still = now == before ? still + 1 : 0;
    before = now;
  }
  EXPECT_LE(before, 5 * kChunkRows);  // two in the channel, one in the sink, one in hand
  let_go = true;
  ASSERT_TRUE(job->wait(seconds(30)));
  EXPECT_EQ(source.records_out, kRows);
}

TEST(LocalExecutor, TheFirstFailureWinsAndNamesOperatorAndSubtask) {
  auto sink = vertex("middle", 2, [&](int32_t subtask) {
    return SubtaskPlan{nullptr,
                       {node(std::make_shared<testing::PassThrough>(subtask == 1), "middle")}};
  });
  auto job =
      executor_of(two_vertices(source_vertex(2, std::nullopt), std::move(sink), hash_by_id()));
  ASSERT_TRUE(job->start().is_ok());
  ASSERT_TRUE(job->wait(seconds(30)));
  EXPECT_EQ(job->state(), JobState::kFailed);
  EXPECT_EQ(job->failure().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(job->failure().message(), "operator 'middle' (uid middle), subtask 2/2: asked to fail");
}

class ThrowingSink final : public Operator {
 public:
  explicit ThrowingSink(bool when_closed) : when_closed_(when_closed) {}
  Status process_batch(Batch, Output&) override {
    if (!when_closed_) throw std::runtime_error("thrown");
    return Status::ok();
  }
  Status close() override {
    if (when_closed_) throw std::runtime_error("thrown");
    return Status::ok();
  }

 private:
  bool when_closed_;
};

TEST(LocalExecutor, WhatIsThrownFailsTheJobAndNotTheProcess) {
  for (const bool when_closed : {false, true}) {
    auto sink = vertex("throwing", 1, [&](int32_t) {
      return SubtaskPlan{nullptr, {node(std::make_shared<ThrowingSink>(when_closed), "throwing")}};
    });
    auto job = executor_of(two_vertices(source_vertex(1, kRows), std::move(sink), hash_by_id()));
    ASSERT_TRUE(job->start().is_ok());
    ASSERT_TRUE(job->wait(seconds(30)));
    EXPECT_EQ(job->state(), JobState::kFailed);
    EXPECT_NE(job->failure().message().find("'throwing'"), std::string::npos);
    EXPECT_NE(job->failure().message().find("thrown"), std::string::npos);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need much address space
// Exits with 0 when the job fails to start, says why and can be let go of.
void start_without_memory_for_threads() {
  Sums sums;
  auto job = executor_of(
      two_vertices(source_vertex(100, std::nullopt, 0.001), sum_vertex(100, &sums), hash_by_id()));
  const rlimit limit{size_t{1} << 30, size_t{1} << 30};  // threads reserve 8 MiB each
  if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
  const Status status = job->start();
  if (status.message().find("of 200 threads could be started") == std::string::npos) ::_exit(3);
  if (!job->wait(seconds(30)) || job->state() != JobState::kFailed) ::_exit(4);
  job.reset();
  ::_exit(0);
}

TEST(LocalExecutorDeathTest, TooFewThreadsFailTheStartAndNothingHangs) {
  EXPECT_EXIT(start_without_memory_for_threads(), ::testing::ExitedWithCode(0), "");
}
#endif

TEST(LocalExecutor, DestructionEndsARunningJob) {
  Sums sums;
  {
    auto job = executor_of(
        two_vertices(source_vertex(2, std::nullopt), sum_vertex(2, &sums), hash_by_id()));
    ASSERT_TRUE(job->start().is_ok());
    while (sums.rows < 1000) std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(sums.closed, 2);
}

TEST(LocalExecutor, BadPlansAreRefused) {
  Sums sums;
  JobPlan forward = two_vertices(source_vertex(2, kRows), sum_vertex(3, &sums), {});
  EXPECT_NE(forward.validate().message().find("different parallelisms"), std::string::npos);
  JobPlan no_input = two_vertices(source_vertex(1, kRows), sum_vertex(1, &sums), {});
  no_input.edges.clear();
  EXPECT_NE(no_input.validate().message().find("has no input"), std::string::npos);
  JobPlan wrong_vertex = two_vertices(source_vertex(1, kRows), sum_vertex(1, &sums), {});
  wrong_vertex.edges[0].target_vertex = 7;
  EXPECT_FALSE(wrong_vertex.validate().is_ok());
  EXPECT_FALSE(JobPlan{}.validate().is_ok());
}

class Checkpoints : public ::testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> number{0};
    directory_ =
        std::filesystem::temp_directory_path() /
        ("penstock-executor-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<LocalExecutor> job(int32_t parallelism, std::optional<int64_t> rows,
                                     double rate) {
    auto sink = vertex("count", parallelism, [&](int32_t) {
      return SubtaskPlan{nullptr,
                         {node(std::make_shared<testing::CountingSink>(&total_), "count")}};
    });
    auto executor = executor_of(
        two_vertices(source_vertex(parallelism, rows, rate), std::move(sink), hash_by_id()));
    CheckpointingOptions options{{directory_, nullptr}, "job", "a job", {}, true, ""};
    options.coordinator.interval_millis = 5;
    const Status status = executor->set_checkpointing(options);
    EXPECT_TRUE(status.is_ok()) << status.message();
    return executor;
  }

  std::filesystem::path directory_;
  std::atomic<int64_t> total_{0};
};

// Runs until some checkpoints are there, cancels, goes on with the given parallelism; the sum must
// be exact.
TEST_F(Checkpoints, AResumedJobCountsEveryRowOnce) {
  // So many that a part does not end by itself before it is cancelled, however slow the machine.
  constexpr int64_t kManyRows = 5'000'000;
  int32_t parallelisms[] = {2, 2, 3, 1, 2};
  for (const int32_t parallelism : parallelisms) {
    auto part = job(parallelism, kManyRows, 100'000);
    ASSERT_TRUE(part->restore_newest().is_ok());
    ASSERT_TRUE(part->start().is_ok());
    while (part->completed_checkpoints().size() < 3 && !part->wait(milliseconds(1))) {
    }
    part->cancel();
    ASSERT_TRUE(part->wait(seconds(30)));
    ASSERT_EQ(part->state(), JobState::kCanceled);
    EXPECT_EQ(total_, 0);
  }
  auto last = job(2, kManyRows, 0);
  const auto restored = last->restore_newest();
  ASSERT_TRUE(restored.is_ok());
  ASSERT_TRUE(restored.value().id.has_value());
  ASSERT_TRUE(last->start().is_ok());
  ASSERT_TRUE(last->wait(seconds(60)));
  EXPECT_EQ(last->state(), JobState::kFinished);
  EXPECT_EQ(total_, kManyRows * (kManyRows - 1) / 2);
  // A finished job leaves no checkpoint behind: the next run starts anew.
  auto next = job(2, kRows, 0);
  EXPECT_FALSE(next->restore_newest().value().id.has_value());
}

// The source ends at once; the sink works off what lies in its channel, far longer than a checkpoint
// may take. No barrier can reach it any more.
TEST_F(Checkpoints, WorkingOffTheRestOfAnEndedSourceFailsNoCheckpoint) {
  std::atomic<bool> let_go{false};
  auto sink = vertex("stuck", 1, [&](int32_t) {
    return SubtaskPlan{nullptr, {node(std::make_shared<StuckSink>(&let_go), "stuck")}};
  });
  auto job = executor_of(two_vertices(source_vertex(1, kChunkRows), std::move(sink), hash_by_id()));
  CheckpointingOptions options{{directory_, nullptr}, "job", "a job", {}, true, ""};
  options.coordinator.interval_millis = 5;
  options.coordinator.timeout_millis = 20;
  ASSERT_TRUE(job->set_checkpointing(options).is_ok());
  ASSERT_TRUE(job->start().is_ok());
  EXPECT_FALSE(job->wait(milliseconds(200)));
  let_go = true;
  ASSERT_TRUE(job->wait(seconds(30)));
  EXPECT_EQ(job->state(), JobState::kFinished) << job->failure().message();
}

// Puts a pipe in the place of its task's state file, so that the file can neither be opened without
// a reader nor be synced.
class PipeSource final : public Source {
 public:
  explicit PipeSource(std::filesystem::path file) : file_(std::move(file)) {}
  Result<Poll> poll(Output&) override {
    return taken_ ? Poll{PollKind::kEnd} : Poll{PollKind::kWait, kMaxTimestamp};
  }
  Status snapshot(OperatorState*) override {
    if (std::exchange(taken_, true)) return Status::ok();
    return ::mkfifo(file_.c_str(), 0600) == 0 ? Status::ok() : Status::io_error("no pipe");
  }
  Status restore(const OperatorState&) override { return Status::ok(); }

 private:
  std::filesystem::path file_;
  bool taken_ = false;
};

TEST_F(Checkpoints, ACheckpointThatFailsAfterTheEndOfAllTasksDoesNotFailTheJob) {
  const auto file = directory_ / "job" / "chk-1.inprogress" / "task-source-0";
  Sums sums;
  auto source = vertex("source", 1, [&](int32_t) {
    SubtaskPlan plan{std::make_shared<PipeSource>(file), {node(nullptr, "source")}};
    plan.nodes.push_back(node(std::make_shared<testing::SumSink>(&sums), "sum", 0));
    return plan;
  });
  JobPlan plan;
  plan.vertices.push_back(std::move(source));
  auto job = executor_of(std::move(plan));
  ASSERT_TRUE(
      job->set_checkpointing({{directory_, nullptr}, "job", "a job", {}, true, ""}).is_ok());
  ASSERT_TRUE(job->start().is_ok());
  job->trigger_checkpoint();
  while (sums.closed == 0) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(50));  // the task reports its end right after that
  const int reader = ::open(file.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  std::this_thread::sleep_for(milliseconds(50));  // the checkpoint fails now
  ASSERT_TRUE(job->wait(seconds(30)));
  EXPECT_EQ(job->state(), JobState::kFinished) << job->failure().message();
  ::close(reader);
}

TEST_F(Checkpoints, AnOperatorThatIsGoneIsAnError) {
  {
    auto part = job(1, std::nullopt, 100'000);
    ASSERT_TRUE(part->start().is_ok());
    while (part->completed_checkpoints().empty()) std::this_thread::sleep_for(milliseconds(1));
  }
  Sums sums;
  auto other =
      executor_of(two_vertices(source_vertex(1, kRows), sum_vertex(1, &sums), hash_by_id()));
  ASSERT_TRUE(
      other->set_checkpointing({{directory_, nullptr}, "job", "a job", {}, true, ""}).is_ok());
  const auto restored = other->restore_newest();
  EXPECT_EQ(restored.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(restored.status().message().find("operator 'count' (uid count)"), std::string::npos);
}

TEST_F(Checkpoints, AnUnwritableDirectoryIsAnErrorAtOnce) {
  Sums sums;
  auto job = executor_of(two_vertices(source_vertex(1, kRows), sum_vertex(1, &sums), hash_by_id()));
  const Status status =
      job->set_checkpointing({{"/proc/nowhere", nullptr}, "job", "a job", {}, true, ""});
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_NE(status.message().find("'/proc/nowhere' cannot be written to"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace penstock
