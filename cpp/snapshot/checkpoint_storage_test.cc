#include "snapshot/checkpoint_storage.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "snapshot/bytes.h"
#include "snapshot/crc32c.h"
#include "snapshot/snapshot_test_util.h"

namespace penstock {
namespace {

class CheckpointStorageTest : public testing::Test {
 protected:
  CheckpointStorage open(const std::string& job = "job") {
    auto storage = CheckpointStorage::open(directory_.path(), job);
    EXPECT_TRUE(storage.is_ok()) << storage.status().message();
    return std::move(storage).value();
  }
  void write(int64_t id, const std::string& job = "job") {
    const Status status = write_sample(files_, directory_.path(), job, CheckpointId{id});
    ASSERT_TRUE(status.is_ok()) << status.message();
  }
  CheckpointStorage::Newest newest() {
    auto newest = open().newest_complete();
    EXPECT_TRUE(newest.is_ok()) << newest.status().message();
    return std::move(newest).value();
  }
  std::string file_of(int64_t id, const std::string& name) {
    return open().path_of(CheckpointId{id}) + "/" + name;
  }
  std::string read(const std::string& path) { return files_->read(path).value().value(); }
  void put(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(write_file(files_, path, bytes).is_ok());
  }
  static bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  TemporaryDirectory directory_;
  FileSystem* files_ = local_file_system();
};

TEST_F(CheckpointStorageTest, NoCheckpointIsNoFailure) {
  EXPECT_FALSE(newest().checkpoint.has_value());
  EXPECT_TRUE(open().list_completed().value().completed.empty());
}

TEST_F(CheckpointStorageTest, WhatIsWrittenIsRead) {
  write(3);
  const auto found = newest();
  ASSERT_TRUE(found.checkpoint.has_value());
  EXPECT_TRUE(found.skipped.empty());
  const CheckpointMetadata& metadata = found.checkpoint->metadata;
  EXPECT_EQ(metadata.job_id, "job");
  EXPECT_EQ(metadata.job_name, "a \"sample\"");
  EXPECT_EQ(metadata.checkpoint_id, CheckpointId{3});
  EXPECT_EQ(metadata.trigger_millis, 1700000000003);
  EXPECT_EQ(metadata.find_operator("window-uid")->max_parallelism, 8);
  EXPECT_EQ(metadata.tasks[1].file, "task-v%2f1-1");
  EXPECT_EQ(mark_of(*found.checkpoint), "33");
  EXPECT_EQ(found.checkpoint->states_of("window-uid").size(), 2u);
}

TEST_F(CheckpointStorageTest, NewestIsByNumberAndNotByName) {
  write(9);
  write(10);
  EXPECT_EQ(newest().checkpoint->metadata.checkpoint_id, CheckpointId{10});
  const auto listing = open().list_completed();
  ASSERT_EQ(listing.value().completed.size(), 2u);
  EXPECT_EQ(listing.value().completed[0].checkpoint_id, CheckpointId{9});
}

TEST_F(CheckpointStorageTest, AbandonedCheckpointRemovesItself) {
  {
    auto pending = open().begin(CheckpointId{1});
    ASSERT_TRUE(pending.is_ok());
    ASSERT_TRUE(pending.value().write_task(sample_task(0, "x")).is_ok());
    EXPECT_TRUE(std::filesystem::exists(pending.value().directory()));
  }
  EXPECT_TRUE(files_->list(open().job_directory()).value().empty());
}

TEST_F(CheckpointStorageTest, ExistingCheckpointIsNotOverwritten) {
  write(1);
  EXPECT_EQ(open().begin(CheckpointId{1}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(mark_of(*newest().checkpoint), "11");
}

TEST_F(CheckpointStorageTest, DamagedNewestIsSkippedWithAReason) {
  write(1);
  write(2);
  std::string bytes = read(file_of(2, "task-v%2f1-0"));
  bytes[bytes.size() / 2] ^= 1;
  put(file_of(2, "task-v%2f1-0"), bytes);
  const auto found = newest();
  EXPECT_EQ(mark_of(*found.checkpoint), "11");
  ASSERT_EQ(found.skipped.size(), 1u);
  EXPECT_TRUE(mentions(found.skipped[0].path, "chk-2"));
  EXPECT_TRUE(mentions(found.skipped[0].reason, "checksum"));
}

TEST_F(CheckpointStorageTest, MissingTaskFileIsDamage) {
  write(1);
  write(2);
  std::filesystem::remove(file_of(2, "task-v%2f1-1"));
  const auto found = newest();
  EXPECT_EQ(mark_of(*found.checkpoint), "11");
  EXPECT_TRUE(mentions(found.skipped[0].reason, "missing"));
}

// A whole, valid file in the wrong place: its own checksums are right, the metadata's are not.
TEST_F(CheckpointStorageTest, TaskFileOfAnotherCheckpointIsDamage) {
  write(1);
  write(2);
  put(file_of(2, "task-v%2f1-0"), read(file_of(1, "task-v%2f1-0")));
  EXPECT_EQ(mark_of(*newest().checkpoint), "11");
  put(file_of(2, "task-v%2f1-0"), read(file_of(2, "task-v%2f1-1")));
  EXPECT_EQ(mark_of(*newest().checkpoint), "11");
}

TEST_F(CheckpointStorageTest, NewerFormatFailsLoudly) {
  write(1);
  write(2);
  std::string bytes = read(file_of(2, "_metadata"));
  std::string header(kContainerMagic);
  put_u32(&header, kFormatVersion + 1);
  put_u32(&header, static_cast<uint32_t>(ContainerKind::kMetadata));
  put_u32(&header, mask_crc32c(crc32c(header)));
  put(file_of(2, "_metadata"), header + bytes.substr(header.size()));
  const Status status = open().newest_complete().status();
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_TRUE(mentions(status.message(), "chk-2/_metadata"));
}

TEST_F(CheckpointStorageTest, CheckpointOfAnotherJobFailsLoudly) {
  write(1, "other");
  std::filesystem::rename(directory_.path() + "/other", directory_.path() + "/job");
  const Status status = open().newest_complete().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(mentions(status.message(), "'other'"));
  EXPECT_TRUE(mentions(status.message(), "'job'"));
}

TEST_F(CheckpointStorageTest, RetainKeepsTheNewest) {
  for (int64_t id : {1, 2, 3, 10}) write(id);
  EXPECT_EQ(open().retain(2).value(), (std::vector{CheckpointId{1}, CheckpointId{2}}));
  EXPECT_EQ(files_->list(open().job_directory()).value(),
            (std::vector<std::string>{"chk-10", "chk-3"}));
  ASSERT_TRUE(open().discard(CheckpointId{77}).is_ok());
}

TEST_F(CheckpointStorageTest, LeftoversAreReportedAndRemoved) {
  write(1);
  ASSERT_TRUE(files_->create_directories(open().job_directory() + "/chk-2.inprogress").is_ok());
  ASSERT_TRUE(files_->create_directories(open().job_directory() + "/chk-x").is_ok());
  EXPECT_TRUE(mentions(newest().skipped.at(0).reason, "never completed"));
  ASSERT_TRUE(open().remove_leftovers().is_ok());
  EXPECT_TRUE(newest().skipped.empty());
}

TEST_F(CheckpointStorageTest, JobIdMustBeADirectoryName) {
  for (const char* bad : {"", ".", "..", "a/b"}) {
    EXPECT_FALSE(CheckpointStorage::open(directory_.path(), bad).is_ok()) << bad;
  }
}

// The process dies at every step of writing checkpoint 2. Afterwards the newest complete one is 1
// or, once the rename has happened, 2; never a mixture; and the job can go on writing.
TEST_F(CheckpointStorageTest, CrashAtEveryStepLeavesTheOldOrTheNewCheckpoint) {
  for (const bool last_step_happens : {false, true}) {
    bool survived = false;
    int found_new = 0;
    for (int steps = 0; !survived; ++steps) {
      ASSERT_LT(steps, 1000);
      std::filesystem::remove_all(directory_.path() + "/job");
      write(1);
      DyingFileSystem dying(steps, last_step_happens);
      const Status status = write_sample(&dying, directory_.path(), "job", CheckpointId{2});
      survived = !dying.died();
      EXPECT_EQ(status.is_ok(), survived);
      const auto found = newest();
      ASSERT_TRUE(found.checkpoint.has_value()) << steps;
      const std::string mark = mark_of(*found.checkpoint);
      EXPECT_TRUE(mark == "11" || mark == "22") << mark;
      EXPECT_TRUE(!survived || mark == "22");
      found_new += mark == "22" ? 1 : 0;
      if (mark == "11") write(2);
      EXPECT_EQ(mark_of(*newest().checkpoint), "22");
    }
    // The survivor, the one that died in the last sync, and with luck the one that died renaming.
    EXPECT_EQ(found_new, last_step_happens ? 3 : 2);
  }
}

TEST_F(CheckpointStorageTest, CrashAtEveryStepOfDiscardingLeavesTheOthers) {
  for (int steps = 0; steps < 4; ++steps) {
    for (const bool last_step_happens : {false, true}) {
      std::filesystem::remove_all(directory_.path() + "/job");
      write(1);
      write(2);
      DyingFileSystem dying(steps, last_step_happens);
      auto storage = CheckpointStorage::open(directory_.path(), "job", &dying);
      (void)storage.value().discard(CheckpointId{1}).is_ok();
      EXPECT_EQ(mark_of(*newest().checkpoint), "22");
      EXPECT_TRUE(open().remove_leftovers().is_ok());
    }
  }
}

// Every truncation and every flipped bit of every file of a checkpoint: never wrong data. What is
// read afterwards is the whole of checkpoint 1 (2 is not believed).
TEST_F(CheckpointStorageTest, EveryDamageAnywhereIsDetected) {
  write(1);
  write(2);
  for (const char* name : {"_metadata", "task-v%2f1-0", "task-v%2f1-1"}) {
    const std::string path = file_of(2, name);
    const std::string bytes = read(path);
    const auto is_detected = [&](const std::string& damaged_bytes) {
      std::filesystem::remove(path);
      auto file = files_->create(path);  // without a sync: this is done thousands of times
      (void)file.value()->append(damaged_bytes).is_ok();
      (void)file.value()->close().is_ok();
      return read_checkpoint(files_, open().path_of(CheckpointId{2})).status().code() ==
             StatusCode::kCorruption;
    };
    for (size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_TRUE(is_detected(bytes.substr(0, size))) << name << " cut at " << size;
    }
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_TRUE(is_detected(flipped)) << name << " bit " << bit;
    }
    EXPECT_EQ(mark_of(*newest().checkpoint), "11");
    put(path, bytes);
    EXPECT_EQ(mark_of(*newest().checkpoint), "22");
  }
}

}  // namespace
}  // namespace penstock
