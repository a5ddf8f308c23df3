#include "snapshot/operator_state.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

namespace penstock {
namespace {

constexpr int32_t kGroups = 16;

using Entry = std::tuple<int32_t, std::string, std::string, std::string>;

std::vector<Entry> entries_of(const KeyedStateData& state) {
  std::vector<Entry> entries;
  const Status status = state.for_each([&](int32_t g, auto key, auto name_space, auto value) {
    entries.emplace_back(g, key, name_space, value);
    return Status::ok();
  });
  EXPECT_TRUE(status.is_ok()) << status.message();
  return entries;
}

KeyedStateData keyed(const std::string& name) {
  KeyedStateData state;
  state.meta.name = name;
  state.meta.kind = StateKind::kWindowContents;
  return state;
}

ListStateData list(const std::string& name, StateKind kind, std::vector<std::string> items) {
  ListStateData state;
  state.meta.name = name;
  state.meta.kind = kind;
  state.items = std::move(items);
  return state;
}

TEST(OperatorState, EntriesComeBackWithAllTheirBytes) {
  KeyedStateData state = keyed("s");
  const std::string zeros("\0\0", 2);
  state.add(3, "k", "", zeros);
  state.add(1, zeros, "n", "");
  state.add(3, "k2", "n", "v");
  EXPECT_EQ(entries_of(state),
            (std::vector<Entry>{{1, zeros, "n", ""}, {3, "k", "", zeros}, {3, "k2", "n", "v"}}));
}

TEST(OperatorState, LengthsThatDoNotAddUpAreCorruption) {
  KeyedStateData state = keyed("s");
  state.add(3, "key", "n", "value");
  const std::string whole = state.groups[3];
  for (size_t size = 1; size < whole.size(); ++size) {
    state.groups[3] = whole.substr(0, size);
    const Status status = state.for_each([](int32_t, auto, auto, auto) { return Status::ok(); });
    EXPECT_EQ(status.code(), StatusCode::kCorruption) << size;
  }
}

TEST(OperatorState, FindByName) {
  OperatorState state;
  EXPECT_TRUE(state.empty());
  state.keyed.push_back(keyed("a"));
  state.lists.push_back(list("b", StateKind::kOperatorList, {}));
  EXPECT_EQ(state.find_keyed("a"), &state.keyed[0]);
  EXPECT_EQ(state.find_keyed("b"), nullptr);
  EXPECT_EQ(state.find_list("b"), &state.lists[0]);
  EXPECT_EQ(state.find_list("c"), nullptr);
}

TEST(Reassign, SplitListStaysWhileTheParallelismIsTheSame) {
  std::vector<OperatorState> written(2);
  written[0].lists.push_back(list("l", StateKind::kOperatorList, {"a"}));
  written[1].lists.push_back(list("l", StateKind::kOperatorList, {"b", "c"}));
  auto out = reassign(written, 1, 2, kGroups);
  ASSERT_TRUE(out.is_ok());
  EXPECT_EQ(out.value().find_list("l")->items, (std::vector<std::string>{"b", "c"}));
}

TEST(Reassign, SplitListIsDealtOutWhenTheParallelismChanges) {
  std::vector<OperatorState> written(2);
  written[0].lists.push_back(list("l", StateKind::kOperatorList, {"a", "b"}));
  written[1].lists.push_back(list("l", StateKind::kOperatorList, {"c", "d"}));
  EXPECT_EQ(reassign(written, 0, 3, kGroups).value().find_list("l")->items,
            (std::vector<std::string>{"a", "d"}));
  EXPECT_EQ(reassign(written, 2, 3, kGroups).value().find_list("l")->items,
            (std::vector<std::string>{"c"}));
  EXPECT_EQ(reassign(written, 0, 1, kGroups).value().find_list("l")->items.size(), 4u);
}

TEST(Reassign, UnionListGoesWholeToEverySubtask) {
  std::vector<OperatorState> written(2);
  written[0].lists.push_back(list("u", StateKind::kOperatorUnionList, {"a"}));
  written[1].lists.push_back(list("u", StateKind::kOperatorUnionList, {"b"}));
  for (int32_t p : {1, 2, 3}) {
    EXPECT_EQ(reassign(written, p - 1, p, kGroups).value().find_list("u")->items,
              (std::vector<std::string>{"a", "b"}));
  }
}

TEST(Reassign, BroadcastStateGoesToEverySubtaskOnce) {
  std::vector<OperatorState> written(3);
  written[0].lists.push_back(list("b", StateKind::kBroadcast, {"x", "y"}));
  written[2].lists.push_back(list("b", StateKind::kBroadcast, {"x", "y"}));
  for (int32_t p : {1, 2, 3, 5}) {
    for (int32_t subtask = 0; subtask < p; ++subtask) {
      const auto out = reassign(written, subtask, p, kGroups);
      ASSERT_TRUE(out.is_ok());
      ASSERT_NE(out.value().find_list("b"), nullptr);
      EXPECT_EQ(out.value().find_list("b")->items, (std::vector<std::string>{"x", "y"}));
    }
  }
}

TEST(Reassign, NativeStateGoesToAllWhoHaveSomeOfItsKeyGroups) {
  std::vector<OperatorState> written(2);
  for (int32_t s : {0, 1}) {
    NativeState native;
    native.key_groups = key_group_range(s, kGroups, 2);
    written[static_cast<size_t>(s)].native.push_back(native);
  }
  const auto starts = [&](int32_t subtask, int32_t parallelism) {
    std::vector<int32_t> out;
    const auto assigned = reassign(written, subtask, parallelism, kGroups);
    for (const NativeState& native : assigned.value().native) {
      out.push_back(native.key_groups.start);
    }
    return out;
  };
  EXPECT_EQ(starts(0, 1), (std::vector<int32_t>{0, 8}));
  EXPECT_EQ(starts(0, 2), (std::vector<int32_t>{0}));
  EXPECT_EQ(starts(1, 3), (std::vector<int32_t>{0, 8}));
  EXPECT_EQ(starts(2, 3), (std::vector<int32_t>{8}));
}

TEST(Reassign, ContradictionsAreReported) {
  std::vector<OperatorState> written(2);
  written[0].keyed.push_back(keyed("s"));
  written[1].keyed.push_back(keyed("s"));
  written[0].keyed[0].add(1, "k", "", "v");
  written[1].keyed[0].add(1, "k", "", "v");
  EXPECT_EQ(reassign(written, 0, 1, kGroups).status().code(), StatusCode::kCorruption);
  written[1].keyed[0].groups.clear();
  written[1].keyed[0].meta.value_type = "other";
  EXPECT_EQ(reassign(written, 0, 1, kGroups).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(reassign({}, 0, kGroups + 1, kGroups).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reassign({}, 2, 2, kGroups).status().code(), StatusCode::kInvalidArgument);
}

// From any parallelism to any other: every entry and item arrives exactly once, where it belongs.
TEST(Reassign, RandomRescalingLosesAndDoublesNothing) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const auto from = static_cast<int32_t>(1 + random() % kGroups);
    const auto to = static_cast<int32_t>(1 + random() % kGroups);
    std::vector<OperatorState> written(static_cast<size_t>(from));
    std::set<Entry> entries;
    std::multiset<std::string> items;
    for (int32_t s = 0; s < from; ++s) {
      OperatorState& state = written[static_cast<size_t>(s)];
      state.keyed.push_back(keyed("s"));
      const KeyGroupRange range = key_group_range(s, kGroups, from);
      for (size_t i = random() % 8; i > 0 && range.size() > 0; --i) {
        const int32_t g =
            range.start + static_cast<int32_t>(random() % static_cast<uint32_t>(range.size()));
        const std::string key = "k" + std::to_string(entries.size());
        state.keyed[0].add(g, key, "n", "v");
        entries.emplace(g, key, "n", "v");
      }
      std::vector<std::string> own;
      for (size_t i = random() % 4; i > 0; --i)
        own.push_back("i" + std::to_string(items.size() + i));
      items.insert(own.begin(), own.end());
      state.lists.push_back(list("l", StateKind::kOperatorList, own));
    }
    std::set<Entry> entries_got;
    std::multiset<std::string> items_got;
    for (int32_t s = 0; s < to; ++s) {
      auto state = reassign(written, s, to, kGroups);
      ASSERT_TRUE(state.is_ok());
      for (const Entry& entry : entries_of(*state.value().find_keyed("s"))) {
        EXPECT_TRUE(key_group_range(s, kGroups, to).contains(std::get<0>(entry)));
        EXPECT_TRUE(entries_got.insert(entry).second);
      }
      const auto& own = state.value().find_list("l")->items;
      items_got.insert(own.begin(), own.end());
    }
    EXPECT_EQ(entries_got, entries);
    EXPECT_EQ(items_got, items);
  }
}

}  // namespace
}  // namespace penstock
