// Times to live on any backend (backend_contract.h), with a clock driven by hand.
#include "state/backend_contract.h"
#include "state/ttl/ttl_format.h"

namespace penstock {

namespace {

using Strings = std::vector<std::string>;
using StringPairs = std::vector<std::pair<std::string, std::string>>;

constexpr int64_t kStart = 1'000'000;  // where BackendContract's clock begins
constexpr auto kOnReadAndWrite = TtlUpdateType::kOnReadAndWrite;
constexpr auto kReturnExpired = TtlVisibility::kReturnExpiredIfNotCleanedUp;

// 100 ms to live.
StateDescriptor with_ttl(StateKind kind, const std::function<void(TtlConfig*)>& set = {}) {
  StateDescriptor descriptor = described(kind);
  descriptor.ttl.ttl_millis = 100;
  if (set) set(&descriptor.ttl);
  return descriptor;
}

void on_read(TtlConfig* ttl) { ttl->update = kOnReadAndWrite; }
void return_expired(TtlConfig* ttl) { ttl->visibility = kReturnExpired; }
void both(TtlConfig* ttl) {
  on_read(ttl);
  return_expired(ttl);
}

std::string stored(int64_t timestamp, std::string_view value) {
  std::string out;
  append_ttl_value(timestamp, value, &out);
  return out;
}

std::string listed(const Strings& elements) {
  std::string out;
  for (const std::string& element : elements) {
    for (int shift = 0; shift < 32; shift += 8) {
      out.push_back(static_cast<char>(element.size() >> shift));
    }
    out += element;
  }
  return out;
}

}  // namespace

TEST_P(BackendContract, AValueExpiresItsTimeAfterItWasWritten) {
  auto backend = make();
  ValueTable* const table = values(backend.get(), with_ttl(StateKind::kValue));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "v"));
  clock_.set_millis(kStart + 99);
  EXPECT_EQ(read(table, entry_key("k")), "v");
  PENSTOCK_ASSERT_OK(table->put(entry_key("l"), "w"));
  clock_.set_millis(kStart + 100);
  EXPECT_EQ(read(table, entry_key("k")), std::nullopt);
  EXPECT_EQ(read(table, entry_key("l")), "w");
  // Seen and removed: only the other one is written.
  EXPECT_EQ(entries_of(snapshot_of(backend.get()), "state"),
            (CanonicalEntries{{{"l", ""}, {stored(kStart + 99, "w")}}}));
}

TEST_P(BackendContract, OnReadAndWriteAReadGivesAValueNewTime) {
  auto backend = make();
  ValueTable* const table = values(backend.get(), with_ttl(StateKind::kReducing, on_read));
  const std::string longer(100, 'l');
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), longer));
  for (int64_t i = 1; i <= 5; ++i) {
    clock_.set_millis(kStart + 99 * i);
    EXPECT_EQ(read(table, entry_key("k")), longer);
  }
  clock_.set_millis(kStart + 99 * 5 + 100);
  EXPECT_EQ(read(table, entry_key("k")), std::nullopt);
}

TEST_P(BackendContract, AnExpiredValueMayBeReturnedOnceMoreWhenThatIsAskedFor) {
  auto backend = make();
  ValueTable* const table = values(backend.get(), with_ttl(StateKind::kValue, return_expired));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "v"));
  clock_.set_millis(kStart + 500);
  EXPECT_EQ(read(table, entry_key("k")), "v");
  EXPECT_EQ(read(table, entry_key("k")), std::nullopt);
}

TEST_P(BackendContract, ForEachPassesOverExpiredValuesAndChangesNothing) {
  auto backend = make();
  ValueTable* const table = values(backend.get(), with_ttl(StateKind::kValue, on_read));
  PENSTOCK_ASSERT_OK(table->put(entry_key("old"), "v"));
  clock_.set_millis(kStart + 60);
  PENSTOCK_ASSERT_OK(table->put(entry_key("new"), "w"));
  clock_.set_millis(kStart + 120);
  Strings seen;
  PENSTOCK_ASSERT_OK(table->for_each([&](auto key, auto, auto value) {
    seen.push_back(std::string(key) + "=" + std::string(value));
    return Status::ok();
  }));
  EXPECT_EQ(seen, Strings{"new=w"});
  EXPECT_EQ(entries_of(snapshot_of(backend.get()), "state").size(), 2U);
}

TEST_P(BackendContract, ElementsOfAListExpireOnTheirOwn) {
  auto backend = make();
  ListTable* const table = lists(backend.get(), with_ttl(StateKind::kList));
  for (const char* element : {"a", "b", "c"}) {
    PENSTOCK_ASSERT_OK(table->add(entry_key("k"), element));
    clock_.set_millis(clock_.now_millis() + 40);
  }
  EXPECT_EQ(read(table, entry_key("k")), (Strings{"b", "c"}));
  clock_.set_millis(kStart + 150);
  EXPECT_EQ(read(table, entry_key("k")), Strings{"c"});
  // As in Flink a read removes nothing while something lives...
  EXPECT_EQ(entries_of(snapshot_of(backend.get()), "state").begin()->second.front(),
            listed({stored(kStart, "a"), stored(kStart + 40, "b"), stored(kStart + 80, "c")}));
  clock_.set_millis(kStart + 180);
  EXPECT_EQ(read(table, entry_key("k")), Strings());
  // ... and all when nothing does.
  EXPECT_TRUE(entries_of(snapshot_of(backend.get()), "state").empty());
}

TEST_P(BackendContract, OnReadAndWriteAReadOfAListRenewsWhatLivesAndDropsTheRest) {
  auto backend = make();
  ListTable* const table = lists(backend.get(), with_ttl(StateKind::kList, on_read));
  PENSTOCK_ASSERT_OK(table->update(entry_key("k"), {"a", "b"}));
  clock_.set_millis(kStart + 50);
  PENSTOCK_ASSERT_OK(table->add(entry_key("k"), "c"));
  clock_.set_millis(kStart + 120);
  EXPECT_EQ(read(table, entry_key("k")), Strings{"c"});
  EXPECT_EQ(entries_of(snapshot_of(backend.get()), "state").begin()->second.front(),
            listed({stored(kStart + 120, "c")}));
}

TEST_P(BackendContract, AListWithExpiredElementsMayBeReturnedWholeWhenThatIsAskedFor) {
  auto backend = make();
  ListTable* const table = lists(backend.get(), with_ttl(StateKind::kList, both));
  PENSTOCK_ASSERT_OK(table->add(entry_key("k"), "a"));
  clock_.set_millis(kStart + 50);
  PENSTOCK_ASSERT_OK(table->add(entry_key("k"), "b"));
  clock_.set_millis(kStart + 120);
  EXPECT_EQ(read(table, entry_key("k")), (Strings{"a", "b"}));
  EXPECT_EQ(read(table, entry_key("k")), Strings{"b"});
  clock_.set_millis(kStart + 400);
  EXPECT_EQ(read(table, entry_key("k")), Strings{"b"});
  EXPECT_EQ(read(table, entry_key("k")), Strings());
}

TEST_P(BackendContract, EntriesOfAMapExpireOnTheirOwn) {
  auto backend = make();
  MapTable* const table = maps(backend.get(), with_ttl(StateKind::kMap));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "a", "1"));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "b", "2"));
  clock_.set_millis(kStart + 50);
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "b", "3"));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "c", "4"));
  clock_.set_millis(kStart + 120);
  EXPECT_EQ(read(table, entry_key("k"), "a"), std::nullopt);
  EXPECT_EQ(read(table, entry_key("k"), "b"), "3");
  EXPECT_EQ(read_all(table, entry_key("k"), 1), (StringPairs{{"b", "3"}, {"c", "4"}}));
  clock_.set_millis(kStart + 300);
  // As in Flink: what has expired and was not seen yet still counts.
  EXPECT_FALSE(must(table->is_empty(entry_key("k"))));
  EXPECT_EQ(read_all(table, entry_key("k")), StringPairs());
  EXPECT_TRUE(must(table->is_empty(entry_key("k"))));
}

TEST_P(BackendContract, AScanFillsUpWhatExpiredEntriesLeaveOut) {
  auto backend = make();
  MapTable* const table = maps(backend.get(), with_ttl(StateKind::kMap));
  StringPairs expected;
  for (int64_t i = 0; i < 200; ++i) {
    clock_.set_millis(kStart + (i % 4 == 3 ? 100 : 0));
    PENSTOCK_ASSERT_OK(table->put(entry_key("k"), int_key(i), std::to_string(i)));
    if (i % 4 == 3) expected.emplace_back(int_key(i), std::to_string(i));
  }
  clock_.set_millis(kStart + 150);
  std::vector<MapTable::UserEntry> some;
  PENSTOCK_ASSERT_OK(table->scan(entry_key("k"), std::nullopt, 10, &some));
  EXPECT_EQ(some.size(), 10U);
  EXPECT_EQ(read_all(table, entry_key("k"), 7), expected);
}

TEST_P(BackendContract, OnReadAndWriteReadsOfAMapGiveNewTime) {
  auto backend = make();
  MapTable* const table = maps(backend.get(), with_ttl(StateKind::kMap, both));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "got", "1"));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "left", "2"));
  PENSTOCK_ASSERT_OK(table->put(entry_key("l"), "scanned", "3"));
  clock_.set_millis(kStart + 60);
  EXPECT_EQ(read(table, entry_key("k"), "got"), "1");
  EXPECT_EQ(read_all(table, entry_key("l")).size(), 1U);
  EXPECT_EQ(entries_of(snapshot_of(backend.get()), "state").at({"l", ""}).front(),
            listed({"scanned"}) + stored(kStart + 60, "3"));
  clock_.set_millis(kStart + 120);
  EXPECT_EQ(read_all(table, entry_key("k")), (StringPairs{{"got", "1"}, {"left", "2"}}));
  EXPECT_EQ(read_all(table, entry_key("k")), (StringPairs{{"got", "1"}}));
}

TEST_P(BackendContract, TimestampsComeBackFromASnapshot) {
  auto before = make();
  PENSTOCK_ASSERT_OK(values(before.get(), with_ttl(StateKind::kValue))->put(entry_key("k"), "v"));
  const OperatorState state = snapshot_of(before.get());
  EXPECT_EQ(state.find_keyed("state")->meta.value_type, "TTL<STRING>");
  clock_.set_millis(kStart + 99);
  auto backend = restored(state);
  ValueTable* const table = values(backend.get(), with_ttl(StateKind::kValue));
  EXPECT_EQ(read(table, entry_key("k")), "v");
  clock_.set_millis(kStart + 100);
  EXPECT_EQ(read(table, entry_key("k")), std::nullopt);
}

TEST_P(BackendContract, CleanupInFullSnapshotsLeavesOutWhatHasExpired) {
  const auto cleanup = [](TtlConfig* ttl) { ttl->cleanup_in_full_snapshot = true; };
  auto backend = make();
  StateDescriptor value = with_ttl(StateKind::kValue, cleanup);
  StateDescriptor list = with_ttl(StateKind::kList, cleanup);
  StateDescriptor map = with_ttl(StateKind::kMap, cleanup);
  value.name = "v";
  list.name = "l";
  map.name = "m";
  for (const auto& [at, mark] : {std::pair{0, "old"}, std::pair{60, "new"}}) {
    clock_.set_millis(kStart + at);
    must(values(backend.get(), value)->put(entry_key(mark), mark));
    must(lists(backend.get(), list)->add(entry_key("k"), mark));
    must(lists(backend.get(), list)->add(entry_key(mark), mark));
    must(maps(backend.get(), map)->put(entry_key("k"), mark, mark));
    must(maps(backend.get(), map)->put(entry_key(mark), mark, mark));
  }
  clock_.set_millis(kStart + 120);
  const std::string left = stored(kStart + 60, "new");
  const OperatorState state = snapshot_of(backend.get());
  EXPECT_EQ(entries_of(state, "v"), (CanonicalEntries{{{"new", ""}, {left}}}));
  EXPECT_EQ(entries_of(state, "l"),
            (CanonicalEntries{{{"k", ""}, {listed({left})}}, {{"new", ""}, {listed({left})}}}));
  EXPECT_EQ(entries_of(state, "m"), (CanonicalEntries{{{"k", ""}, {listed({"new"}) + left}},
                                                      {{"new", ""}, {listed({"new"}) + left}}}));
}

TEST_P(BackendContract, SwitchedOnATimeToLiveBeginsWithTheRestore) {
  auto before = make();
  must(values(before.get(), described(StateKind::kValue, "v"))->put(entry_key("k"), "v"));
  must(lists(before.get(), described(StateKind::kList, "l"))->update(entry_key("k"), {"a", ""}));
  must(maps(before.get(), described(StateKind::kMap, "m"))->put(entry_key("k"), "u", "x"));
  const OperatorState state = snapshot_of(before.get());
  clock_.set_millis(kStart + 5000);
  auto backend = restored(state);
  clock_.set_millis(kStart + 5050);
  StateDescriptor value = with_ttl(StateKind::kValue);
  StateDescriptor list = with_ttl(StateKind::kList);
  StateDescriptor map = with_ttl(StateKind::kMap);
  value.name = "v";
  list.name = "l";
  map.name = "m";
  EXPECT_EQ(read(values(backend.get(), value), entry_key("k")), "v");
  EXPECT_EQ(read(lists(backend.get(), list), entry_key("k")), (Strings{"a", ""}));
  EXPECT_EQ(read(maps(backend.get(), map), entry_key("k"), "u"), "x");
  EXPECT_EQ(entries_of(snapshot_of(backend.get()), "v").at({"k", ""}).front(),
            stored(kStart + 5000, "v"));
  clock_.set_millis(kStart + 5100);
  EXPECT_EQ(read(values(backend.get(), value), entry_key("k")), std::nullopt);
  EXPECT_EQ(read(lists(backend.get(), list), entry_key("k")), Strings());
  EXPECT_EQ(read(maps(backend.get(), map), entry_key("k"), "u"), std::nullopt);
}

TEST_P(BackendContract, SwitchedOffATimeToLiveLeavesValuesForEver) {
  auto before = make();
  StateDescriptor value = with_ttl(StateKind::kValue);
  StateDescriptor list = with_ttl(StateKind::kList);
  StateDescriptor map = with_ttl(StateKind::kMap);
  value.name = "v";
  list.name = "l";
  map.name = "m";
  must(values(before.get(), value)->put(entry_key("k"), "v"));
  must(lists(before.get(), list)->update(entry_key("k"), {"a", ""}));
  must(maps(before.get(), map)->put(entry_key("k"), "u", "x"));
  auto backend = reopen(before.get());
  clock_.set_millis(kStart + 1'000'000);
  EXPECT_EQ(read(values(backend.get(), described(StateKind::kValue, "v")), entry_key("k")), "v");
  EXPECT_EQ(read(lists(backend.get(), described(StateKind::kList, "l")), entry_key("k")),
            (Strings{"a", ""}));
  EXPECT_EQ(read(maps(backend.get(), described(StateKind::kMap, "m")), entry_key("k"), "u"), "x");
  const OperatorState again = snapshot_of(backend.get());
  EXPECT_EQ(again.find_keyed("v")->meta.value_type, "STRING");
  EXPECT_EQ(entries_of(again, "v").at({"k", ""}).front(), "v");
}

TEST_P(BackendContract, DifferentTimesToLiveForOneStateAreATypeError) {
  auto backend = make();
  values(backend.get(), with_ttl(StateKind::kValue));
  StateDescriptor other = with_ttl(StateKind::kValue);
  other.ttl.ttl_millis = 200;
  const Status status = backend->value_table(other).status();
  EXPECT_EQ(status.code(), StatusCode::kTypeError);
  EXPECT_NE(status.message().find("100 ms"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("200 ms"), std::string::npos) << status.message();
  EXPECT_EQ(backend->value_table(described(StateKind::kValue)).status().code(),
            StatusCode::kTypeError);
}

TEST_P(BackendContract, ATimeToLiveTooLongToAddUpIsForEver) {
  auto backend = make();
  ValueTable* const table =
      values(backend.get(),
             with_ttl(StateKind::kValue, [](TtlConfig* ttl) { ttl->ttl_millis = INT64_MAX; }));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "v"));
  clock_.set_millis(INT64_MAX - 1);
  EXPECT_EQ(read(table, entry_key("k")), "v");
}

}  // namespace penstock
