#include "operators/window/key_index.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

namespace penstock::window {
namespace {

TEST(Int64KeyIndex, GivesDenseIdsInOrderOfFirstSight) {
  Int64KeyIndex index;
  const int64_t keys[] = {7, -1, 7, INT64_MIN, 0, -1};
  uint32_t ids[6];
  index.resolve(keys, nullptr, 6, ids);
  EXPECT_EQ(std::vector<uint32_t>(ids, ids + 6), (std::vector<uint32_t>{0, 1, 0, 2, 3, 1}));
  EXPECT_EQ(index.size(), 4U);
  EXPECT_EQ(index.keys()[2], INT64_MIN);
}

TEST(Int64KeyIndex, NullsShareAGroupThatIsNotZeros) {
  Int64KeyIndex index;
  const int64_t keys[] = {0, 0, 0};
  const uint8_t nulls[] = {1, 0, 1};
  uint32_t ids[3];
  index.resolve(keys, nulls, 3, ids);
  EXPECT_EQ(ids[0], ids[2]);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(index.null_group(), ids[0]);
}

TEST(Int64KeyIndex, AgreesWithAMapWhileGrowingAndAfterClear) {
  std::mt19937_64 random(3);
  Int64KeyIndex index;
  for (const int64_t range : {int64_t{5}, int64_t{300000}, int64_t{10}}) {
    std::map<std::optional<int64_t>, uint32_t> model;
    for (int batch = 0; batch < 60; ++batch) {
      std::vector<int64_t> keys(8192);
      std::vector<uint8_t> nulls(8192);
      std::vector<uint32_t> ids(8192);
      for (size_t i = 0; i < keys.size(); ++i) {
        keys[i] = static_cast<int64_t>(random() % static_cast<uint64_t>(range)) *
                  (batch % 2 == 0 ? 1 : 4096);
        nulls[i] = batch == 30 && random() % 7 == 0 ? 1 : 0;
      }
      index.resolve(keys.data(), batch == 30 ? nulls.data() : nullptr, 8192, ids.data());
      for (size_t i = 0; i < keys.size(); ++i) {
        const std::optional<int64_t> key =
            nulls[i] != 0 ? std::nullopt : std::optional<int64_t>(keys[i]);
        const auto [entry, inserted] = model.try_emplace(key, static_cast<uint32_t>(model.size()));
        ASSERT_EQ(ids[i], entry->second);
      }
    }
    EXPECT_EQ(index.size(), model.size());
    index.clear();
    EXPECT_EQ(index.size(), 0U);
    EXPECT_EQ(index.null_group(), kNoGroup);
  }
}

TEST(BytesKeyIndex, AgreesWithAMapEvenWhenHashesCollide) {
  std::mt19937 random(3);
  BytesKeyIndex index;
  for (int round = 0; round < 2; ++round) {
    std::map<std::string, uint32_t> model;
    for (int batch = 0; batch < 20; ++batch) {
      std::vector<std::string> keys(3000);
      std::vector<uint32_t> ids(keys.size());
      for (std::string& key : keys)
        key = std::string(random() % 3, 'x') + std::to_string(random() % 5000);
      index.resolve([&](int64_t i) { return std::string_view(keys[static_cast<size_t>(i)]); },
                    [&](int64_t i) {
                      return static_cast<uint32_t>(keys[static_cast<size_t>(i)].back()) % 64;
                    },
                    3000, ids.data());
      for (size_t i = 0; i < keys.size(); ++i) {
        const auto [entry, inserted] =
            model.try_emplace(keys[i], static_cast<uint32_t>(model.size()));
        ASSERT_EQ(ids[i], entry->second);
        ASSERT_EQ(index.key(ids[i]), keys[i]);
      }
    }
    index.clear();
  }
}

}  // namespace
}  // namespace penstock::window
