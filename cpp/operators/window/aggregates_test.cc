#include "operators/window/aggregates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "operators/window/window_testing.h"

namespace penstock::window::testing {
namespace {

using Kind = AggregateKind;

DataTypePtr type_of(const char* format) { return DataType::from_format(format).value(); }

BoundAggregate bind(Kind kind, const DataTypePtr& type, OverflowMode mode = OverflowMode::kError) {
  const Schema schema({field("c", type)});
  auto bound = bind_aggregate({kind, "c", "out"}, schema, mode);
  EXPECT_TRUE(bound.is_ok()) << bound.status().message();
  return bound.value();
}

// All rows in `groups`, directly.
Result<Column> aggregate(const BoundAggregate& bound, const Column& column,
                         const std::vector<uint32_t>& groups) {
  const auto accumulators = make_accumulators(bound);
  const size_t size = groups.empty() ? 0 : 1 + *std::max_element(groups.begin(), groups.end());
  accumulators->resize(size);
  PENSTOCK_RETURN_NOT_OK(accumulators->update(&column, {nullptr, groups.data(), column.length}));
  return accumulators->finish(0, size);
}

// The same by way of single-row partials, a merge, and a snapshot of every group.
Result<Column> aggregate_in_pieces(const BoundAggregate& bound, const Column& column,
                                   const std::vector<uint32_t>& groups) {
  const auto rows = make_accumulators(bound);
  std::vector<uint32_t> identity(groups.size());
  std::iota(identity.begin(), identity.end(), 0U);
  rows->resize(groups.size());
  PENSTOCK_RETURN_NOT_OK(rows->update(&column, {nullptr, identity.data(), column.length}));
  std::vector<Column> partials;
  PENSTOCK_RETURN_NOT_OK(rows->partials(0, groups.size(), &partials));

  const size_t size = 1 + *std::max_element(groups.begin(), groups.end());
  const auto merged = make_accumulators(bound);
  merged->resize(size);
  PENSTOCK_RETURN_NOT_OK(merged->merge(partials.data(), {nullptr, groups.data(), column.length}));

  const auto restored = make_accumulators(bound);
  restored->resize(size);
  for (size_t i = 0; i < size; ++i) {
    std::string bytes;
    merged->serialise(i, &bytes);
    std::string_view view = bytes;
    PENSTOCK_RETURN_NOT_OK(restored->deserialise(i, &view));
    EXPECT_TRUE(view.empty());
    std::string_view shorter = std::string_view(bytes).substr(0, bytes.size() - 1);
    EXPECT_FALSE(merged->deserialise(i, &shorter).is_ok());
  }
  return restored->finish(0, size);
}

template <typename T>
void expect_values(const Result<Column>& result, const std::vector<std::optional<T>>& expected) {
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  const Column& column = result.value();
  ASSERT_EQ(column.length, static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    ASSERT_EQ(column.is_valid(row), expected[i].has_value()) << i;
    if (!expected[i].has_value()) continue;
    if constexpr (std::is_same_v<T, std::string>) {
      EXPECT_EQ(column.bytes_at(row), *expected[i]);
    } else if constexpr (std::is_same_v<T, bool>) {
      EXPECT_EQ(column.bool_at(row), *expected[i]);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(*expected[i])) {
        EXPECT_TRUE(std::isnan(column.data<T>()[i]));
      } else {
        EXPECT_EQ(column.data<T>()[i], *expected[i]);
      }
    } else {
      EXPECT_EQ(column.data<T>()[i], *expected[i]);
    }
  }
}

template <typename Out>
void check(Kind kind, const Column& column, const std::vector<uint32_t>& groups,
           const std::vector<std::optional<Out>>& expected) {
  const BoundAggregate bound = bind(kind, column.type);
  expect_values<Out>(aggregate(bound, column, groups), expected);
  expect_values<Out>(aggregate_in_pieces(bound, column, groups), expected);
}

template <typename T, typename Sum>
void check_integers(const char* format) {
  const Column column =
      column_of<T>(type_of(format), {T{5}, std::nullopt, T{7}, std::nullopt, T{1}});
  const std::vector<uint32_t> groups = {0, 0, 0, 1, 2};
  check<Sum>(Kind::kSum, column, groups, {Sum{12}, std::nullopt, Sum{1}});
  check<T>(Kind::kMin, column, groups, {T{5}, std::nullopt, T{1}});
  check<T>(Kind::kMax, column, groups, {T{7}, std::nullopt, T{1}});
  check<double>(Kind::kAvg, column, groups, {6.0, std::nullopt, 1.0});
  check<int64_t>(Kind::kCount, column, groups, {2, 0, 1});
}

TEST(Aggregates, WorkOnEveryIntegerTypeAndIgnoreNulls) {
  check_integers<int8_t, int64_t>("c");
  check_integers<int16_t, int64_t>("s");
  check_integers<int32_t, int64_t>("i");
  check_integers<int64_t, int64_t>("l");
  check_integers<uint8_t, uint64_t>("C");
  check_integers<uint16_t, uint64_t>("S");
  check_integers<uint32_t, uint64_t>("I");
  check_integers<uint64_t, uint64_t>("L");
  check_integers<float, double>("f");
  check_integers<double, double>("g");
}

TEST(Aggregates, KeepTheTypeOfDatesAndTimes) {
  for (const char* format : {"tdD", "tts"}) {
    check<int32_t>(Kind::kMax, column_of<int32_t>(type_of(format), {-3, 5}), {0, 0}, {5});
  }
  for (const char* format : {"tdm", "ttn", "tsu:UTC", "tDs"}) {
    check<int64_t>(Kind::kMin, column_of<int64_t>(type_of(format), {-3, 5}), {0, 0}, {-3});
    EXPECT_EQ(bind(Kind::kMin, type_of(format)).result_type->format, format);
  }
}

TEST(Aggregates, NaNIsGreaterThanEverything) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Column column = column_of<double>(float64(), {nan, 1.0, nan, -inf, inf, inf});
  const std::vector<uint32_t> groups = {0, 0, 1, 2, 2, 3};
  check<double>(Kind::kMin, column, groups, {1.0, nan, -inf, inf});
  check<double>(Kind::kMax, column, groups, {nan, nan, inf, inf});
}

TEST(Aggregates, CompareStringsByBytes) {
  const Column column =
      strings_of({"b", std::nullopt, "\xC3\xA9", "", std::nullopt, std::string(100, 'z')});
  const std::vector<uint32_t> groups = {0, 0, 0, 1, 2, 0};
  check<std::string>(Kind::kMin, column, groups, {"b", "", std::nullopt});
  check<std::string>(Kind::kMax, column, groups, {"\xC3\xA9", "", std::nullopt});
}

TEST(Aggregates, MinAndMaxOfBooleans) {
  BoolBuilder builder;
  for (const bool value : {true, false, true}) builder.append(value);
  builder.append_null();
  const Column column = builder.finish();
  check<bool>(Kind::kMin, column, {0, 0, 1, 2}, {false, true, std::nullopt});
  check<bool>(Kind::kMax, column, {0, 0, 1, 2}, {true, true, std::nullopt});
}

Column decimals(const std::vector<__int128>& values, int32_t scale) {
  const MutableBuffer buffer = MutableBuffer::allocate(static_cast<int64_t>(values.size() * 16));
  std::memcpy(buffer.data.get(), values.data(), values.size() * 16);
  Column column;
  column.type = decimal128(20, scale);
  column.length = static_cast<int64_t>(values.size());
  column.null_count = 0;
  column.values = buffer.freeze();
  return column;
}

TEST(Aggregates, DecimalsAddUpExactlyAndOverflowIsAnError) {
  const Column column = decimals({150, -25, 1}, 2);
  const BoundAggregate sum = bind(Kind::kSum, column.type);
  EXPECT_EQ(sum.result_type->to_string(), "decimal128(38, 2)");
  auto result = aggregate_in_pieces(sum, column, {0, 0, 1});
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  __int128 values[2];
  std::memcpy(values, result.value().values.data, 32);
  EXPECT_TRUE(values[0] == 125 && values[1] == 1);
  check<double>(Kind::kAvg, column, {0, 0, 1}, {0.625, 0.01});

  __int128 large = 1;
  for (int i = 0; i < 38; ++i) large *= 10;
  EXPECT_EQ(aggregate(sum, decimals({large - 1, 1}, 2), {0, 0}).status().code(),
            StatusCode::kOverflow);
  EXPECT_EQ(aggregate(sum, decimals({large, large}, 2), {0, 0}).status().code(),
            StatusCode::kOverflow);
}

TEST(Aggregates, IntegerOverflowIsAnErrorOrWraps) {
  const Column column = column_of<int64_t>(int64(), {INT64_MAX, 1});
  const Status status = aggregate(bind(Kind::kSum, int64()), column, {0, 0}).status();
  EXPECT_EQ(status.code(), StatusCode::kOverflow);
  EXPECT_NE(status.message().find("column 'c' overflows int64"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("wrap"), std::string::npos) << status.message();
  expect_values<int64_t>(aggregate(bind(Kind::kSum, int64(), OverflowMode::kWrap), column, {0, 0}),
                         {INT64_MIN});
  // The average has room to spare.
  expect_values<double>(aggregate(bind(Kind::kAvg, int64()), column, {0, 0}),
                        {4611686018427387904.0});
}

TEST(Aggregates, NullsThatComeLateDoNotHideWhatWasSeenBefore) {
  const BoundAggregate bound = bind(Kind::kSum, int64());
  const auto accumulators = make_accumulators(bound);
  const Column first = column_of<int64_t>(int64(), {1, 2});
  const Column second = column_of<int64_t>(int64(), {std::nullopt, std::nullopt, 4});
  const std::vector<uint32_t> groups = {0, 1, 2, 0, 3};
  accumulators->resize(2);
  ASSERT_TRUE(accumulators->update(&first, {nullptr, groups.data(), 2}).is_ok());
  accumulators->resize(4);
  ASSERT_TRUE(accumulators->update(&second, {nullptr, groups.data() + 2, 3}).is_ok());
  expect_values<int64_t>(accumulators->finish(0, 4), {1, 2, std::nullopt, 4});
}

TEST(Aggregates, RowSelectionsPickTheirRows) {
  const BoundAggregate bound = bind(Kind::kSum, int64());
  const auto accumulators = make_accumulators(bound);
  const Column column = column_of<int64_t>(int64(), {1, 2, 4, 8}).slice(1, 3);
  const std::vector<int32_t> rows = {2, 0};
  const std::vector<uint32_t> groups = {0, 1};
  accumulators->resize(2);
  ASSERT_TRUE(accumulators->update(&column, {rows.data(), groups.data(), 2}).is_ok());
  expect_values<int64_t>(accumulators->finish(0, 2), {8, 2});
}

TEST(Aggregates, NamesAreParsedWithClearErrors) {
  EXPECT_EQ(parse_aggregate_kind("count", false).value(), Kind::kCountStar);
  EXPECT_EQ(parse_aggregate_kind("count", true).value(), Kind::kCount);
  EXPECT_EQ(parse_aggregate_kind("avg", true).value(), Kind::kAvg);
  EXPECT_FALSE(parse_aggregate_kind("sum", false).is_ok());
  EXPECT_FALSE(parse_aggregate_kind("median", true).is_ok());
}

}  // namespace
}  // namespace penstock::window::testing
