#include "columnar/column.h"

#include <gtest/gtest.h>

#include "columnar/batch.h"
#include "columnar/bitmap.h"
#include "columnar/test_columns.h"

namespace penstock {
namespace {

using testing::all_layouts;
using testing::RandomColumns;
using testing::render_all;

TEST(Bitmap, CountsAndCopiesAtEveryPairOfBitOffsets) {
  RandomColumns random(1);
  uint8_t source[40];
  for (uint8_t& byte : source) byte = static_cast<uint8_t>(random.below(256));
  for (int64_t from = 0; from < 17; ++from) {
    for (int64_t to = 0; to < 9; ++to) {
      for (const int64_t count : {0, 1, 7, 8, 9, 63, 64, 65, 200}) {
        uint8_t target[40] = {};
        copy_bits(source, from, count, target, to);
        int64_t set = 0;
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(get_bit(source, from + i), get_bit(target, to + i));
          set += get_bit(source, from + i) ? 1 : 0;
        }
        EXPECT_EQ(count_set_bits(source, from, count), set);
        EXPECT_EQ(count_set_bits(target, 0, 320), set);
      }
    }
  }
}

TEST(Column, SliceOfASliceCountsFromTheFirstSlice) {
  const Column column = int64_column({10, 11, 12, 13, 14, 15});
  const Column slice = column.slice(1, 4).slice(2, 2);
  EXPECT_EQ(slice.length, 2);
  EXPECT_EQ(slice.data<int64_t>()[0], 13);
  EXPECT_EQ(slice.values.data, column.values.data);
}

TEST(Column, SliceForgetsTheNullCountUnlessItIsKnown) {
  FixedBuilder<int64_t> builder(int64());
  for (int64_t i = 0; i < 20; ++i) {
    if (i % 3 == 0) {
      builder.append_null();
    } else {
      builder.append(i);
    }
  }
  const Column column = builder.finish();
  EXPECT_EQ(column.null_count, 7);
  EXPECT_EQ(column.slice(0, 20).null_count, 7);
  EXPECT_EQ(column.slice(4, 9).null_count, -1);
  EXPECT_EQ(column.slice(4, 9).count_nulls(), 3);
  EXPECT_EQ(int64_column({1, 2}).slice(1, 1).null_count, 0);
}

TEST(Column, NullsOfEveryLayoutAreNull) {
  for (const DataTypePtr& type : all_layouts()) {
    const Column column = make_nulls(type, 13).value();
    EXPECT_EQ(column.count_nulls(), 13) << type->to_string();
    for (int64_t i = 0; i < 13; ++i) EXPECT_FALSE(column.is_valid(i));
  }
}

TEST(Take, GathersWhatANaiveLoopGathers) {
  RandomColumns random(2);
  for (const DataTypePtr& type : all_layouts()) {
    for (int round = 0; round < 20; ++round) {
      const int64_t length = 1 + random.below(100);
      const Column column = random.make(type, length, round % 2 == 0);
      const auto indices = random.indices(random.below(150), length);
      const auto count = static_cast<int64_t>(indices.size());
      const auto taken = take(column, indices.data(), count);
      ASSERT_TRUE(taken.is_ok()) << taken.status().message();
      const auto rows = render_all(column);
      std::vector<std::string> expected;
      for (const int32_t index : indices) expected.push_back(rows[static_cast<size_t>(index)]);
      EXPECT_EQ(render_all(taken.value()), expected) << type->to_string();
      EXPECT_EQ(taken.value().offset, 0);
      Column recount = taken.value();
      recount.null_count = -1;
      EXPECT_EQ(taken.value().null_count, recount.count_nulls());
    }
  }
}

TEST(Concatenate, IsTheRowsEndToEnd) {
  RandomColumns random(3);
  for (const DataTypePtr& type : all_layouts()) {
    for (int round = 0; round < 20; ++round) {
      std::vector<Column> parts;
      std::vector<std::string> expected;
      for (int64_t part = random.below(5); part >= 0; --part) {
        parts.push_back(random.make(type, random.below(40), random.below(2) == 0));
        const auto rows = render_all(parts.back());
        expected.insert(expected.end(), rows.begin(), rows.end());
      }
      const auto whole = concatenate(parts);
      ASSERT_TRUE(whole.is_ok()) << whole.status().message();
      EXPECT_EQ(render_all(whole.value()), expected) << type->to_string();
    }
  }
}

TEST(Concatenate, RefusesDifferentTypesAndNothing) {
  EXPECT_EQ(concatenate({}).status().code(), StatusCode::kInvalidArgument);
  const auto mixed = concatenate({int64_column({1}), make_nulls(utf8(), 1).value()});
  EXPECT_EQ(mixed.status().code(), StatusCode::kTypeError);
  EXPECT_NE(mixed.status().message().find("int64 and string"), std::string::npos);
}

// Arrow lets such bytes begin anywhere; only a sanitizer sees the difference.
TEST(Take, GathersFixedSizeBinaryThatIsNotAligned) {
  static const char kBytes[] = "-aabbccddeeffgghh";
  for (const int64_t width : {2, 4, 8}) {
    Column column;
    column.type = DataType::from_format("w:" + std::to_string(width)).value();
    column.length = 16 / width;
    column.null_count = 0;
    column.values = Buffer{nullptr, reinterpret_cast<const uint8_t*>(kBytes) + 1};
    const int32_t last = static_cast<int32_t>(column.length) - 1;
    const Column taken = take(column, &last, 1).value();
    const std::string expected(kBytes + 17 - width, static_cast<size_t>(width));
    EXPECT_EQ(testing::render(taken, 0), expected);
  }
}

TEST(Take, RefusesUnions) {
  Column column;
  column.type = testing::nested_type("+us:0", {testing::field("a", int64())});
  const int32_t index = 0;
  EXPECT_EQ(take(column, &index, 1).status().code(), StatusCode::kNotSupported);
}

TEST(Builder, IsEmptyAgainAfterFinish) {
  BinaryBuilder builder(utf8());
  builder.append("one");
  builder.append_null();
  const Column first = builder.finish().value();
  builder.append("two");
  const Column second = builder.finish().value();
  EXPECT_EQ(render_all(first), (std::vector<std::string>{"'one'", "null"}));
  EXPECT_EQ(render_all(second), (std::vector<std::string>{"'two'"}));
  EXPECT_EQ(second.null_count, 0);
  BoolBuilder bools;
  bools.append(true);
  bools.append_null();
  bools.append(false);
  EXPECT_EQ(render_all(bools.finish()), (std::vector<std::string>{"true", "null", "false"}));
}

}  // namespace
}  // namespace penstock
