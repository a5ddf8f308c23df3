#include "state/rocksdb/rocks_snapshot.h"

#include <algorithm>
#include <random>
#include <set>

#include "snapshot/bytes.h"
#include "state/rocksdb/rocks_keys.h"
#include "state/rocksdb/rocks_test_util.h"
#include "state/state_checks.h"

namespace penstock {
namespace {

class RocksSnapshotTest : public RocksTest {
 protected:
  // Something of every kind, for keys 0 to `keys` - 1.
  static void fill(KeyedStateBackend* backend, int64_t keys, const std::string& suffix = "") {
    ValueTable* const values = must(backend->value_table(described(StateKind::kValue, "v")));
    ListTable* const lists = must(backend->list_table(described(StateKind::kList, "l")));
    MapTable* const maps = must(backend->map_table(described(StateKind::kMap, "m")));
    TimerQueue* const timers = must(backend->timer_queue("timers"));
    for (int64_t i = 0; i < keys; ++i) {
      const std::string key = int_key(i);
      const std::string value = std::to_string(i) + suffix;
      must(values->put(entry_key(key, "ns"), value));
      must(lists->add(entry_key(key), value));
      must(lists->add(entry_key(key), ""));
      must(maps->put(entry_key(key), "a", value));
      must(maps->put(entry_key(key), "b" + value, ""));
      must(timers->add(timer_of(i % 7, key, "w")));
    }
  }
  // What all states hold, in canonical form: state -> entries.
  static std::map<std::string, CanonicalEntries> contents(KeyedStateBackend* backend) {
    OperatorState state;
    state.request.canonical = true;
    must(backend->snapshot(state.request, &state));
    must(state.materialise());
    std::map<std::string, CanonicalEntries> out;
    for (const KeyedStateData& data : state.keyed) {
      must(data.for_each(
          [&](int32_t, std::string_view key, std::string_view name_space, std::string_view value) {
            out[data.meta.name][{std::string(key), std::string(name_space)}].emplace_back(value);
            return Status::ok();
          }));
    }
    return out;
  }
  static std::set<std::string> sst_ids(const OperatorState& state) {
    std::set<std::string> ids;
    for (const StateFile& file : state.native.at(0).files) {
      const bool sst = file.name.size() > 4 && file.name.substr(file.name.size() - 4) == ".sst";
      EXPECT_EQ(sst, !file.content_id.empty()) << file.name;
      if (sst) ids.insert(file.content_id);
    }
    return ids;
  }
};

TEST_F(RocksSnapshotTest, FilesHoldWhatThereWasAtTheBarrier) {
  auto backend = make();
  fill(backend.get(), 200);
  const auto before = contents(backend.get());
  OperatorState state;
  must(backend->snapshot(state.request, &state));
  fill(backend.get(), 300, "later");
  must(must(backend->value_table(described(StateKind::kValue, "late")))->put(entry_key("k"), "v"));
  must(state.materialise());
  auto again = restored(state);
  EXPECT_EQ(contents(again.get()), before);
  EXPECT_EQ(before.size(), 4U);
}

TEST_F(RocksSnapshotTest, TheFilesAreThereUntilNobodyNeedsThem) {
  auto backend = make();
  fill(backend.get(), 10);
  OperatorState state = native_of(backend.get());
  must(backend->close());
  ASSERT_FALSE(state.native.at(0).files.empty());
  for (const StateFile& file : state.native.at(0).files) {
    EXPECT_EQ(std::filesystem::file_size(file.path), file.size);
  }
  state.native.clear();
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(RocksSnapshotTest, AGivenUpSnapshotLeavesNothing) {
  auto backend = make();
  fill(backend.get(), 10);
  {
    OperatorState state;
    must(backend->snapshot(state.request, &state));
  }
  must(backend->flush());
  const std::string path = backend->store()->setup().directory->path();
  must(backend->store()->queue()->finish_all());
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    EXPECT_NE(entry.path().filename().string().rfind("chk-", 0), 0U) << entry.path();
  }
}

TEST_F(RocksSnapshotTest, AnSstKeepsItsIdOverCheckpointsAndRestores) {
  auto backend = make();
  fill(backend.get(), 1000);
  const OperatorState first = native_of(backend.get());
  ValueTable* const values = must(backend->value_table(described(StateKind::kValue, "v")));
  must(values->put(entry_key(int_key(1), "ns"), "changed"));
  const OperatorState second = native_of(backend.get());
  const std::set<std::string> old_ids = sst_ids(first);
  const std::set<std::string> new_ids = sst_ids(second);
  EXPECT_EQ(new_ids.size(), old_ids.size() + 1);
  EXPECT_TRUE(std::includes(new_ids.begin(), new_ids.end(), old_ids.begin(), old_ids.end()));

  auto again = restored(second);
  EXPECT_EQ(sst_ids(native_of(again.get())), new_ids);
  // Another database's files never have the same id, whatever their names.
  auto other = make();
  fill(other.get(), 1000);
  for (const std::string& id : sst_ids(native_of(other.get()))) EXPECT_FALSE(new_ids.contains(id));
}

TEST_F(RocksSnapshotTest, ManySubtasksBecomeOneAndOneBecomesMany) {
  auto whole = make();
  fill(whole.get(), 500);
  const auto expected = contents(whole.get());
  const OperatorState written = native_of(whole.get());

  for (const int32_t parallelism : {2, 3, 4}) {
    OperatorState all;
    std::map<std::string, CanonicalEntries> together;
    for (int32_t i = 0; i < parallelism; ++i) {
      auto part = restored(written, key_group_range(i, kMaxParallelism, parallelism));
      for (auto& [name, entries] : contents(part.get())) together[name].merge(entries);
      OperatorState state = native_of(part.get());
      all.native.push_back(std::move(state.native.at(0)));
    }
    EXPECT_EQ(together, expected) << parallelism;
    auto merged = restored(all);
    EXPECT_EQ(contents(merged.get()), expected) << parallelism;
    // 2 -> 3 and the like: pieces of several.
    std::map<std::string, CanonicalEntries> other_cut;
    for (int32_t i = 0; i < 5; ++i) {
      auto part = restored(all, key_group_range(i, kMaxParallelism, 5));
      for (auto& [name, entries] : contents(part.get())) other_cut[name].merge(entries);
    }
    EXPECT_EQ(other_cut, expected) << parallelism;
  }
}

TEST_F(RocksSnapshotTest, ARestoredSubtaskGoesOnWithWhatItHas) {
  auto backend = make();
  fill(backend.get(), 50);
  auto again = restored(native_of(backend.get()));
  ListTable* const lists = must(again->list_table(described(StateKind::kList, "l")));
  must(lists->add(entry_key(int_key(3)), "more"));
  std::vector<std::string_view> elements;
  must(lists->get(entry_key(int_key(3)), &elements));
  EXPECT_EQ(elements, (std::vector<std::string_view>{"3", "", "more"}));
  TimerQueue* const timers = must(again->timer_queue("timers"));
  EXPECT_EQ(timers->next(), 0);
}

TEST_F(RocksSnapshotTest, TimersMoveBetweenMemoryAndFilesWithTheOption) {
  const Options in_memory = {{"state.backend.rocksdb.timer-service.factory", "HEAP"}};
  auto backend = make(in_memory);
  fill(backend.get(), 50);
  const auto expected = contents(backend.get());
  const OperatorState with_heap_timers = native_of(backend.get());
  ASSERT_EQ(with_heap_timers.keyed.size(), 1U);

  auto on_disk = restored(with_heap_timers);
  EXPECT_EQ(contents(on_disk.get()), expected);
  must(on_disk->timer_queue("timers"));
  OperatorState state = native_of(on_disk.get());
  EXPECT_TRUE(state.keyed.empty());

  auto back = make(in_memory);
  must(back->restore(state));
  TimerQueue* const timers = must(back->timer_queue("timers"));
  EXPECT_EQ(timers->next(), 0);
  EXPECT_EQ(contents(back.get()), expected);
}

TEST_F(RocksSnapshotTest, ReadersOfADeferredSnapshotMayOutliveTheBackend) {
  auto backend = make();
  fill(backend.get(), 100);
  const auto expected = contents(backend.get());
  OperatorState state;
  state.request.canonical = true;
  must(backend->snapshot(state.request, &state));
  must(backend->close());
  backend.reset();
  must(state.materialise());
  EXPECT_EQ(state.keyed.size(), expected.size());
}

// A subtask that ended before the barrier has written the canonical form, the others their files.
TEST_F(RocksSnapshotTest, FilesAndCanonicalStateOfDifferentSubtasksComeTogether) {
  auto whole = make();
  fill(whole.get(), 200);
  const auto before = contents(whole.get());
  const OperatorState all = native_of(whole.get());
  std::vector<OperatorState> parts;
  for (int32_t subtask = 0; subtask < 3; ++subtask) {
    const KeyGroupRange groups = key_group_range(subtask, kMaxParallelism, 3);
    auto part = restored(must(reassign({all}, subtask, 3, kMaxParallelism)), groups);
    OperatorState state;
    state.request.canonical = subtask == 1;
    must(part->snapshot(state.request, &state));
    must(state.materialise());
    parts.push_back(std::move(state));
  }
  auto again = restored(must(reassign(parts, 0, 1, kMaxParallelism)));
  EXPECT_EQ(contents(again.get()), before);
  // The first of two gets all of one kind and a part of the other.
  auto half = restored(must(reassign(parts, 0, 2, kMaxParallelism)),
                       key_group_range(0, kMaxParallelism, 2));
  EXPECT_EQ(contents(half.get()).size(), before.size());
}

TEST_F(RocksSnapshotTest, AKeyGroupInFilesAndInCanonicalFormIsCorruption) {
  auto backend = make();
  fill(backend.get(), 20);
  OperatorState both = native_of(backend.get());
  OperatorState canonical;
  canonical.request.canonical = true;
  must(backend->snapshot(canonical.request, &canonical));
  must(canonical.materialise());
  both.keyed = canonical.keyed;
  const Status status = make()->restore(both);
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_NE(status.message().find("twice"), std::string::npos) << status.message();
}

// Few large entries must not end in one file that nobody can hold in memory.
TEST_F(RocksSnapshotTest, LargeEntriesGoIntoFilesOfTheUsualSize) {
  constexpr size_t kFile = size_t{1} << 20;
  const Options options = {{"state.backend.rocksdb.compaction.level.target-file-size-base", "1mb"}};
  OperatorState state;
  state.keyed.resize(1);
  state.keyed[0].meta = meta_of(described(StateKind::kValue, "v"));
  std::mt19937_64 random(7);
  for (int64_t i = 0; i < 40; ++i) {
    const std::string key = int_key(i);
    std::string value;
    while (value.size() < kFile / 4) put_u64(&value, random());
    state.keyed[0].add(entry_key(key).key_group(kMaxParallelism), key, "", value);
  }
  auto backend = make(options);
  must(backend->restore(state));
  const OperatorState written = native_of(backend.get());
  for (const StateFile& file : written.native.at(0).files) {
    EXPECT_LT(file.size, 2 * kFile) << file.name;
  }
}

TEST_F(RocksSnapshotTest, IdsOfFilesThatAreGoneAreForgotten) {
  auto backend = make(Options{{"penstock.state.write-back-tier", "0"}});
  for (int round = 0; round < 8; ++round) {
    fill(backend.get(), 20, std::to_string(round));
    native_of(backend.get());
    for (const auto& [name, family] : backend->store()->families()) {
      ASSERT_TRUE(
          backend->store()
              ->db()
              ->CompactRange(rocksdb::CompactRangeOptions(), family->handle, nullptr, nullptr)
              .ok());
    }
  }
  const OperatorState last = native_of(backend.get());
  EXPECT_EQ(backend->store()->content_ids().size(), sst_ids(last).size());
}

TEST_F(RocksSnapshotTest, FilesOfAnotherBackendAreRefused) {
  OperatorState state;
  state.native.emplace_back();
  state.native.back().backend = "other";
  const Status status = make()->restore(state);
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_NE(status.message().find("'other'"), std::string::npos);
}

TEST_F(RocksSnapshotTest, SubtasksThatDisagreeAboutAStateAreCorruption) {
  auto one = make(context({}, {0, 7}));
  must(one->value_table(described(StateKind::kValue, "v")));
  auto two = make(context({}, {8, 15}));
  must(two->list_table(described(StateKind::kList, "v")));
  OperatorState state = native_of(one.get());
  state.native.push_back(native_of(two.get()).native.at(0));
  EXPECT_EQ(make()->restore(state).code(), StatusCode::kCorruption);
}

TEST(RocksKeys, OneKeyAndNamespaceAreOneRange) {
  std::string entry;
  append_entry_key(5, "ab", "c", &entry);
  for (const auto& [key, name_space] : std::vector<std::pair<std::string, std::string>>{
           {"a", "bc"}, {"ab", ""}, {"ab", "cd"}, {"abc", ""}, {"", "abc"}}) {
    std::string other;
    append_entry_key(5, key, name_space, &other);
    EXPECT_NE(other.rfind(entry, 0), 0U) << key << "|" << name_space;
    EXPECT_NE(entry.rfind(other, 0), 0U) << key << "|" << name_space;
  }
  const std::string of_map = entry + "user";  // the parts point into it
  EntryKeyParts parts;
  ASSERT_TRUE(split_entry_key(of_map, &parts));
  EXPECT_EQ(parts.group, 5);
  EXPECT_EQ(parts.key, "ab");
  EXPECT_EQ(parts.name_space, "c");
  EXPECT_EQ(parts.user_key, "user");
}

TEST(RocksKeys, TimersSortAsTheyFireAndComeBack) {
  const std::vector<std::string> keys = {"",
                                         std::string("\0", 1),
                                         std::string("\0\1", 2),
                                         std::string("\0\xff", 2),
                                         "a",
                                         "a\1",
                                         std::string("a\0", 2),
                                         "ab",
                                         "\xff"};
  std::vector<std::tuple<Timestamp, std::string, std::string>> timers;
  for (const Timestamp timestamp : {kMinTimestamp, Timestamp{-1}, Timestamp{0}, kMaxTimestamp}) {
    for (const std::string& key : keys) {
      for (const std::string& name_space : keys) timers.emplace_back(timestamp, key, name_space);
    }
  }
  std::sort(timers.begin(), timers.end());
  std::string last;
  for (const auto& [timestamp, key, name_space] : timers) {
    std::string bytes;
    append_timer_key(9, {timestamp, key, 0, name_space}, &bytes);
    EXPECT_LT(last, bytes);
    last = bytes;
    TimerKeyParts parts;
    ASSERT_TRUE(split_timer_key(bytes, &parts));
    EXPECT_EQ(parts.group, 9);
    EXPECT_EQ(parts.timestamp, timestamp);
    EXPECT_EQ(parts.key, key);
    EXPECT_EQ(parts.name_space, name_space);
  }
}

}  // namespace
}  // namespace penstock
