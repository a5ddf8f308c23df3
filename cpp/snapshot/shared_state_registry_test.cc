#include "snapshot/shared_state_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <new>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "snapshot/crc32c.h"
#include "snapshot/faulty_disk.h"
#include "snapshot/snapshot_test_util.h"

namespace penstock {
namespace {

constexpr CheckpointId kOne{1};
constexpr CheckpointId kTwo{2};
constexpr CheckpointId kThree{3};

class SharedStateRegistryTest : public testing::Test {
 protected:
  StateFile file(const std::string& content_id, const std::string& bytes = "") {
    const std::string content = bytes.empty() ? "content of " + content_id : bytes;
    const std::string path = directory_.path() + "/local-" + content_id;
    EXPECT_TRUE(write_file(files_, path, content).is_ok());
    return {content_id + ".sst", path, content.size(), 0, content_id};
  }
  void put(CheckpointId id, const std::string& content_id) {
    const auto stored = registry_.put(id, file(content_id));
    ASSERT_TRUE(stored.is_ok()) << stored.status().message();
    EXPECT_EQ(stored.value().crc32c, crc32c("content of " + content_id));
  }
  std::vector<std::string> stored() { return files_->list(shared_).value(); }
  using Names = std::vector<std::string>;

  TemporaryDirectory directory_;
  FileSystem* files_ = local_file_system();
  const std::string shared_ = directory_.path() + "/shared";
  SharedStateRegistry registry_{files_, shared_};
};

TEST_F(SharedStateRegistryTest, FileIsStoredOnceAndGoesWithItsLastUser) {
  put(kOne, "a");
  put(kTwo, "a");
  put(kTwo, "b");
  EXPECT_EQ(stored(), (Names{"a", "b"}));
  EXPECT_EQ(registry_.files_of(kTwo).size(), 2u);
  ASSERT_TRUE(registry_.release(kOne).is_ok());
  EXPECT_EQ(stored(), (Names{"a", "b"}));
  ASSERT_TRUE(registry_.release(kTwo).is_ok());
  EXPECT_EQ(stored(), Names{});
  ASSERT_TRUE(registry_.release(kTwo).is_ok());
  put(kThree, "a");
  EXPECT_EQ(stored(), (Names{"a"}));
}

// Memory runs out while the file is being written.
class ThrowingOnce final : public FaultyDisk {
 public:
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    if (std::exchange(throws_, false)) throw std::bad_alloc();
    return FaultyDisk::create(path);
  }

 private:
  bool throws_ = true;
};

TEST_F(SharedStateRegistryTest, AnExceptionFailsTheFileAndTheNextOneStoresIt) {
  ThrowingOnce disk;
  ASSERT_TRUE(disk.create_directories("/shared").is_ok());
  SharedStateRegistry registry(&disk, "/shared");
  EXPECT_EQ(registry.put(kOne, file("a")).status().code(), StatusCode::kInternal);
  EXPECT_TRUE(registry.files_of(kOne).empty());
  ASSERT_TRUE(registry.put(kTwo, file("a")).is_ok());
  EXPECT_EQ(disk.list("/shared").value(), (Names{"a"}));
}

TEST_F(SharedStateRegistryTest, WhatIsStoredIsNotReadAgain) {
  const StateFile first = file("a");
  ASSERT_TRUE(registry_.put(kOne, first).is_ok());
  std::filesystem::remove(first.path);
  EXPECT_TRUE(registry_.put(kTwo, first).is_ok());
}

TEST_F(SharedStateRegistryTest, SameIdWithOtherContentIsRefused) {
  ASSERT_TRUE(registry_.put(kOne, file("a", "four")).is_ok());
  EXPECT_EQ(registry_.put(kTwo, file("a", "longer")).status().code(), StatusCode::kInternal);
  StateFile same_size = file("a", "5555");
  same_size.crc32c = crc32c("5555");
  EXPECT_EQ(registry_.put(kTwo, same_size).status().code(), StatusCode::kInternal);
}

TEST_F(SharedStateRegistryTest, FileThatIsNotWhatItShouldBeIsNotStored) {
  StateFile damaged = file("a");
  damaged.crc32c = 77;
  EXPECT_EQ(registry_.put(kOne, damaged).status().code(), StatusCode::kCorruption);
  damaged.crc32c = 0;
  damaged.size += 1;
  EXPECT_EQ(registry_.put(kOne, damaged).status().code(), StatusCode::kCorruption);
  EXPECT_TRUE(registry_.files_of(kOne).empty());
  put(kTwo, "a");  // a failed attempt is in nobody's way
}

TEST_F(SharedStateRegistryTest, IdThatCannotBeAFileNameIsRefused) {
  for (const char* bad : {"..", ".a", "a/b", "a b"}) {
    StateFile bad_file = file("a");
    bad_file.content_id = bad;
    EXPECT_EQ(registry_.put(kOne, bad_file).status().code(), StatusCode::kInternal) << bad;
  }
}

TEST_F(SharedStateRegistryTest, WhatIsLoadedIsUsedAndTheRestIsRemoved) {
  put(kOne, "a");
  put(kOne, "b");
  put(kTwo, "c");
  ASSERT_TRUE(write_file(files_, shared_ + "/d.7.inprogress", "half").is_ok());
  SharedStateRegistry next(files_, shared_);
  ASSERT_TRUE(next.load({{kOne, registry_.files_of(kOne)}}, false).is_ok());
  ASSERT_TRUE(next.remove_unused().is_ok());
  EXPECT_EQ(stored(), (Names{"a", "b"}));
  ASSERT_TRUE(next.release(kOne).is_ok());
  EXPECT_EQ(stored(), Names{});
}

TEST_F(SharedStateRegistryTest, NothingIsRemovedThatADamagedCheckpointMayUse) {
  put(kOne, "a");
  put(kTwo, "b");
  SharedStateRegistry next(files_, shared_);
  ASSERT_TRUE(next.load({{kOne, registry_.files_of(kOne)}}, true).is_ok());
  ASSERT_TRUE(next.put(kThree, file("c")).is_ok());
  ASSERT_TRUE(next.remove_unused().is_ok());
  ASSERT_TRUE(next.release(kOne).is_ok());
  ASSERT_TRUE(next.release(kThree).is_ok());
  EXPECT_EQ(stored(), (Names{"a", "b"}));
}

// Against a model: any order of puts and releases.
TEST_F(SharedStateRegistryTest, RandomOrdersKeepExactlyWhatIsUsed) {
  std::mt19937 random(3);
  std::map<int64_t, std::set<std::string>> model;
  for (int step = 0; step < 2000; ++step) {
    const auto id = static_cast<int64_t>(random() % 5);
    if (random() % 3 == 0) {
      ASSERT_TRUE(registry_.release(CheckpointId{id}).is_ok());
      model.erase(id);
    } else {
      const std::string content_id(1, static_cast<char>('a' + random() % 8));
      ASSERT_TRUE(registry_.put(CheckpointId{id}, file(content_id)).is_ok());
      model[id].insert(content_id);
    }
    std::set<std::string> used;
    for (const auto& [checkpoint, names] : model) used.insert(names.begin(), names.end());
    ASSERT_EQ(stored(), Names(used.begin(), used.end()));
  }
}

TEST_F(SharedStateRegistryTest, ThreadsThatPutAndReleaseTheSameFilesAgree) {
  for (const char* name : {"a", "b", "c"}) (void)file(name);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int64_t id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      std::mt19937 random(static_cast<uint32_t>(id));
      for (int round = 0; round < 300; ++round) {
        const std::string content_id(1, static_cast<char>('a' + random() % 3));
        const std::string content = "content of " + content_id;
        const StateFile local{content_id, directory_.path() + "/local-" + content_id,
                              content.size(), 0, content_id};
        if (!registry_.put(CheckpointId{id}, local).is_ok()) ++failures;
        if (files_->read(shared_ + "/" + content_id).value() != content) ++failures;
        if (!registry_.release(CheckpointId{id}).is_ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(stored(), Names{});
}

}  // namespace
}  // namespace penstock
