#include "state/rocksdb/database.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace penstock {
namespace {

class RocksDatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "penstock-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  RocksDatabase open(const std::vector<std::string>& families) {
    auto result = RocksDatabase::open(folder_ + "/db", families);
    EXPECT_TRUE(result.is_ok()) << result.status().message();
    return std::move(result).value();
  }

  std::string folder_;
};

TEST_F(RocksDatabaseTest, FamiliesKeepTheSameKeyApart) {
  RocksDatabase db = open({"counts", "names"});
  ASSERT_TRUE(db.put("counts", "k", "1").is_ok());
  ASSERT_TRUE(db.put("names", "k", "one").is_ok());
  EXPECT_EQ(db.get("counts", "k").value(), "1");
  EXPECT_EQ(db.get("names", "k").value(), "one");
  EXPECT_EQ(db.get("default", "k").value(), std::nullopt);
}

TEST_F(RocksDatabaseTest, ReopenFindsDataOfFamiliesNotNamedAgain) {
  {
    RocksDatabase db = open({"counts"});
    ASSERT_TRUE(db.put("counts", std::string("\0k", 2), "1").is_ok());
    ASSERT_TRUE(db.flush().is_ok());
  }
  RocksDatabase db = open({});
  EXPECT_EQ(db.column_families(), (std::vector<std::string>{"counts", "default"}));
  EXPECT_EQ(db.get("counts", std::string_view("\0k", 2)).value(), "1");
}

TEST_F(RocksDatabaseTest, MisuseIsReportedAndNotFatal) {
  RocksDatabase db = open({});
  EXPECT_EQ(db.put("nowhere", "k", "v").code(), StatusCode::kKeyError);
  ASSERT_TRUE(db.close().is_ok());
  ASSERT_TRUE(db.close().is_ok());
  EXPECT_EQ(db.put("default", "k", "v").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db.flush().code(), StatusCode::kInvalidArgument);
}

TEST_F(RocksDatabaseTest, SecondOpenOfALockedFolderFails) {
  RocksDatabase db = open({});
  EXPECT_EQ(RocksDatabase::open(folder_ + "/db", {}).status().code(), StatusCode::kIoError);
}

TEST_F(RocksDatabaseTest, MoveAssignmentClosesTheTarget) {
  RocksDatabase db = open({});
  auto other = RocksDatabase::open(folder_ + "/other", {});
  ASSERT_TRUE(other.is_ok());
  db = std::move(other).value();
  EXPECT_TRUE(RocksDatabase::open(folder_ + "/db", {}).is_ok());
}

}  // namespace
}  // namespace penstock
