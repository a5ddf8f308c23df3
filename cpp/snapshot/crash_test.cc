// A job that writes, completes, gives up and discards checkpoints, on a disk that fails at every one
// of its operations in turn: the newest complete checkpoint restores, nothing it needs is gone, and
// after the next start nothing is left that is not needed.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "snapshot/faulty_disk.h"
#include "snapshot/snapshot_test_util.h"

namespace penstock {
namespace {

using Fault = FaultyDisk::Fault;
using Unsynced = FaultyDisk::Unsynced;

const std::string kDirectory = "/checkpoints";

class CrashTest : public testing::TestWithParam<bool> {  // on the machine, or an object store
 protected:
  CrashTest() {
    disk_.set_local(GetParam());
    ::setenv("TMPDIR", directory_for_tests().c_str(), 1);  // for what readers unpack
  }

  // What checkpoint `id` shares: three files, of which each checkpoint replaces one.
  static std::set<std::string> content_of(int64_t id) {
    std::set<std::string> out;
    for (int64_t slot = 0; slot < 3; ++slot) {
      out.insert("f" + std::to_string(slot) + "-" + std::to_string((id - slot + 3) / 3));
    }
    return out;
  }

  // Both tasks use the same files, as after a change of the parallelism.
  TaskState task_of(int64_t id, int32_t subtask) {
    TaskState task = sample_task(subtask, std::to_string(id));
    NativeState native;
    native.backend = "rocksdb";
    native.key_groups = key_group_range(subtask, 8, 2);
    native.states = {{"counts", StateKind::kValue, "encoded", "", "LONG"}};
    for (const std::string& name : content_of(id)) {
      native.files.push_back({name + ".sst", source_file(name), name.size(), 0, name});
    }
    const std::string manifest = "MANIFEST of " + std::to_string(id);
    native.files.push_back({"MANIFEST", source_file(manifest), manifest.size(), 0, ""});
    task.operators[1].state.native.push_back(std::move(native));
    return task;
  }
  std::string source_file(const std::string& content) {
    std::string path = local_.path() + "/" + content;
    if (written_.insert(content).second) {
      EXPECT_TRUE(write_file(local_file_system(), path, content).is_ok());
    }
    return path;
  }

  static Status write_tasks(CrashTest* test, int64_t id, const PendingCheckpoint& pending,
                            CheckpointMetadata* metadata) {
    for (int32_t subtask : {0, 1}) {
      PENSTOCK_ASSIGN_OR_RETURN(TaskFile file, pending.write_task(test->task_of(id, subtask)));
      metadata->tasks.push_back(std::move(file));
    }
    return Status::ok();
  }

  // Checkpoint `id` from its beginning to `complete`, or given up.
  Status checkpoint(const CheckpointStorage& storage, int64_t id, bool complete) {
    PENSTOCK_ASSIGN_OR_RETURN(PendingCheckpoint pending, storage.begin(CheckpointId{id}));
    CheckpointMetadata metadata = sample_metadata("job", CheckpointId{id});
    PENSTOCK_RETURN_NOT_OK(write_tasks(this, id, pending, &metadata));
    if (!complete) return Status::ok();
    PENSTOCK_RETURN_NOT_OK(pending.complete(metadata));
    completed_ = id;
    return Status::ok();
  }

  // 1 to 4 one after the other, 2 given up; 5 and 6 at once, where 6 completes first; two are kept.
  // A failure does not stop the job.
  void run_job() {
    auto opened = CheckpointStorage::open(kDirectory, "job", &disk_);
    const CheckpointStorage& storage = opened.value();
    (void)storage.remove_leftovers().is_ok();
    for (int64_t id = 1; id <= 4; ++id) {
      (void)checkpoint(storage, id, id != 2).is_ok();
      (void)storage.retain(2).is_ok();
    }
    {
      auto fifth = storage.begin(CheckpointId{5});
      CheckpointMetadata metadata = sample_metadata("job", CheckpointId{5});
      if (fifth.is_ok()) (void)write_tasks(this, 5, fifth.value(), &metadata).is_ok();
      (void)checkpoint(storage, 6, true).is_ok();
    }
    (void)storage.retain(2).is_ok();
    if (disk_.dead()) return;
    check_nothing_used_is_missing();
  }

  void check_nothing_used_is_missing() {
    auto storage = CheckpointStorage::open(kDirectory, "job", &disk_);
    const auto listing = storage.value().list_completed();
    ASSERT_TRUE(listing.is_ok());
    for (const CheckpointMetadata& metadata : listing.value().completed) {
      const std::string path = storage.value().path_of(metadata.checkpoint_id);
      for (const TaskFile& file : metadata.tasks) {
        EXPECT_TRUE(disk_.exists(path + "/" + file.file).value()) << path << " " << file.file;
      }
      for (const SharedFile& file : metadata.shared_files) {
        EXPECT_TRUE(disk_.exists(shared_directory_of(path) + "/" + file.content_id).value())
            << path << " " << file.content_id;
      }
    }
  }

  void check_restores_after_a_start() {
    auto opened = CheckpointStorage::open(kDirectory, "job", &disk_);
    const CheckpointStorage& storage = opened.value();
    const Status removed = storage.remove_leftovers();
    ASSERT_TRUE(removed.is_ok()) << removed.message();
    const auto newest = storage.newest_complete();
    ASSERT_TRUE(newest.is_ok()) << newest.status().message();
    EXPECT_TRUE(newest.value().skipped.empty()) << newest.value().skipped[0].reason;
    ASSERT_TRUE(!completed_ || newest.value().checkpoint.has_value());
    if (newest.value().checkpoint) check_content(*newest.value().checkpoint);
    check_nothing_used_is_missing();
    check_nothing_unused_is_left(storage);
  }

  void check_content(const LoadedCheckpoint& checkpoint) {
    const int64_t id = checkpoint.metadata.checkpoint_id.value;
    EXPECT_GE(id, completed_.value_or(0));
    EXPECT_EQ(mark_of(checkpoint), std::to_string(id) + std::to_string(id));
    for (const OperatorState& state : checkpoint.states_of("window-uid")) {
      ASSERT_EQ(state.native.size(), 1u);
      std::set<std::string> shared;
      for (const StateFile& file : state.native[0].files) {
        if (!file.content_id.empty()) shared.insert(file.content_id);
      }
      EXPECT_EQ(shared, content_of(id));
    }
  }

  void check_nothing_unused_is_left(const CheckpointStorage& storage) {
    std::set<std::string> used;
    std::set<std::string> names{"shared"};
    const auto listing = storage.list_completed();
    for (const CheckpointMetadata& metadata : listing.value().completed) {
      for (const SharedFile& file : metadata.shared_files) used.insert(file.content_id);
      names.insert("chk-" + std::to_string(metadata.checkpoint_id.value));
    }
    const auto shared = disk_.list(storage.job_directory() + "/shared").value();
    EXPECT_EQ(std::set<std::string>(shared.begin(), shared.end()), used);
    const auto found = disk_.list(storage.job_directory());
    for (const std::string& name : found.value()) {
      EXPECT_TRUE(names.contains(name)) << name;
    }
  }

  void run_with(Fault fault, int at, Unsynced unsynced) {
    SCOPED_TRACE("operation " + std::to_string(at));
    ASSERT_TRUE(disk_.remove_all(kDirectory).is_ok());
    ASSERT_TRUE(disk_.sync_directory("/").is_ok());
    completed_.reset();
    disk_.inject(fault, at);
    run_job();
    disk_.crash(unsynced, static_cast<uint32_t>(at));
    check_restores_after_a_start();
  }

  // Every operation of the job in turn, until the job is through before anything goes wrong.
  void run_with_every(Fault fault, Unsynced unsynced) {
    int at = 0;
    do {
      run_with(fault, at++, unsynced);
      ASSERT_LT(at, 10'000);
      if (HasFailure()) return;
    } while (disk_.fired());
    EXPECT_GT(at, 100);
    EXPECT_EQ(completed_, 6);
  }

  FaultyDisk disk_;
  TemporaryDirectory local_;
  std::set<std::string> written_;
  std::optional<int64_t> completed_;  // the newest whose complete() has succeeded
};

INSTANTIATE_TEST_SUITE_P(Storage, CrashTest, testing::Bool(),
                         [](const auto& param) { return param.param ? "Machine" : "ObjectStore"; });

TEST_P(CrashTest, DyingAnywhereAndLosingWhatWasNotSynced) {
  run_with_every(Fault::kDie, Unsynced::kLost);
}
TEST_P(CrashTest, DyingAnywhereAndLosingNothing) { run_with_every(Fault::kDie, Unsynced::kKept); }
TEST_P(CrashTest, DyingAnywhereAndLosingSomeOfIt) {
  run_with_every(Fault::kDie, Unsynced::kRandom);
}
TEST_P(CrashTest, OneInputOutputErrorAnywhere) { run_with_every(Fault::kEio, Unsynced::kLost); }
TEST_P(CrashTest, OneFullDiskAnywhere) { run_with_every(Fault::kEnospc, Unsynced::kLost); }

}  // namespace
}  // namespace penstock
