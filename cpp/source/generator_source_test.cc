#include "source/generator_source.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "source/source_testing.h"

namespace penstock {
namespace {

using source_testing::mentions;

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kTrillion = 1'000'000'000'000;

GeneratorOptions all_kinds() {
  using Strings = std::vector<std::string>;
  GeneratorOptions options;
  options.seed = 42;
  options.columns = {
      {"sequence", SequenceColumn{-5, 3}},
      {"int", IntColumn{-10, 10}},
      {"int_40_bits", IntColumn{0, kTrillion}},
      {"int_64_bits", IntColumn{kMin64, kMax64}},
      {"float", FloatColumn{-1.5, 2.5}},
      {"bool", BoolColumn{0.3}},
      {"short_text", ChoiceColumn{Strings{"a", "", "ccc"}}},
      {"long_text", ChoiceColumn{Strings{"a text of over sixteen bytes", "b"}}},
      {"choice_int", ChoiceColumn{std::vector<int64_t>{10, 20, -30}}},
      {"choice_float", ChoiceColumn{std::vector<double>{0.5, -0.25}}},
      {"string", StringColumn{"user-", 1000}},
      {"string_40_bits", StringColumn{"", static_cast<uint64_t>(kTrillion)}},
      {"timestamp", TimestampColumn{-1000, 0.7, 500, 10000, 0.25}},
  };
  return options;
}

std::shared_ptr<GeneratorSource> make(GeneratorOptions options) {
  auto source = GeneratorSource::create(std::move(options));
  EXPECT_TRUE(source.is_ok()) << source.status().message();
  return std::move(source).value();
}

GeneratorOptions one_column(GeneratedValues values, uint64_t seed = 1) {
  GeneratorOptions options;
  options.columns = {{"c", std::move(values)}};
  options.seed = seed;
  return options;
}

const Column& column(const Batch& batch, const std::string& name) {
  return batch.columns[static_cast<size_t>(batch.schema->index_of(name))];
}

template <typename T>
std::vector<T> values(const Column& column) {
  std::vector<T> out;
  for (int64_t i = 0; i < column.length; ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      out.push_back(column.bool_at(i));
    } else if constexpr (std::is_same_v<T, std::string>) {
      out.emplace_back(column.bytes_at(i));
    } else {
      out.push_back(column.data<T>()[i]);
    }
  }
  return out;
}

template <typename T>
std::vector<T> values(const Batch& batch, const std::string& name) {
  return values<T>(column(batch, name));
}

// Golden values: DataGen(seed=42) with these columns, rows(0, 6) of datagen_rows.py. Never to
// change.
TEST(GeneratorSource, FirstRowsAreThoseOfTheReference) {
  const Batch rows = make(all_kinds())->read(0, 6).value();
  const std::string text = "a text of over sixteen bytes";
  using Ints = std::vector<int64_t>;
  using Strings = std::vector<std::string>;
  using Doubles = std::vector<double>;
  EXPECT_EQ(values<int64_t>(rows, "sequence"), (Ints{-5, -2, 1, 4, 7, 10}));
  EXPECT_EQ(values<int64_t>(rows, "int"), (Ints{9, -2, 1, 9, -7, 10}));
  EXPECT_EQ(values<int64_t>(rows, "int_40_bits"), (Ints{25440410201, 139223028272, 750313426967,
                                                        928712746395, 421756366950, 406576453292}));
  EXPECT_EQ(values<int64_t>(rows, "int_64_bits"),
            (Ints{-6947298040287491356, -3199316515743884766, 6780171064575349873,
                  723355948426990834, 7606284879823396880, -8503415250582984852}));
  EXPECT_EQ(values<double>(rows, "float"),
            (Doubles{0.3356748102127507, 2.152263277572683, -0.4958242287336696,
                     -0.008321204571416718, -0.2241501774065373, -0.14041189445057123}));
  EXPECT_EQ(values<bool>(rows, "bool"), (std::vector<bool>{true, false, true, true, true, false}));
  EXPECT_EQ(values<std::string>(rows, "short_text"), (Strings{"ccc", "", "", "a", "ccc", "a"}));
  EXPECT_EQ(values<std::string>(rows, "long_text"), (Strings{"b", text, "b", text, text, "b"}));
  EXPECT_EQ(values<int64_t>(rows, "choice_int"), (Ints{-30, 20, -30, -30, 20, 10}));
  EXPECT_EQ(values<double>(rows, "choice_float"), (Doubles{0.5, -0.25, -0.25, 0.5, 0.5, 0.5}));
  EXPECT_EQ(values<std::string>(rows, "string"),
            (Strings{"user-404", "user-730", "user-25", "user-550", "user-76", "user-937"}));
  EXPECT_EQ(values<std::string>(rows, "string_40_bits"),
            (Strings{"708800210002", "80742957689", "252861007826", "723812584658", "754573049094",
                     "377184536254"}));
  EXPECT_EQ(values<int64_t>(rows, "timestamp"), (Ints{-1016, -1064, -1136, -1431, -11411, -11184}));
}

// Golden values: the same, rows(2**40 + 3, 3).
TEST(GeneratorSource, RowsFarOutAreThoseOfTheReference) {
  const Batch rows = make(all_kinds())->read((int64_t{1} << 40) + 3, 3).value();
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(values<int64_t>(rows, "sequence"), (Ints{3298534883332, 3298534883335, 3298534883338}));
  EXPECT_EQ(values<int64_t>(rows, "int"), (Ints{4, -2, 3}));
  EXPECT_EQ(values<int64_t>(rows, "int_64_bits"),
            (Ints{7882841572127403940, 6724784680192696877, 2018382392929895995}));
  EXPECT_EQ(values<double>(rows, "float"),
            (std::vector<double>{1.7187843851734121, 1.1651328399156644, -1.4699882976730088}));
  EXPECT_EQ(values<std::string>(rows, "string"),
            (std::vector<std::string>{"user-919", "user-494", "user-614"}));
  EXPECT_EQ(values<int64_t>(rows, "timestamp"), (Ints{769658128134, 769658128204, 769658138367}));
}

// Golden values: DataGen(seed=2**64 - 1).int("i", 0, 2**32 - 1).timestamp("t", 10**12, -2.5),
// rows(8190, 4): the greatest seed, the greatest bound that is folded, time that goes backwards.
TEST(GeneratorSource, LimitsAreThoseOfTheReference) {
  GeneratorOptions options;
  options.seed = std::numeric_limits<uint64_t>::max();
  options.columns = {{"i", IntColumn{0, (int64_t{1} << 32) - 1}},
                     {"t", TimestampColumn{kTrillion, -2.5, 0, 0, 0}}};
  const Batch rows = make(options)->read(8190, 4).value();
  EXPECT_EQ(values<int64_t>(rows, "i"),
            (std::vector<int64_t>{2985654303, 2645328073, 3060234481, 2429285096}));
  EXPECT_EQ(values<int64_t>(rows, "t"),
            (std::vector<int64_t>{999999979525, 999999979522, 999999979520, 999999979517}));
}

TEST(GeneratorSource, ARowDoesNotDependOnWhichRowsAreReadWithIt) {
  const auto source = make(all_kinds());
  constexpr int64_t kRows = 500;
  const Batch whole = source->read(1000, kRows).value();
  std::mt19937 random(3);
  for (int64_t from = 0; from < kRows;) {
    const int64_t count = std::min<int64_t>(kRows - from, 1 + static_cast<int64_t>(random() % 40));
    const Batch part = source->read(1000 + from, count).value();
    const Batch same = whole.slice(from, count);
    for (const char* name : {"sequence", "int", "int_64_bits", "choice_int", "timestamp"}) {
      EXPECT_EQ(values<int64_t>(part, name), values<int64_t>(same, name)) << name << " " << from;
    }
    for (const char* name : {"float", "choice_float"}) {
      EXPECT_EQ(values<double>(part, name), values<double>(same, name)) << name << " " << from;
    }
    for (const char* name : {"short_text", "long_text", "string", "string_40_bits"}) {
      EXPECT_EQ(values<std::string>(part, name), values<std::string>(same, name)) << from;
    }
    EXPECT_EQ(values<bool>(part, "bool"), values<bool>(same, "bool")) << from;
    from += count;
  }
}

TEST(GeneratorSource, SchemaHasTheTypesOfTheContractAndNoNulls) {
  const auto source = make(all_kinds());
  std::string types;
  for (const FieldPtr& field : source->schema()->fields()) {
    types += field->type->to_string() + " ";
    EXPECT_FALSE(field->nullable);
  }
  EXPECT_EQ(types,
            "int64 int64 int64 int64 double bool string string int64 double string string "
            "timestamp[ms] ");
  const Batch rows = source->read(0, 100).value();
  for (const Column& column : rows.columns) EXPECT_EQ(column.count_nulls(), 0);
}

TEST(GeneratorSource, ValuesStayWithinTheirBoundsAndReachThem) {
  constexpr int64_t kRows = 2000;
  const auto all = [](GeneratedValues how) {
    return make(one_column(how))->read(0, kRows).value();
  };
  const auto ints = values<int64_t>(all(IntColumn{-2, 2}), "c");
  EXPECT_EQ(std::set<int64_t>(ints.begin(), ints.end()), (std::set<int64_t>{-2, -1, 0, 1, 2}));
  for (const double value : values<double>(all(FloatColumn{1, 2}), "c")) {
    EXPECT_GE(value, 1);
    EXPECT_LT(value, 2);
  }
  const auto fixed = values<int64_t>(all(IntColumn{kMax64, kMax64}), "c");
  EXPECT_EQ(fixed, std::vector<int64_t>(kRows, kMax64));
  const auto times = values<int64_t>(all(TimestampColumn{0, 0, 3, 0, 0}), "c");
  EXPECT_EQ(std::set<int64_t>(times.begin(), times.end()), (std::set<int64_t>{-3, -2, -1, 0}));
}

TEST(GeneratorSource, FractionsZeroAndOneMeanNeverAndAlways) {
  const auto bools = [](double p) {
    return values<bool>(make(one_column(BoolColumn{p}))->read(0, 1000).value(), "c");
  };
  EXPECT_EQ(bools(0), std::vector<bool>(1000, false));
  EXPECT_EQ(bools(1), std::vector<bool>(1000, true));
  const auto times = [](double late_fraction) {
    return values<int64_t>(
        make(one_column(TimestampColumn{0, 0, 0, 7, late_fraction}))->read(0, 1000).value(), "c");
  };
  EXPECT_EQ(times(0), std::vector<int64_t>(1000, 0));
  EXPECT_EQ(times(1), std::vector<int64_t>(1000, -7));
}

TEST(GeneratorSource, ParametersThatMakeNoSenseAreRefusedNamingTheColumn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<GeneratedValues> wrong = {
      IntColumn{1, 0},
      FloatColumn{1, 0},
      FloatColumn{nan, 0},
      BoolColumn{-0.1},
      BoolColumn{1.1},
      BoolColumn{nan},
      ChoiceColumn{std::vector<std::string>{}},
      ChoiceColumn{std::vector<std::string>{std::string(1 << 20, 'x')}},
      StringColumn{"x", 0},
      StringColumn{std::string(1 << 20, 'x'), 5},
      TimestampColumn{0, 1, -1, 0, 0},
      TimestampColumn{0, 1, 0, -1, 0},
      TimestampColumn{0, nan, 0, 0, 0},
      TimestampColumn{0, 1, 0, 0, 2},
  };
  for (size_t i = 0; i < wrong.size(); ++i) {
    const Status status = GeneratorSource::create(one_column(wrong[i])).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << i;
    EXPECT_TRUE(mentions(status, "'c'")) << i << ": " << status.message();
  }
  EXPECT_FALSE(GeneratorSource::create({}).is_ok());
  GeneratorOptions negative = one_column(SequenceColumn{});
  negative.count = -1;
  EXPECT_TRUE(mentions(GeneratorSource::create(negative).status(), "count"));
  GeneratorOptions no_batch = one_column(SequenceColumn{});
  no_batch.batch_rows = 0;
  EXPECT_TRUE(mentions(GeneratorSource::create(no_batch).status(), "batch_rows"));
}

TEST(GeneratorSource, EndsAfterCountRows) {
  GeneratorOptions options = one_column(SequenceColumn{});
  options.count = kChunkRows + 5;
  options.batch_rows = 1000;
  const auto source = make(options);
  const ManualClock clock;
  source_testing::expect_ok(source->open(source_testing::make_context(&clock)));
  source_testing::RecordingOutput output;
  while (source->poll(output).value().kind != PollKind::kEnd)
    ASSERT_LT(output.batches.size(), 100u);
  std::vector<int64_t> got;
  for (const Batch& batch : output.batches) {
    for (const int64_t value : values<int64_t>(batch, "c")) got.push_back(value);
  }
  std::vector<int64_t> expected(static_cast<size_t>(*options.count));
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int64_t>(i);
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace penstock
