#include "operators/window/group_index.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "operators/window/window_testing.h"

namespace penstock::window {
namespace {

using testing::render;
using Texts = std::vector<std::optional<std::string>>;

Texts random_texts(std::mt19937* random, size_t count, bool nulls) {
  Texts texts(count);
  for (auto& text : texts) {
    if (nulls && (*random)() % 9 == 0) continue;
    text = std::string((*random)() % 12, 'a') + std::to_string((*random)() % 3000);
    if ((*random)() % 50 == 0) text->clear();
  }
  return texts;
}

template <typename Builder>
Column build(const Texts& texts, const DataTypePtr& type) {
  Builder builder(type);
  for (const auto& text : texts) text ? builder.append(*text) : builder.append_null();
  return builder.finish().value();
}

Column column_of(const Texts& texts, const DataTypePtr& type) {
  return type->has_large_offsets() ? build<LargeBinaryBuilder>(texts, type)
                                   : build<BinaryBuilder>(texts, type);
}

class TextKeys : public ::testing::TestWithParam<DataTypePtr> {};

TEST_P(TextKeys, GroupsAgreeWithAMapAndComeBackAsTheyWere) {
  std::mt19937 random(5);
  const std::vector<DataTypePtr> types{GetParam()};
  GroupIndex index(types);
  BatchKeys keys(types);
  for (int round = 0; round < 2; ++round) {
    std::map<std::optional<std::string>, uint32_t> model;
    for (int batch = 0; batch < 12; ++batch) {
      const Texts texts = random_texts(&random, 1000, batch % 3 == 1);
      const Column column = column_of(texts, types[0]).slice(10, 990);
      ASSERT_TRUE(keys.prepare({column}, column.length).is_ok());
      std::vector<int32_t> rows(990);
      std::iota(rows.begin(), rows.end(), 0);
      if (batch % 2 == 1) std::shuffle(rows.begin(), rows.end(), random);
      std::vector<uint32_t> groups(rows.size());
      index.resolve(&keys, batch % 2 == 1 ? rows.data() : nullptr, 990, groups.data());
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto& text = texts[static_cast<size_t>(rows[i]) + 10];
        const auto known = model.try_emplace(text, static_cast<uint32_t>(model.size())).first;
        ASSERT_EQ(groups[i], known->second);
      }
    }
    ASSERT_EQ(index.size(), model.size());
    std::vector<Column> columns;
    ASSERT_TRUE(index.key_columns(0, index.size(), &columns).is_ok());
    ASSERT_EQ(columns.size(), 1U);
    EXPECT_EQ(columns[0].type->id, types[0]->id);
    for (const auto& [text, group] : model) {
      EXPECT_EQ(columns[0].is_valid(group), text.has_value());
      EXPECT_EQ(render(columns[0], group), text.value_or("null"));
    }
    index.clear();
    EXPECT_EQ(index.size(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TextKeys,
                         ::testing::Values(utf8(), binary(), DataType::from_format("U").value(),
                                           DataType::from_format("Z").value()));

}  // namespace
}  // namespace penstock::window
