// Savepoints of running jobs: while they go on, and as their end.
#include "task/savepoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "task/local_executor.h"
#include "task/task_testing.h"

namespace penstock {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::edge;
using testing::node;
using testing::source_vertex;
using testing::vertex;

constexpr int64_t kRows = 5'000'000;  // far more than a part works off before it is stopped
constexpr double kRate = 100'000;
constexpr int64_t kSum = kRows * (kRows - 1) / 2;

// The machine's files, which take their time: a sync waits until it is let through.
class SlowFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    while (!open_) std::this_thread::sleep_for(milliseconds(1));
    return files_->create(path);
  }
  Result<std::optional<std::string>> read(const std::string& path) override {
    return files_->read(path);
  }
  Status rename(const std::string& from, const std::string& to) override {
    return files_->rename(from, to);
  }
  Status sync_directory(const std::string& path) override { return files_->sync_directory(path); }
  Status create_directories(const std::string& path) override {
    return files_->create_directories(path);
  }
  Status remove_all(const std::string& path) override { return files_->remove_all(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return files_->list(path);
  }
  Result<bool> exists(const std::string& path) override { return files_->exists(path); }

  std::atomic<bool> open_{true};

 private:
  FileSystem* const files_ = local_file_system();
};

class SavepointTest : public ::testing::Test {
 protected:
  SavepointTest() {
    static std::atomic<int> number{0};
    directory_ =
        std::filesystem::temp_directory_path() /
        ("penstock-savepoints-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
  }
  ~SavepointTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<LocalExecutor> job(int32_t parallelism, double rate,
                                     CheckpointingOptions options = {},
                                     const std::string& sink_uid = "count") {
    JobPlan plan;
    plan.vertices.push_back(source_vertex(parallelism, kRows, rate));
    plan.vertices.push_back(vertex("count", parallelism, [&](int32_t) {
      return SubtaskPlan{nullptr,
                         {node(std::make_shared<testing::CountingSink>(&total_), sink_uid)}};
    }));
    plan.edges.push_back(edge(0, 1, {PartitioningKind::kHash, std::vector<std::string>{"id"}}));
    auto executor = LocalExecutor::create(std::move(plan));
    EXPECT_TRUE(executor.is_ok());
    options.job_id = "a-job-with-a-long-name";
    EXPECT_TRUE(executor.value()->set_checkpointing(options).is_ok());
    return std::move(executor).value();
  }
  std::unique_ptr<LocalExecutor> running(int32_t parallelism, CheckpointingOptions options = {}) {
    auto part = job(parallelism, kRate, std::move(options));
    EXPECT_TRUE(part->start().is_ok());
    wait_for_rows(*part);
    return part;
  }
  static int64_t rows_of(const LocalExecutor& part) {
    int64_t rows = 0;
    for (const auto& task : part.tasks()) {
      if (!task->chain().has_source()) rows += task->chain().metrics(0).records_in;
    }
    return rows;
  }
  // Until more have come than there are now.
  static void wait_for_rows(const LocalExecutor& part) {
    for (const int64_t before = rows_of(part); rows_of(part) <= before;) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  Result<std::string> take(LocalExecutor& part, AfterSavepoint after) {
    const auto savepoint = part.trigger_savepoint({directory_ / "savepoints", nullptr}, after);
    EXPECT_TRUE(savepoint->wait(seconds(30)));
    return savepoint->path();
  }
  // The rest of the rows, from the savepoint on, with another parallelism.
  void finish_from(const std::string& path) {
    total_ = 0;
    auto rest = job(3, 0);
    const auto restored = rest->restore_from({path, nullptr});
    ASSERT_TRUE(restored.is_ok()) << restored.status().message();
    ASSERT_TRUE(rest->start().is_ok());
    ASSERT_TRUE(rest->wait(seconds(60)));
    EXPECT_EQ(rest->state(), JobState::kFinished) << rest->failure().message();
    EXPECT_EQ(total_, kSum);
  }

  std::filesystem::path directory_;
  std::atomic<int64_t> total_{0};
};

TEST_F(SavepointTest, JobGoesOnAndTheSavepointStaysAndRestores) {
  CheckpointingOptions options;
  options.directory.path = directory_;
  options.coordinator.interval_millis = 5;
  auto part = running(2, options);
  const auto path = take(*part, AfterSavepoint::kGoOn);
  ASSERT_TRUE(path.is_ok()) << path.status().message();
  EXPECT_TRUE(path.value().starts_with((directory_ / "savepoints" / "savepoint-a-job--").string()));
  wait_for_rows(*part);
  const size_t before = part->completed_checkpoints().size();
  while (part->completed_checkpoints().size() < before + 3) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  part->cancel();
  ASSERT_TRUE(part->wait(seconds(30)));
  const auto metadata = read_checkpoint_metadata(local_file_system(), path.value());
  ASSERT_TRUE(metadata.is_ok());
  EXPECT_TRUE(metadata.value().savepoint);
  finish_from(path.value());
}

TEST_F(SavepointTest, SuspendedJobEndsThereAndEmitsNothingMore) {
  auto part = running(1);
  const auto path = take(*part, AfterSavepoint::kSuspend);
  ASSERT_TRUE(path.is_ok()) << path.status().message();
  ASSERT_TRUE(part->wait(seconds(30)));
  EXPECT_EQ(part->state(), JobState::kFinished) << part->failure().message();
  EXPECT_EQ(total_, 0) << "the end of input has been seen";
  int64_t sum = 0;
  const auto checkpoint = read_checkpoint(local_file_system(), path.value());
  for (const OperatorState& state : checkpoint.value().states_of("count")) {
    for (const std::string& item : state.find_list("sum")->items) sum += std::stoll(item);
  }
  const int64_t rows = rows_of(*part);
  EXPECT_EQ(sum, rows * (rows - 1) / 2) << "nothing was emitted after the savepoint";
  finish_from(path.value());
}

TEST_F(SavepointTest, DrainedJobEndsAsIfItsInputHad) {
  auto part = running(1);
  const auto path = take(*part, AfterSavepoint::kDrain);
  ASSERT_TRUE(path.is_ok()) << path.status().message();
  ASSERT_TRUE(part->wait(seconds(30)));
  EXPECT_EQ(part->state(), JobState::kFinished) << part->failure().message();
  const int64_t rows = rows_of(*part);
  EXPECT_EQ(total_, rows * (rows - 1) / 2);
  EXPECT_LT(rows, kRows);
  finish_from(path.value());
}

TEST_F(SavepointTest, FailedSavepointLeavesTheJobAsItWas) {
  std::filesystem::create_directories(directory_);
  ASSERT_TRUE(write_file(local_file_system(), directory_ / "savepoints", "in the way").is_ok());
  auto part = running(2);
  for (const AfterSavepoint after : {AfterSavepoint::kGoOn, AfterSavepoint::kSuspend}) {
    const auto path = take(*part, after);
    EXPECT_EQ(path.status().code(), StatusCode::kIoError);
    EXPECT_NE(path.status().message().find("savepoints"), std::string::npos)
        << path.status().message();
    wait_for_rows(*part);
    EXPECT_EQ(part->state(), JobState::kRunning);
  }
}

// An operator that lets letters be read in the middle of a batch, and for as long as it is told to.
class Waiting final : public Operator {
 public:
  explicit Waiting(const std::atomic<bool>* waits) : waits_(waits) {}
  Status open(const OperatorContext& context) override {
    yield_ = context.yield;
    return Status::ok();
  }
  Status process_batch(Batch batch, Output& output) override {
    while (*waits_) PENSTOCK_RETURN_NOT_OK(yield_());
    return output.emit(std::move(batch));
  }

 private:
  const std::atomic<bool>* const waits_;
  std::function<Status()> yield_;
};

// One source gives the savepoint up while the trigger still waits in front of the other, which hears
// that it is over before it hears of it.
TEST_F(SavepointTest, SavepointThatIsOverBeforeItsTriggerIsReadHoldsNobody) {
  std::filesystem::create_directories(directory_);
  std::atomic<bool> waits{false};
  JobPlan plan;
  plan.vertices.push_back(testing::vertex("source", 1, [&](int32_t) {
    return SubtaskPlan{
        testing::sequence(kRows, kRate),
        {node(nullptr, "source"), node(std::make_shared<Waiting>(&waits), "wait", 0)}};
  }));
  plan.vertices.push_back(vertex("count", 1, [&](int32_t) {
    return SubtaskPlan{nullptr, {node(std::make_shared<testing::CountingSink>(&total_), "count")}};
  }));
  plan.edges.push_back(
      {0, 1, std::nullopt, 1, {PartitioningKind::kHash, std::vector<std::string>{"id"}}});
  auto part = std::move(LocalExecutor::create(std::move(plan))).value();
  CheckpointingOptions options;
  options.job_id = "a-job-with-a-long-name";
  options.coordinator.timeout_millis = 50;
  ASSERT_TRUE(part->set_checkpointing(options).is_ok());
  ASSERT_TRUE(part->start().is_ok());
  wait_for_rows(*part);
  waits = true;
  std::this_thread::sleep_for(milliseconds(20));
  const auto savepoint =
      part->trigger_savepoint({directory_ / "savepoints", nullptr}, AfterSavepoint::kSuspend);
  ASSERT_TRUE(savepoint->wait(seconds(30)));
  EXPECT_FALSE(savepoint->path().is_ok());
  std::this_thread::sleep_for(milliseconds(20));
  const int64_t before = rows_of(*part);
  waits = false;
  for (int i = 0; i < 5000 && rows_of(*part) < before + 20'000; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_GE(rows_of(*part), before + 20'000) << "the source stands still";
  part->cancel();
  ASSERT_TRUE(part->wait(seconds(30)));
}

TEST_F(SavepointTest, JobThatDoesNotRunHasNone) {
  auto part = running(1);
  part->cancel();
  ASSERT_TRUE(part->wait(seconds(30)));
  const auto path = take(*part, AfterSavepoint::kGoOn);
  EXPECT_NE(path.status().message().find("does not run: it is canceled"), std::string::npos);
}

TEST_F(SavepointTest, JobThatIsCancelledMeanwhileSaysSo) {
  auto files = std::make_shared<SlowFileSystem>();
  auto part = running(1);
  files->open_ = false;
  const auto savepoint =
      part->trigger_savepoint({directory_ / "savepoints", files}, AfterSavepoint::kGoOn);
  EXPECT_FALSE(savepoint->wait(milliseconds(20)));
  part->cancel();
  files->open_ = true;
  ASSERT_TRUE(part->wait(seconds(30)));
  ASSERT_TRUE(savepoint->wait(seconds(30)));
  if (!savepoint->path().is_ok()) {
    EXPECT_EQ(savepoint->path().status().message(),
              "the job ended before the savepoint was complete");
  }
}

TEST_F(SavepointTest, StateWithoutAnOperatorIsLeftBehindOnlyWhenAskedFor) {
  auto part = running(1);
  const std::string path = take(*part, AfterSavepoint::kSuspend).value();
  ASSERT_TRUE(part->wait(seconds(30)));
  const Status refused = job(1, 0, {}, "renamed")->restore_from({path, nullptr}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("operator 'count' (uid count)"), std::string::npos);
  EXPECT_NE(refused.message().find("ignore-unclaimed-state"), std::string::npos);
  auto other = job(1, 0, {}, "renamed");
  EXPECT_TRUE(other->restore_from({path, nullptr}, /*ignore_unclaimed=*/true).is_ok());
}

TEST_F(SavepointTest, CopyOnThisMachineIsReadWhenItVerifies) {
  CheckpointingOptions options;
  options.directory.path = directory_ / "remote";
  options.local_directory = directory_ / "local";
  options.coordinator.interval_millis = 5;
  {
    auto part = running(2, options);
    while (part->completed_checkpoints().size() < 3) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  const std::string id = options.job_id = "a-job-with-a-long-name";
  const auto remote = CheckpointStorage::open(options.directory.path, id).value();
  const auto local = CheckpointStorage::open(options.local_directory, id).value();
  const auto from_copy = remote.newest_complete(&local).value().checkpoint;
  ASSERT_TRUE(from_copy.has_value());
  EXPECT_TRUE(from_copy->path.starts_with(options.local_directory));
  EXPECT_EQ(local.list_completed().value().completed.size(), 1u);
  const std::string damaged = from_copy->path + "/" + from_copy->metadata.tasks[0].file;
  ASSERT_TRUE(write_file(local_file_system(), damaged, "damaged").is_ok());
  const auto from_storage = remote.newest_complete(&local).value().checkpoint;
  EXPECT_TRUE(from_storage->path.starts_with(options.directory.path));
  EXPECT_EQ(from_storage->metadata.checkpoint_id, from_copy->metadata.checkpoint_id);
}

// The tasks go on while states are being written; a checkpoint that takes too long is given up, and
// the ones after it are complete.
TEST_F(SavepointTest, SlowStorageHoldsUpNobodyButItsCheckpoint) {
  auto files = std::make_shared<SlowFileSystem>();
  CheckpointingOptions options;
  options.directory = {directory_, files};
  options.coordinator.interval_millis = 5;
  options.coordinator.timeout_millis = 20;
  options.coordinator.tolerable_failures = 1'000'000;
  auto part = running(2, options);
  files->open_ = false;
  for (int i = 0; i < 20; ++i) wait_for_rows(*part);
  files->open_ = true;
  const size_t before = part->completed_checkpoints().size();
  while (part->completed_checkpoints().size() < before + 2) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(part->state(), JobState::kRunning) << part->failure().message();
  part->cancel();
  ASSERT_TRUE(part->wait(seconds(30)));
  const auto storage = CheckpointStorage::open(directory_, "a-job-with-a-long-name").value();
  EXPECT_TRUE(storage.newest_complete().value().checkpoint.has_value());
}

}  // namespace
}  // namespace penstock
