#include "state/heap/entry_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>

#include "common/property_seeds.h"
#include "record/key_encoding.h"

namespace penstock {

namespace {

using Key = std::pair<std::string, std::string>;
using Model = std::map<Key, std::string>;

EntryKey entry_key(const Key& key) {
  return {key.first, murmur3_32(key.first.data(), key.first.size()), key.second};
}

void put(EntryTable* table, const EntryKey& key, std::string_view value) {
  bool inserted = false;
  const auto entry = table->find_or_insert(EntryTable::probe_of(key), &inserted);
  ASSERT_TRUE(entry.is_ok()) << entry.status().message();
  cell_assign(value, &entry.value()->value, &entry.value()->value_tag);
}

template <typename Entries>
Model contents(const Entries& entries) {
  Model all;
  const auto add = [&all](const Entry& entry) {
    const Key key{std::string(entry.key_view()), std::string(entry.name_space())};
    EXPECT_TRUE(all.emplace(key, entry.value_view()).second);
    return Status::ok();
  };
  if constexpr (requires { entries.for_each(add); }) {
    EXPECT_TRUE(entries.for_each(add).is_ok());
  } else {
    entries.visit([&add](const Entry& entry) { EXPECT_TRUE(add(entry).is_ok()); });
  }
  return all;
}

std::string int_key(int64_t value) {
  std::string key;
  encode_int64(value, &key);
  return key;
}

// Short and long keys and namespaces whose joined bytes are often the same.
Key some_key(std::mt19937_64* random, uint64_t keys) {
  const uint64_t number = (*random)() % keys;
  if (number % 11 == 0) return {std::string(number % 3, 'a'), std::string(number % 5, 'a')};
  std::string key = int_key(static_cast<int64_t>(number));
  if (number % 7 == 0) key += std::string(number % 40, 'k');
  return {key, std::string(number % 4 == 0 ? number % 20 : 0, 'n')};
}

}  // namespace

TEST(EntryTableTest, AgreesWithAMapAndSoDoSnapshots) {
  for (uint64_t seed = 0; seed < property_seeds(25); ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t keys = uint64_t{1} << (3 + random() % 13);
    EntryTable table;
    Model model;
    std::vector<std::pair<EntrySnapshot, Model>> snapshots;
    for (int step = 0; step < 30000; ++step) {
      const bool growing = step / 10000 != 1;
      const Key key = some_key(&random, keys);
      if (random() % 100 < (growing ? 80U : 20U)) {
        const std::string value(random() % 30, static_cast<char>('a' + random() % 26));
        put(&table, entry_key(key), value);
        model[key] = value;
      } else {
        EXPECT_EQ(table.erase(EntryTable::probe_of(entry_key(key))), model.erase(key) == 1);
      }
      const Entry* const found = table.find(EntryTable::probe_of(entry_key(key)));
      ASSERT_EQ(found != nullptr, model.contains(key));
      if (found != nullptr) {
        ASSERT_EQ(found->value_view(), model[key]);
      }
      if (random() % 5000 == 0) snapshots.emplace_back(table.snapshot(), model);
    }
    EXPECT_EQ(table.size(), model.size());
    EXPECT_EQ(contents(table), model) << "seed " << seed;
    for (const auto& [snapshot, then] : snapshots) {
      EXPECT_EQ(contents(snapshot), then) << "seed " << seed;
    }
  }
}

TEST(EntryTableTest, AnInt64KeyWithACountAndASumTakesAtMost64Bytes) {
  EntryTable table;
  const std::string count_and_sum(16, 'v');
  double worst = 0;
  int64_t worst_at = 0;
  for (int64_t i = 1; i <= 400'000; ++i) {
    put(&table, entry_key({int_key(i), ""}), count_and_sum);
    if (i < 1000 || i % 100 != 0) continue;
    const double each = static_cast<double>(table.memory_bytes()) / static_cast<double>(i);
    if (each > worst) {
      worst = each;
      worst_at = i;
    }
  }
  std::printf("hashmap: at most %.1f bytes per key (at %lld keys), %.1f at 400,000\n", worst,
              static_cast<long long>(worst_at), static_cast<double>(table.memory_bytes()) / 4e5);
  EXPECT_LE(worst, 64.0);
  bool all_inside = true;
  ASSERT_TRUE(table
                  .for_each([&](const Entry& entry) {
                    all_inside =
                        all_inside && entry.key_tag != kBlobTag && entry.value_tag != kBlobTag;
                    return Status::ok();
                  })
                  .is_ok());
  EXPECT_TRUE(all_inside) << "some of it lies outside of the table";
}

TEST(EntryTableTest, KeysThatAllHaveOneHashAreKeptWithoutALargeDirectory) {
  EntryTable table;
  std::set<std::string> expected;
  for (int64_t i = 0; i < 8000; ++i) {
    expected.insert(int_key(i));
    put(&table, {int_key(i), 42, {}}, std::to_string(i));
  }
  EXPECT_EQ(table.size(), 8000U);
  EXPECT_LT(table.memory_bytes(), 8000U * 100);
  for (int64_t i = 0; i < 8000; i += 7) {
    const std::string key = int_key(i);
    const Entry* const entry = table.find(EntryTable::probe_of({key, 42, {}}));
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->value_view(), std::to_string(i));
  }
  for (const std::string& key : expected) {
    ASSERT_TRUE(table.erase(EntryTable::probe_of({key, 42, {}})));
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST(EntryTableTest, MemoryComesBackWhenEntriesGo) {
  EntryTable table;
  for (int64_t i = 0; i < 100'000; ++i) put(&table, entry_key({int_key(i), ""}), "v");
  const uint64_t full = table.memory_bytes();
  for (int64_t i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(table.erase(EntryTable::probe_of(entry_key({int_key(i), ""}))));
  }
  EXPECT_LT(table.memory_bytes(), full / 50);
}

TEST(EntryTableTest, ManyKeysAreLookedUpAsOneWouldBe) {
  EntryTable table;
  std::vector<std::string> keys;
  for (int64_t i = 0; i < 5000; ++i) keys.push_back(int_key(i));
  for (size_t i = 0; i < keys.size(); i += 2) {
    put(&table, entry_key({keys[i], ""}), std::to_string(i));
  }
  for (const size_t count : {0U, 1U, 7U, 8U, 9U, 17U, 5000U}) {
    std::vector<EntryTable::Probe> probes;
    for (size_t i = 0; i < count; ++i) {
      const EntryKey key{keys[i], murmur3_32(keys[i].data(), keys[i].size()), {}};
      probes.push_back(EntryTable::probe_of(key));
    }
    std::vector<const Entry*> found(count);
    table.find_all(probes.data(), count, found.data());
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(found[i], table.find(probes[i]));
  }
}

TEST(EntryTableTest, AWalkComesByEveryKeyInEachRound) {
  EntryTable table;
  std::vector<OwnedKey> some;
  table.next_keys(5, &some);
  EXPECT_TRUE(some.empty());
  std::set<Key> expected;
  std::mt19937_64 random(3);
  while (expected.size() < 20'000) {
    const Key key = some_key(&random, 1'000'000);
    expected.insert(key);
    put(&table, entry_key(key), "v");
  }
  for (int round = 0; round < 2; ++round) {
    std::set<Key> seen;
    for (size_t count = 0; count < expected.size();) {
      table.next_keys(std::min<size_t>(37, expected.size() - count), &some);
      count += some.size();
      for (const OwnedKey& key : some) {
        seen.emplace(key.view().key, key.view().name_space);
        EXPECT_EQ(key.hash, entry_key({std::string(key.view().key), ""}).hash);
      }
    }
    EXPECT_EQ(seen, expected);
  }
}

}  // namespace penstock
