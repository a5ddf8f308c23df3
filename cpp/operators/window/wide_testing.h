// Windows with every aggregate over every kind of accumulator, random batches for them, and results
// to compare to the last bit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "operators/window/accumulators.h"
#include "operators/window/window_testing.h"

namespace penstock::window::testing {

// Every aggregate, over every kind of accumulator; keys of one column or of two.
inline SchemaPtr wide_schema(const DataTypePtr& key) {
  return std::make_shared<Schema>(std::vector<FieldPtr>{
      field("k", key), field("i", int32()), field("f", float64()), field("d", decimal128(12, 2)),
      field("b", boolean()), field("s", utf8())});
}

inline std::vector<AggregateSpec> wide_aggregates() {
  std::vector<AggregateSpec> all = {{AggregateKind::kCountStar, "", "n"},
                                    {AggregateKind::kCount, "i", "ni"}};
  for (const char* column : {"i", "f", "d", "b", "s"}) {
    const std::string name = column;
    all.push_back({AggregateKind::kMin, name, "min_" + name});
    all.push_back({AggregateKind::kMax, name, "max_" + name});
    if (name == "b" || name == "s") continue;
    all.push_back({AggregateKind::kSum, name, "sum_" + name});
    all.push_back({AggregateKind::kAvg, name, "avg_" + name});
  }
  return all;
}

enum class WideKeys { kInt64, kText, kTuple, kNone };
constexpr WideKeys kAllWideKeys[] = {WideKeys::kInt64, WideKeys::kText, WideKeys::kTuple,
                                     WideKeys::kNone};

inline WindowPlanPtr wide_plan(WideKeys keys) {
  WindowOptions options;
  if (keys != WideKeys::kNone) options.key_columns = {"k"};
  if (keys == WideKeys::kTuple) options.key_columns = {"k", "b"};
  options.size_ms = 100;
  options.aggregates = wide_aggregates();
  auto plan = WindowPlan::bind(options, wide_schema(keys == WideKeys::kText ? utf8() : int64()));
  EXPECT_TRUE(plan.is_ok()) << plan.status().message();
  return plan.value();
}

// Rows for timestamps around `now`. `nulls` of 8 values are null. Floats are multiples of
// 1 / `divisor`: of a power of two their sums are exact.
inline Batch wide_batch(const WindowPlan& plan, std::mt19937* random, uint32_t keys, Timestamp now,
                        uint32_t nulls, size_t rows, double divisor = 7.0) {
  std::vector<std::optional<int64_t>> numbers;
  std::vector<std::optional<std::string>> names;
  std::vector<std::optional<int32_t>> ints;
  std::vector<std::optional<double>> floats;
  std::vector<std::optional<Decimal>> decimals;
  std::vector<std::optional<std::string>> texts;
  std::vector<std::optional<bool>> flags;
  std::vector<int64_t> timestamps;
  const auto maybe = [&](auto value) {
    return (*random)() % 8 < nulls ? std::nullopt : std::optional(value);
  };
  for (size_t i = 0; i < rows; ++i) {
    const auto key = static_cast<uint32_t>((*random)() % keys);
    numbers.push_back(maybe(int64_t{key}));
    names.push_back(maybe("key" + std::to_string(key)));
    ints.push_back(maybe(static_cast<int32_t>((*random)() % 2000) - 1000));
    floats.push_back(maybe(static_cast<double>((*random)()) / divisor));
    decimals.push_back(maybe(Decimal(Int128{(*random)()} - 1000)));
    flags.push_back(maybe((*random)() % 2 == 0));
    texts.push_back(maybe(std::string((*random)() % 40, static_cast<char>('a' + key % 26))));
    timestamps.push_back(now - static_cast<Timestamp>((*random)() % 150));
  }
  const bool text_keys = plan.input_schema()->field(0).type->is_binary_like();
  BoolBuilder bools;
  for (const auto& flag : flags) flag.has_value() ? bools.append(*flag) : bools.append_null();
  Batch batch =
      make_batch(plan.input_schema(),
                 {text_keys ? strings_of(names) : column_of(int64(), numbers),
                  column_of(int32(), ints), column_of(float64(), floats),
                  column_of(decimal128(12, 2), decimals), bools.finish(), strings_of(texts)},
                 static_cast<int64_t>(rows));
  batch.timestamps = int64_column(std::move(timestamps));
  return batch;
}

// To the last bit, other than lines_of().
inline std::vector<std::string> exact_lines(const std::vector<Batch>& batches) {
  std::vector<std::string> lines;
  for (const Batch& batch : batches) {
    for (int64_t i = 0; i < batch.num_rows; ++i) {
      std::string& line = lines.emplace_back();
      for (const Column& column : batch.columns) {
        const bool is_float = column.type->id == TypeId::kFloat64 && column.is_valid(i);
        line += (is_float ? std::to_string(std::bit_cast<int64_t>(column.data<double>()[i]))
                          : render(column, i)) +
                "|";
      }
    }
  }
  return lines;
}

}  // namespace penstock::window::testing
