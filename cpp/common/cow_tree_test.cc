#include "common/cow_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace penstock {

namespace {

// Entries hold a number each, of which every copy is counted.
std::atomic<int64_t> references{0};

struct CountedEntry {
  int64_t key;
  int64_t value;
};

struct CountedTraits {
  using Entry = CountedEntry;
  using Probe = int64_t;
  static constexpr uint16_t kFirstLeaf = 2;
  // All zeros holds nothing: keys of the tests are never zero.
  static void retain(const Entry& entry) {
    if (entry.key != 0) references.fetch_add(1);
  }
  static void release(const Entry& entry) {
    if (entry.key != 0) references.fetch_sub(1);
  }
  static Entry separator(const Entry& entry) {
    retain(entry);
    return {entry.key, 0};
  }
  static int compare(int64_t probe, const Entry& entry) {
    return probe < entry.key ? -1 : probe > entry.key;
  }
};

using Tree = CowTree<CountedTraits>;
using Model = std::map<int64_t, int64_t>;

void put(Tree* tree, int64_t key, int64_t value) {
  bool inserted = false;
  CountedEntry* const entry = tree->find_or_insert(key, &inserted);
  if (inserted) {
    entry->key = key;
    references.fetch_add(1);
  }
  entry->value = value;
}

bool take(Tree* tree, int64_t key) {
  CountedEntry removed{};
  const bool was_there = tree->take(key, &removed);
  EXPECT_EQ(removed.key, was_there ? key : 0);
  CountedTraits::release(removed);
  return was_there;
}

Model contents(const Tree& tree) {
  Model all;
  int64_t last = INT64_MIN;
  tree.visit([&](const CountedEntry& entry) {
    EXPECT_LT(last, entry.key);
    last = entry.key;
    all[entry.key] = entry.value;
    return true;
  });
  return all;
}

void check_scan(const Tree& tree, const Model& model, int64_t after, size_t limit) {
  std::vector<int64_t> seen;
  tree.visit_after(&after, [&](const CountedEntry& entry) {
    seen.push_back(entry.key);
    return seen.size() < limit;
  });
  std::vector<int64_t> expected;
  for (auto it = model.upper_bound(after); it != model.end() && expected.size() < limit; ++it) {
    expected.push_back(it->first);
  }
  EXPECT_EQ(seen, expected);
}

// One change of both, chosen at random; `growth` says how often it is an insertion, in percent.
void change(Tree* tree, Model* model, int64_t keys, uint64_t growth, std::mt19937_64* random) {
  const int64_t key = 1 + static_cast<int64_t>((*random)() % static_cast<uint64_t>(keys));
  const uint64_t dice = (*random)() % 100;
  if (dice < growth) {
    put(tree, key, static_cast<int64_t>(dice));
    (*model)[key] = static_cast<int64_t>(dice);
  } else if (dice % 2 == 0 || model->empty()) {
    EXPECT_EQ(take(tree, key), model->erase(key) == 1);
  } else {
    EXPECT_EQ(tree->first()->key, model->begin()->first);
    const CountedEntry first = tree->take_first();
    EXPECT_EQ(first.key, model->begin()->first);
    CountedTraits::release(first);
    model->erase(model->begin());
  }
}

}  // namespace

TEST(CowTreeTest, AgreesWithAMapAndSoDoAllCopiesMadeOnTheWay) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const int64_t keys = int64_t{1} << (2 + random() % 13);
    {
      Tree tree;
      Model model;
      std::vector<std::pair<Tree, Model>> copies;
      for (int phase = 0; phase < 6; ++phase) {
        const uint64_t growth = phase % 2 == 0 ? 85 : 20;
        for (int i = 0; i < 1500; ++i) {
          change(&tree, &model, keys, growth, &random);
          if (random() % 400 == 0) copies.emplace_back(tree, model);
        }
        check_scan(tree, model, static_cast<int64_t>(random() % 100), 1 + random() % 200);
        EXPECT_EQ(tree.find(7) != nullptr, model.contains(7));
        if (copies.size() > 8) copies.erase(copies.begin());
      }
      EXPECT_EQ(contents(tree), model) << "seed " << seed;
      EXPECT_EQ(tree.empty(), model.empty());
      for (const auto& [copy, then] : copies) EXPECT_EQ(contents(copy), then) << "seed " << seed;
    }
    ASSERT_EQ(references.load(), 0) << "seed " << seed;
  }
}

TEST(CowTreeTest, AscendingInsertionFillsLeaves) {
  Tree tree;
  for (int64_t i = 1; i <= 100000; ++i) put(&tree, i, i);
  EXPECT_EQ(contents(tree).size(), 100000U);
  for (int64_t i = 1; i <= 100000; ++i) {
    ASSERT_EQ(tree.first()->key, i);
    CountedTraits::release(tree.take_first());
  }
  EXPECT_TRUE(tree.empty());
  EXPECT_EQ(references.load(), 0);
}

TEST(CowTreeTest, ALargeTreeThatLosesNearlyAllIsMergedAndStaysInOrder) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::mt19937_64 random(seed);
    Tree tree;
    Model model;
    for (int round = 0; round < 3; ++round) {
      std::vector<int64_t> keys;
      for (int i = 0; i < 20000; ++i) {
        const auto key = 1 + static_cast<int64_t>(random() % 1'000'000);
        put(&tree, key, i);
        model[key] = i;
      }
      const Tree copy = tree;
      const Model then = model;
      for (const auto& [key, value] : model) keys.push_back(key);
      std::shuffle(keys.begin(), keys.end(), random);
      keys.resize(keys.size() - 50);
      for (size_t i = 0; i < keys.size(); ++i) {
        // It may have come back as the one before another.
        ASSERT_EQ(take(&tree, keys[i]), model.erase(keys[i]) == 1);
        // New entries come before the first one of a node, where its bounds know nothing of them.
        if (i % 40 == 0 && keys[i] > 1) {
          put(&tree, keys[i] - 1, 7);
          model[keys[i] - 1] = 7;
        }
        if (i % 1000 == 0) {
          for (const auto& [key, value] : model) ASSERT_NE(tree.find(key), nullptr);
        }
      }
      EXPECT_EQ(contents(tree), model);
      EXPECT_EQ(contents(copy), then);
      for (const auto& [key, value] : model) ASSERT_NE(tree.find(key), nullptr);
    }
  }
  EXPECT_EQ(references.load(), 0);
}

// Ascending insertion leaves 63 entries in each leaf and 63 leaves below each inner node, so it is
// known which entries share a node.
TEST(CowTreeTest, AnEntryBeforeTheFirstBoundOfANodeIsFoundAfterItIsMergedIntoItsNeighbour) {
  Tree tree;
  Model model;
  for (int64_t i = 0; i < int64_t{63} * 63 * 4; ++i) {
    put(&tree, 2 * i + 2, i);
    model[2 * i + 2] = i;
  }
  const auto remove_leaves = [&](int64_t first, int64_t last) {
    for (int64_t i = 63 * first; i < 63 * (last + 1); ++i) {
      ASSERT_TRUE(take(&tree, 2 * i + 2));
      model.erase(2 * i + 2);
    }
  };
  remove_leaves(63, 63);  // the first of the second inner node, whose first bound is now too high
  const int64_t before = 63 * 63 * 2 + 3;
  put(&tree, before, 1);
  model[before] = 1;
  remove_leaves(73, 125);
  remove_leaves(10, 62);
  EXPECT_EQ(contents(tree), model);
  for (const auto& [key, value] : model) ASSERT_NE(tree.find(key), nullptr) << key;
}

TEST(CowTreeTest, AVisitStopsWhereItIsTold) {
  Tree tree;
  for (int64_t i = 1; i <= 1000; ++i) put(&tree, i, i);
  int seen = 0;
  EXPECT_FALSE(tree.visit([&](const CountedEntry&) { return ++seen < 500; }));
  EXPECT_EQ(seen, 500);
}

TEST(CowTreeTest, ADetachedTreeIsTheSameTree) {
  Tree tree;
  put(&tree, 1, 10);
  void* const root = tree.detach();
  EXPECT_TRUE(tree.empty());
  Tree::retain_root(root);
  Tree one = Tree::adopt(root);
  put(&one, 2, 20);
  EXPECT_EQ(contents(one), (Model{{1, 10}, {2, 20}}));
  Tree other = Tree::adopt(root);
  EXPECT_EQ(contents(other), (Model{{1, 10}}));
}

TEST(CowTreeTest, ACopyIsReadInAnotherThreadWhileTheTreeIsChanged) {
  Tree tree;
  Model model;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) change(&tree, &model, 10000, 80, &random);
  for (int round = 0; round < 5; ++round) {
    std::thread reader([copy = tree, then = model] { EXPECT_EQ(contents(copy), then); });
    for (int i = 0; i < 5000; ++i) change(&tree, &model, 10000, 55, &random);
    reader.join();
  }
  EXPECT_EQ(contents(tree), model);
}

}  // namespace penstock
