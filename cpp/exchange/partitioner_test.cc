#include "exchange/partitioner.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <utility>

#include "record/key_encoding.h"

namespace penstock {
namespace {

// Columns "key" and "n"; n is the row's number in the stream, also its timestamp.
Batch make(const std::vector<int64_t>& keys, int64_t first = 0) {
  std::vector<int64_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), first);
  std::vector<FieldPtr> fields;
  for (const char* name : {"key", "n"}) {
    Field field;
    field.name = name;
    field.type = int64();
    fields.push_back(std::make_shared<const Field>(std::move(field)));
  }
  Batch batch =
      make_batch(std::make_shared<const Schema>(std::move(fields)),
                 {int64_column(keys), int64_column(numbers)}, static_cast<int64_t>(keys.size()));
  batch.timestamps = int64_column(numbers);
  return batch;
}

std::vector<int64_t> values(const Batch& batch, size_t column) {
  if (batch.num_rows == 0) return {};
  const auto* data = batch.columns[column].data<int64_t>();
  return {data, data + batch.num_rows};
}

std::vector<Batch> run(Partitioner& partitioner, Batch batch) {
  std::vector<Batch> out;
  const Status status = partitioner.partition(std::move(batch), &out);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return out;
}

using Numbers = std::vector<int64_t>;

TEST(Partitioner, ForwardHandsTheBatchOnWithoutACopy) {
  const Batch batch = make({1, 2, 3});
  const auto out = run(*make_forward(), batch);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].columns[0].values.data, batch.columns[0].values.data);
}

TEST(Partitioner, EmptyBatchGoesNowhere) {
  for (auto& p :
       {make_rebalance(3, 0), make_broadcast(3), make_global(3), make_hash(3, 128, {0})}) {
    for (const Batch& b : run(*p, make({}))) EXPECT_EQ(b.num_rows, 0);
  }
}

TEST(Partitioner, BroadcastSharesTheBatch) {
  const Batch batch = make({1, 2});
  for (const Batch& b : run(*make_broadcast(3), batch)) {
    EXPECT_EQ(b.columns[1].values.data, batch.columns[1].values.data);
  }
}

TEST(Partitioner, GlobalSendsAllToTheFirst) {
  const auto out = run(*make_global(3), make({1, 2}));
  EXPECT_EQ(out[0].num_rows, 2);
  EXPECT_EQ(out[1].num_rows + out[2].num_rows, 0);
}

TEST(Partitioner, RebalanceIsRoundRobinByRecord) {
  auto rebalance = make_rebalance(3, 1);
  auto out = run(*rebalance, make({0, 0, 0, 0}));
  EXPECT_EQ(values(out[1], 1), (Numbers{0, 3}));
  EXPECT_EQ(values(out[2], 1), (Numbers{1}));
  EXPECT_EQ(values(out[0], 1), (Numbers{2}));
  out = run(*rebalance, make({0}, 4));
  EXPECT_EQ(values(out[2], 1), (Numbers{4}));
}

TEST(Partitioner, HashFollowsTheKeyGroup) {
  constexpr int32_t kTargets = 4;
  for (int32_t max_parallelism : {128, 100}) {
    auto hash = make_hash(kTargets, max_parallelism, {0});
    const auto out = run(*hash, make({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    for (int32_t t = 0; t < kTargets; ++t) {
      for (const int64_t key : values(out[static_cast<size_t>(t)], 0)) {
        const int32_t group = key_group_of(hash_int64_key(key), max_parallelism);
        EXPECT_TRUE(key_group_range(t, max_parallelism, kTargets).contains(group));
      }
    }
  }
}

TEST(Partitioner, HashOfTheCarriedKeysEqualsHashOfTheColumns) {
  Batch batch = make({5, 6, 7, 8, 9, 5});
  const auto by_columns = run(*make_hash(3, 128, {0}), batch);
  auto keys = encode_keys({batch.columns[0]}, batch.num_rows);
  ASSERT_TRUE(keys.is_ok());
  batch.keys = std::make_shared<const EncodedKeys>(std::move(keys).value());
  const auto by_keys = run(*make_hash(3, 128, {}), batch);
  for (size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(values(by_keys[t], 1), values(by_columns[t], 1));
    if (by_keys[t].num_rows == 0) continue;
    ASSERT_NE(by_keys[t].keys, nullptr);
    EXPECT_EQ(by_keys[t].keys->hashes.size(), static_cast<size_t>(by_keys[t].num_rows));
  }
}

TEST(Partitioner, HashWithOneKeyMakesNoCopy) {
  const Batch batch = make({42, 42, 42});
  for (const Batch& b : run(*make_hash(4, 128, {0}), batch)) {
    if (b.num_rows == 0) continue;
    EXPECT_EQ(b.columns[0].values.data, batch.columns[0].values.data);
  }
}

TEST(Partitioner, HashWithoutAnyKeyIsAnError) {
  std::vector<Batch> out;
  EXPECT_EQ(make_hash(2, 128, {})->partition(make({1, 2}), &out).code(), StatusCode::kInternal);
  EXPECT_EQ(make_hash(2, 128, {9})->partition(make({1, 2}), &out).code(), StatusCode::kInternal);
}

// Cut anywhere, each target gets the same rows in the same order; every row goes to exactly one.
TEST(Partitioner, RandomStreamsDoNotDependOnBatchBoundaries) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const auto targets = static_cast<int32_t>(1 + random() % 6);
    std::vector<int64_t> keys(random() % 200);
    for (int64_t& key : keys) key = static_cast<int64_t>(random() % 20);
    std::vector<std::vector<Numbers>> per_cut;
    for (size_t cut : {1u, 7u, 8192u}) {
      for (const bool by_hash : {true, false}) {
        auto p = by_hash ? make_hash(targets, 128, {0}) : make_rebalance(targets, 0);
        std::vector<Numbers> got(static_cast<size_t>(targets));
        for (size_t from = 0; from < keys.size(); from += cut) {
          const size_t to = std::min(keys.size(), from + cut);
          const std::vector<int64_t> part(keys.begin() + static_cast<int64_t>(from),
                                          keys.begin() + static_cast<int64_t>(to));
          const auto out = run(*p, make(part, static_cast<int64_t>(from)));
          for (size_t t = 0; t < got.size(); ++t) {
            const Numbers n = values(out[t], 1);
            got[t].insert(got[t].end(), n.begin(), n.end());
            if (n.empty()) continue;
            EXPECT_EQ(out[t].timestamp_data()[0], n[0]);
          }
        }
        per_cut.push_back(got);
      }
    }
    for (size_t i = 2; i < per_cut.size(); ++i) EXPECT_EQ(per_cut[i], per_cut[i % 2]);
    for (const auto& got : per_cut) {
      size_t rows = 0;
      for (const Numbers& n : got) {
        rows += n.size();
        EXPECT_TRUE(std::is_sorted(n.begin(), n.end()));
      }
      EXPECT_EQ(rows, keys.size());
    }
  }
}

TEST(Partitioner, HashByNameAgreesWithHashByIndex) {
  const Batch batch = make({1, 2, 3, 4, 5, 6, 7, 8});
  const auto by_index = run(*make_hash(3, 128, {0}), batch);
  const auto by_name = run(*make_hash_by_name(3, 128, {"key"}), batch);
  for (size_t t = 0; t < 3; ++t) EXPECT_EQ(values(by_name[t], 0), values(by_index[t], 0));
}

TEST(Partitioner, HashByNameNamesTheUnknownColumnAndTheKnownOnes) {
  std::vector<Batch> out;
  const Status status = make_hash_by_name(3, 128, {"kye"})->partition(make({1, 2}), &out);
  EXPECT_EQ(status.code(), StatusCode::kKeyError);
  EXPECT_EQ(status.message(), "unknown key column 'kye'; the columns are: key, n");
}

}  // namespace
}  // namespace penstock
