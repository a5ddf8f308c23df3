// Values, lists, maps, types and timers of any backend (backend_contract.h).
#include <sys/mman.h>

#include "state/backend_contract.h"

namespace penstock {

namespace {

using Strings = std::vector<std::string>;
using StringPairs = std::vector<std::pair<std::string, std::string>>;

const std::string kLong(1000, 'x');

}  // namespace

TEST_P(BackendContract, AValueThatWasNeverPutIsNotThere) {
  auto backend = make();
  EXPECT_EQ(read(values(backend.get()), entry_key("k")), std::nullopt);
}

TEST_P(BackendContract, AValueIsThatOfItsKeyAndNamespace) {
  auto backend = make();
  ValueTable* const table = values(backend.get());
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "none"));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k", "a"), "a"));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k", "b"), ""));
  PENSTOCK_ASSERT_OK(table->put(entry_key("l", "a"), "l"));
  PENSTOCK_ASSERT_OK(table->put(entry_key(""), "no key"));
  EXPECT_EQ(read(table, entry_key("k")), "none");
  EXPECT_EQ(read(table, entry_key("k", "a")), "a");
  EXPECT_EQ(read(table, entry_key("k", "b")), "");
  EXPECT_EQ(read(table, entry_key("l", "a")), "l");
  EXPECT_EQ(read(table, entry_key("l")), std::nullopt);
  EXPECT_EQ(read(table, entry_key("")), "no key");
}

TEST_P(BackendContract, PutReplacesValuesOfAnyLength) {
  auto backend = make();
  ValueTable* const table = values(backend.get());
  for (const std::string& value :
       {std::string("a"), std::string(16, 'b'), std::string(17, 'c'), kLong, std::string(500, 'd'),
        std::string(20, 'e'), std::string(), std::string("\0\xff", 2)}) {
    PENSTOCK_ASSERT_OK(table->put(entry_key("k"), value));
    EXPECT_EQ(read(table, entry_key("k")), value);
  }
}

TEST_P(BackendContract, RemoveTakesTheValueOfOneNamespace) {
  auto backend = make();
  ValueTable* const table = values(backend.get());
  PENSTOCK_ASSERT_OK(table->put(entry_key("k", "a"), kLong));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k", "b"), "b"));
  PENSTOCK_ASSERT_OK(table->remove(entry_key("k", "a")));
  PENSTOCK_ASSERT_OK(table->remove(entry_key("k", "a")));
  EXPECT_EQ(read(table, entry_key("k", "a")), std::nullopt);
  EXPECT_EQ(read(table, entry_key("k", "b")), "b");
}

TEST_P(BackendContract, LongNamespacesAreApartWhateverTheirLengthsLookLike) {
  auto backend = make();
  ValueTable* const table = values(backend.get());
  // Where lengths stand before bytes, 128 is 80 01: the end of it is the beginning of `other`.
  const std::string one(128, 'n');
  const std::string other = "\x01" + one;
  PENSTOCK_ASSERT_OK(table->put(entry_key("k", one), "one"));
  EXPECT_EQ(read(table, entry_key("k", one)), "one");
  PENSTOCK_ASSERT_OK(table->put(entry_key("k", other), "other"));
  EXPECT_EQ(read(table, entry_key("k", one)), "one");
  EXPECT_EQ(read(table, entry_key("k", other)), "other");
}

// Lengths are 32 bits.
TEST_P(BackendContract, WhatDoesNotFitIsRefused) {
  const size_t size = (size_t{4} << 30) + 10;
  void* const mapped =
      mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const std::string_view huge(static_cast<const char*>(mapped), size);
  auto backend = make();
  ListTable* const list = lists(backend.get(), described(StateKind::kList, "l"));
  MapTable* const map = maps(backend.get(), described(StateKind::kMap, "m"));
  const auto refused = [](const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kNotSupported) << status.message();
  };
  refused(values(backend.get())->put(entry_key("k"), huge));
  refused(list->add(entry_key("k"), huge));
  refused(list->update(entry_key("k"), {"a", huge}));
  refused(map->put(entry_key("k"), "a", huge));
  refused(map->put(entry_key("k"), huge, "a"));
  EXPECT_EQ(read(values(backend.get()), entry_key("k")), std::nullopt);
  EXPECT_TRUE(read(list, entry_key("k")).empty());
  EXPECT_TRUE(must(map->is_empty(entry_key("k"))));
  munmap(mapped, size);
}

TEST_P(BackendContract, AValueMayBePutFromAViewIntoTheTable) {
  auto backend = make();
  ValueTable* const table = values(backend.get());
  for (const std::string& value : {std::string("short"), kLong}) {
    PENSTOCK_ASSERT_OK(table->put(entry_key("from"), value));
    for (int64_t i = 0; i < 5000; ++i) {
      const auto view = must(table->get(entry_key("from")));
      PENSTOCK_ASSERT_OK(table->put(entry_key(int_key(i)), *view));
    }
    EXPECT_EQ(read(table, entry_key(int_key(4711))), value);
    const auto part = must(table->get(entry_key("from")))->substr(2);
    PENSTOCK_ASSERT_OK(table->put(entry_key("from"), part));
    EXPECT_EQ(read(table, entry_key("from")), value.substr(2));
  }
}

TEST_P(BackendContract, ForEachVisitsEveryValueOnceAndStopsAtAFailure) {
  auto backend = make();
  ValueTable* const table = values(backend.get());
  std::map<std::string, std::string> expected;
  for (int64_t i = 0; i < 10000; ++i) {
    expected[int_key(i)] = std::to_string(i);
    PENSTOCK_ASSERT_OK(table->put(entry_key(int_key(i), "ns"), std::to_string(i)));
  }
  std::map<std::string, std::string> seen;
  PENSTOCK_ASSERT_OK(table->for_each(
      [&](std::string_view key, std::string_view name_space, std::string_view value) {
        EXPECT_EQ(name_space, "ns");
        EXPECT_TRUE(seen.emplace(key, value).second);
        return Status::ok();
      }));
  EXPECT_EQ(seen, expected);
  int visits = 0;
  const Status stopped = table->for_each(
      [&](auto, auto, auto) { return ++visits == 3 ? Status::invalid("enough") : Status::ok(); });
  EXPECT_EQ(stopped.message(), "enough");
  EXPECT_EQ(visits, 3);
}

TEST_P(BackendContract, AListKeepsTheOrderOfAdditionAndEmptyElements) {
  auto backend = make();
  ListTable* const table = lists(backend.get());
  EXPECT_EQ(read(table, entry_key("k")), Strings());
  for (const std::string& element : {std::string("b"), std::string(), kLong, std::string("a")}) {
    PENSTOCK_ASSERT_OK(table->add(entry_key("k"), element));
  }
  EXPECT_EQ(read(table, entry_key("k")), (Strings{"b", "", kLong, "a"}));
  EXPECT_EQ(read(table, entry_key("k", "a")), Strings());
  PENSTOCK_ASSERT_OK(table->update(entry_key("k"), {"x", "y"}));
  EXPECT_EQ(read(table, entry_key("k")), (Strings{"x", "y"}));
  PENSTOCK_ASSERT_OK(table->clear(entry_key("k")));
  EXPECT_EQ(read(table, entry_key("k")), Strings());
}

TEST_P(BackendContract, AnUpdateWithoutElementsIsAClear) {
  auto backend = make();
  ListTable* const table = lists(backend.get());
  PENSTOCK_ASSERT_OK(table->add(entry_key("k"), "a"));
  PENSTOCK_ASSERT_OK(table->update(entry_key("k"), {}));
  PENSTOCK_ASSERT_OK(table->update(entry_key("l"), {}));
  EXPECT_TRUE(entries_of(snapshot_of(backend.get()), "state").empty());
}

TEST_P(BackendContract, AListMayBeUpdatedFromViewsIntoItself) {
  auto backend = make();
  ListTable* const table = lists(backend.get());
  for (const std::string& element : {std::string("a"), kLong, std::string("c")}) {
    PENSTOCK_ASSERT_OK(table->add(entry_key("k"), element));
  }
  std::vector<std::string_view> elements;
  PENSTOCK_ASSERT_OK(table->get(entry_key("k"), &elements));
  PENSTOCK_ASSERT_OK(table->update(entry_key("k"), {elements[2], elements[1]}));
  EXPECT_EQ(read(table, entry_key("k")), (Strings{"c", kLong}));
  for (int i = 0; i < 10; ++i) {
    PENSTOCK_ASSERT_OK(table->get(entry_key("k"), &elements));
    PENSTOCK_ASSERT_OK(table->add(entry_key("k"), elements[1]));
  }
  EXPECT_EQ(read(table, entry_key("k")).back(), kLong);
  EXPECT_EQ(read(table, entry_key("k")).size(), 12U);
}

TEST_P(BackendContract, AMapIsInTheOrderOfItsUserKeysBytes) {
  auto backend = make();
  MapTable* const table = maps(backend.get());
  StringPairs expected;
  for (const std::string& key : {std::string(), std::string("\0", 1), std::string("a"),
                                 std::string("aa"), kLong, std::string("\xff")}) {
    expected.emplace_back(key, "value of " + key);
  }
  for (size_t i : {3U, 0U, 5U, 1U, 4U, 2U}) {
    PENSTOCK_ASSERT_OK(table->put(entry_key("k"), expected[i].first, expected[i].second));
  }
  for (const size_t step : {1U, 2U, 6U, 100U}) {
    EXPECT_EQ(read_all(table, entry_key("k"), step), expected);
  }
  EXPECT_EQ(read(table, entry_key("k"), kLong), "value of " + kLong);
  EXPECT_EQ(read(table, entry_key("k"), "aaa"), std::nullopt);
  EXPECT_EQ(read(table, entry_key("k", "a"), "a"), std::nullopt);
}

TEST_P(BackendContract, AMapWithoutEntriesIsEmpty) {
  auto backend = make();
  MapTable* const table = maps(backend.get());
  EXPECT_TRUE(must(table->is_empty(entry_key("k"))));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "a", ""));
  EXPECT_FALSE(must(table->is_empty(entry_key("k"))));
  EXPECT_TRUE(must(table->is_empty(entry_key("k", "a"))));
  PENSTOCK_ASSERT_OK(table->remove(entry_key("k"), "b"));
  EXPECT_FALSE(must(table->is_empty(entry_key("k"))));
  PENSTOCK_ASSERT_OK(table->remove(entry_key("k"), "a"));
  EXPECT_TRUE(must(table->is_empty(entry_key("k"))));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "a", "1"));
  PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "b", "2"));
  PENSTOCK_ASSERT_OK(table->clear(entry_key("k")));
  EXPECT_TRUE(must(table->is_empty(entry_key("k"))));
  EXPECT_TRUE(entries_of(snapshot_of(backend.get()), "state").empty());
}

TEST_P(BackendContract, AMapMayBeChangedWhileItIsScanned) {
  auto backend = make();
  MapTable* const table = maps(backend.get());
  for (int64_t i = 0; i < 1000; ++i) {
    PENSTOCK_ASSERT_OK(table->put(entry_key("k"), int_key(i), "old"));
  }
  std::vector<MapTable::UserEntry> some;
  std::optional<std::string> after;
  int64_t seen = 0;
  do {
    PENSTOCK_ASSERT_OK(table->scan(entry_key("k"), after, 10, &some));
    if (some.empty()) break;
    after = std::string(some.back().first);
    for (size_t i = 0; i < some.size(); ++i, ++seen) {
      PENSTOCK_ASSERT_OK(table->remove(entry_key("k"), int_key(seen)));
    }
    PENSTOCK_ASSERT_OK(table->put(entry_key("k"), int_key(-seen), "before"));
  } while (true);
  EXPECT_EQ(seen, 1000);
  EXPECT_EQ(read_all(table, entry_key("k"), 7).size(), 100U);
}

TEST_P(BackendContract, MapValuesMayBePutFromViewsIntoTheMap) {
  auto backend = make();
  MapTable* const table = maps(backend.get());
  for (const std::string& value : {std::string("short"), kLong}) {
    PENSTOCK_ASSERT_OK(table->put(entry_key("k"), "from", value));
    for (int64_t i = 0; i < 500; ++i) {
      const auto view = must(table->get(entry_key("k"), "from"));
      PENSTOCK_ASSERT_OK(table->put(entry_key("k"), int_key(i), *view));
    }
    EXPECT_EQ(read(table, entry_key("k"), int_key(77)), value);
  }
}

TEST_P(BackendContract, StatesOfOneBackendAreApart) {
  auto backend = make();
  ValueTable* const one = values(backend.get(), described(StateKind::kValue, "one"));
  ValueTable* const two = values(backend.get(), described(StateKind::kReducing, "two"));
  PENSTOCK_ASSERT_OK(one->put(entry_key("k"), "1"));
  EXPECT_EQ(read(two, entry_key("k")), std::nullopt);
  EXPECT_EQ(values(backend.get(), described(StateKind::kValue, "one")), one);
}

TEST_P(BackendContract, AStateAskedForAsSomethingElseIsATypeErrorThatNamesBoth) {
  auto backend = make();
  values(backend.get());
  StateDescriptor other = described(StateKind::kValue);
  other.value_type = "LONG";
  const Status type = backend->value_table(other).status();
  EXPECT_EQ(type.code(), StatusCode::kTypeError);
  EXPECT_NE(type.message().find("STRING"), std::string::npos) << type.message();
  EXPECT_NE(type.message().find("LONG"), std::string::npos) << type.message();
  const Status kind = backend->list_table(described(StateKind::kList)).status();
  EXPECT_EQ(kind.code(), StatusCode::kTypeError);
  EXPECT_NE(kind.message().find("value state"), std::string::npos) << kind.message();
  EXPECT_NE(kind.message().find("list state"), std::string::npos) << kind.message();
  EXPECT_EQ(backend->timer_queue("state").status().code(), StatusCode::kTypeError);
  EXPECT_EQ(backend->map_table(described(StateKind::kList, "new")).status().code(),
            StatusCode::kTypeError);
  must(backend->timer_queue("timers"));
  EXPECT_EQ(backend->value_table(described(StateKind::kValue, "timers")).status().code(),
            StatusCode::kTypeError);
}

TEST_P(BackendContract, ARestoredStateAskedForAsSomethingElseIsATypeErrorThatNamesBoth) {
  auto before = make();
  PENSTOCK_ASSERT_OK(values(before.get())->put(entry_key("k"), "v"));
  auto backend = reopen(before.get());
  StateDescriptor other = described(StateKind::kValue);
  other.value_type = "LONG";
  const Status type = backend->value_table(other).status();
  EXPECT_EQ(type.code(), StatusCode::kTypeError);
  EXPECT_NE(type.message().find("STRING"), std::string::npos) << type.message();
  EXPECT_NE(type.message().find("LONG"), std::string::npos) << type.message();
  EXPECT_EQ(backend->list_table(described(StateKind::kList)).status().code(),
            StatusCode::kTypeError);
  StateDescriptor elsewhere = described(StateKind::kValue);
  elsewhere.namespace_type = "TIME_WINDOW";
  EXPECT_EQ(backend->value_table(elsewhere).status().code(), StatusCode::kTypeError);
  EXPECT_EQ(backend->timer_queue("state").status().code(), StatusCode::kTypeError);
  // None of that has done any harm.
  EXPECT_EQ(read(values(backend.get()), entry_key("k")), "v");
}

TEST_P(BackendContract, TimersLeaveByTimestampThenKeyThenNamespace) {
  auto backend = make();
  TimerQueue* const queue = must(backend->timer_queue("timers"));
  EXPECT_TRUE(queue->is_empty());
  for (const TimerView& timer :
       {timer_of(20, "a"), timer_of(10, "b", "y"), timer_of(10, "b", "x"), timer_of(-5, "c"),
        timer_of(10, "ab"), timer_of(10, "a", "z"), timer_of(10, "b", "x"), timer_of(10, "b")}) {
    PENSTOCK_ASSERT_OK(queue->add(timer));
  }
  EXPECT_EQ(queue->next(), -5);
  EXPECT_EQ(pop_all(queue, 10),
            (Strings{"-5 c ", "10 a z", "10 ab ", "10 b ", "10 b x", "10 b y"}));
  EXPECT_EQ(queue->next(), 20);
  EXPECT_FALSE(queue->is_empty());
  EXPECT_EQ(pop_all(queue, 19), Strings());
  EXPECT_EQ(pop_all(queue, 20), Strings{"20 a "});
  EXPECT_TRUE(queue->is_empty());
}

TEST_P(BackendContract, ADeletedTimerIsGoneAndDeletingAnUnknownOneDoesNothing) {
  auto backend = make();
  TimerQueue* const queue = must(backend->timer_queue("timers"));
  PENSTOCK_ASSERT_OK(queue->add(timer_of(10, "a")));
  PENSTOCK_ASSERT_OK(queue->add(timer_of(10, "a", "x")));
  PENSTOCK_ASSERT_OK(queue->add(timer_of(30, "a")));
  PENSTOCK_ASSERT_OK(queue->remove(timer_of(10, "a")));
  PENSTOCK_ASSERT_OK(queue->remove(timer_of(10, "b")));
  PENSTOCK_ASSERT_OK(queue->remove(timer_of(20, "a")));
  PENSTOCK_ASSERT_OK(queue->remove(timer_of(10, "a", "x")));
  EXPECT_EQ(queue->next(), 30);
  EXPECT_EQ(pop_all(queue, 100), Strings{"30 a "});
  PENSTOCK_ASSERT_OK(queue->add(timer_of(5, "a")));
  PENSTOCK_ASSERT_OK(queue->remove(timer_of(5, "a")));
  EXPECT_TRUE(queue->is_empty());
}

TEST_P(BackendContract, ATimerAddedWhileOthersFireFiresWithThemInOrder) {
  auto backend = make();
  TimerQueue* const queue = must(backend->timer_queue("timers"));
  PENSTOCK_ASSERT_OK(queue->add(timer_of(10, "b")));
  PENSTOCK_ASSERT_OK(queue->add(timer_of(20, "b")));
  TimerView timer;
  ASSERT_TRUE(must(queue->pop_due(20, &timer)));
  // What pop_due gave out may be used to add: a timer often sets the next one for its own key.
  PENSTOCK_ASSERT_OK(queue->add({15, timer.key, timer.hash, timer.name_space}));
  PENSTOCK_ASSERT_OK(queue->add({10, timer.key, timer.hash, timer.name_space}));
  PENSTOCK_ASSERT_OK(queue->add(timer_of(5, "late")));
  PENSTOCK_ASSERT_OK(queue->add({25, timer.key, timer.hash, timer.name_space}));
  EXPECT_EQ(pop_all(queue, 20), (Strings{"5 late ", "10 b ", "15 b ", "20 b "}));
  EXPECT_EQ(queue->next(), 25);
}

TEST_P(BackendContract, QueuesOfDifferentNamesAreApart) {
  auto backend = make();
  TimerQueue* const event = must(backend->timer_queue("event-time-timers"));
  TimerQueue* const processing = must(backend->timer_queue("processing-time-timers"));
  PENSTOCK_ASSERT_OK(event->add(timer_of(kMinTimestamp, "k")));
  PENSTOCK_ASSERT_OK(processing->add(timer_of(kMaxTimestamp, "k", std::string(100, 'n'))));
  EXPECT_EQ(event->next(), kMinTimestamp);
  EXPECT_EQ(processing->next(), kMaxTimestamp);
  EXPECT_FALSE(processing->is_empty());
  EXPECT_EQ(must(backend->timer_queue("event-time-timers")), event);
  int seen = 0;
  PENSTOCK_ASSERT_OK(processing->for_each([&](const TimerView& timer) {
    EXPECT_EQ(timer.name_space, std::string(100, 'n'));
    ++seen;
    return Status::ok();
  }));
  EXPECT_EQ(seen, 1);
}

TEST_P(BackendContract, EverythingComesBackFromASnapshot) {
  auto before = make();
  PENSTOCK_ASSERT_OK(
      values(before.get(), described(StateKind::kValue, "v"))->put(entry_key("k", "ns"), kLong));
  ListTable* const list = lists(before.get(), described(StateKind::kList, "l"));
  PENSTOCK_ASSERT_OK(list->add(entry_key("k"), "1"));
  PENSTOCK_ASSERT_OK(list->add(entry_key("k"), ""));
  MapTable* const map = maps(before.get(), described(StateKind::kMap, "m"));
  for (int64_t i = 0; i < 300; ++i) {
    PENSTOCK_ASSERT_OK(map->put(entry_key("k"), int_key(i), std::to_string(i)));
  }
  TimerQueue* const timers = must(before->timer_queue("timers"));
  PENSTOCK_ASSERT_OK(timers->add(timer_of(-7, "k", "ns")));
  PENSTOCK_ASSERT_OK(timers->add(timer_of(8, "k", "ns")));

  auto backend = reopen(before.get());
  EXPECT_EQ(read(values(backend.get(), described(StateKind::kValue, "v")), entry_key("k", "ns")),
            kLong);
  EXPECT_EQ(read(lists(backend.get(), described(StateKind::kList, "l")), entry_key("k")),
            (Strings{"1", ""}));
  EXPECT_EQ(read_all(maps(backend.get(), described(StateKind::kMap, "m")), entry_key("k")),
            read_all(map, entry_key("k")));
  EXPECT_EQ(pop_all(must(backend->timer_queue("timers")), 100), (Strings{"-7 k ns", "8 k ns"}));
}

TEST_P(BackendContract, ARestoredStateThatNobodyAsksForEntersLaterSnapshots) {
  auto first = make();
  PENSTOCK_ASSERT_OK(values(first.get())->put(entry_key("k"), "v"));
  PENSTOCK_ASSERT_OK(
      lists(first.get(), described(StateKind::kList, "l"))->add(entry_key("k"), "e"));
  PENSTOCK_ASSERT_OK(must(first->timer_queue("timers"))->add(timer_of(1, "k")));
  const OperatorState written = snapshot_of(first.get());
  auto second = restored(written);
  values(second.get(), described(StateKind::kValue, "new"));
  const OperatorState again = snapshot_of(second.get());
  for (const std::string name : {"state", "l", "timers"}) {
    EXPECT_EQ(entries_of(again, name), entries_of(written, name));
    EXPECT_EQ(again.find_keyed(name)->meta.value_type, written.find_keyed(name)->meta.value_type);
    EXPECT_EQ(again.find_keyed(name)->meta.kind, written.find_keyed(name)->meta.kind);
  }
}

TEST_P(BackendContract, ADeferredSnapshotShowsWhatWasThereHoweverTheTaskGoesOn) {
  auto backend = make();
  ValueTable* const value = values(backend.get(), described(StateKind::kValue, "v"));
  ListTable* const list = lists(backend.get(), described(StateKind::kList, "l"));
  MapTable* const map = maps(backend.get(), described(StateKind::kMap, "m"));
  TimerQueue* const timers = must(backend->timer_queue("timers"));
  const auto write = [&](const std::string& mark, int64_t from) {
    for (int64_t i = from; i < from + 2000; ++i) {
      must(value->put(entry_key(int_key(i)), mark + std::string(static_cast<size_t>(i % 40), '.')));
      must(list->add(entry_key(int_key(i % 50)), mark));
      must(map->put(entry_key(int_key(i % 3)), int_key(i), mark));
      must(timers->add(timer_of(i, int_key(i % 100), mark)));
    }
  };
  write("old", 0);
  OperatorState deferred = deferred_of(backend.get());
  OperatorState same = deferred_of(backend.get());
  must(same.materialise());
  write("new", 1000);
  for (int64_t i = 0; i < 1000; i += 2) {
    must(value->remove(entry_key(int_key(i))));
    must(list->clear(entry_key(int_key(i))));
    must(map->remove(entry_key(int_key(i % 3)), int_key(i)));
    must(timers->remove(timer_of(i, int_key(i % 100), "old")));
  }
  OperatorState later = deferred_of(backend.get());
  must(later.materialise());
  backend.reset();
  must(deferred.materialise());
  for (const std::string name : {"v", "l", "m", "timers"}) {
    EXPECT_EQ(entries_of(deferred, name), entries_of(same, name)) << name;
    EXPECT_NE(entries_of(deferred, name), entries_of(later, name)) << name;
  }
  EXPECT_EQ(entries_of(deferred, "v").size(), 2000U);
  EXPECT_EQ(entries_of(later, "v").size(), 2500U);
}

TEST_P(BackendContract, StateIsSplitAndMergedByKeyGroup) {
  auto whole = make();
  ValueTable* const table = values(whole.get());
  MapTable* const map = maps(whole.get(), described(StateKind::kMap, "m"));
  TimerQueue* const timers = must(whole->timer_queue("timers"));
  for (int64_t i = 0; i < 500; ++i) {
    PENSTOCK_ASSERT_OK(table->put(entry_key(int_key(i), "ns"), std::to_string(i)));
    PENSTOCK_ASSERT_OK(map->put(entry_key(int_key(i)), "a", std::to_string(i)));
    PENSTOCK_ASSERT_OK(map->put(entry_key(int_key(i)), "b", ""));
    PENSTOCK_ASSERT_OK(timers->add(timer_of(i, int_key(i))));
  }
  PENSTOCK_ASSERT_OK(table->put(entry_key(""), "without a key"));
  const OperatorState written = snapshot_of(whole.get());
  std::vector<OperatorState> parts;
  for (int32_t subtask = 0; subtask < 3; ++subtask) {
    auto part = restored(must(reassign({written}, subtask, 3, kMaxParallelism)),
                         key_group_range(subtask, kMaxParallelism, 3));
    values(part.get());
    parts.push_back(snapshot_of(part.get()));
    EXPECT_LT(entries_of(parts.back(), "state").size(), 300U);
  }
  auto merged = restored(must(reassign(parts, 0, 1, kMaxParallelism)));
  const OperatorState again = snapshot_of(merged.get());
  for (const std::string name : {"state", "m", "timers"}) {
    EXPECT_EQ(entries_of(again, name), entries_of(written, name));
  }
}

TEST_P(BackendContract, AKeyInTheWrongKeyGroupIsCorruption) {
  OperatorState state;
  KeyedStateData data;
  data.meta = meta_of(described(StateKind::kValue));
  const int32_t right = entry_key("k").key_group(kMaxParallelism);
  data.add((right + 1) % kMaxParallelism, "k", "", "v");
  state.keyed.push_back(data);
  auto backend = make();
  const Status status = backend->restore(state);
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_NE(status.message().find("'state'"), std::string::npos) << status.message();
}

TEST_P(BackendContract, EntriesThatAreNoneAreCorruption) {
  const auto restore = [this](StateKind kind, const std::string& value) {
    OperatorState state;
    KeyedStateData data;
    data.meta = meta_of(described(StateKind::kValue));
    data.meta.kind = kind;
    data.add(entry_key("k").key_group(kMaxParallelism), "k", "", value);
    state.keyed.push_back(data);
    return make()->restore(state).code();
  };
  EXPECT_EQ(restore(StateKind::kList, std::string("\5\0\0\0abcd", 8)), StatusCode::kCorruption);
  EXPECT_EQ(restore(StateKind::kMap, std::string("\5\0\0\0abcd", 8)), StatusCode::kCorruption);
  EXPECT_EQ(restore(StateKind::kTimers, "1234567"), StatusCode::kCorruption);
  EXPECT_EQ(restore(StateKind::kTimers, "123456789"), StatusCode::kCorruption);
}

TEST_P(BackendContract, CloseMayBeCalledAfterASnapshot) {
  auto backend = make();
  PENSTOCK_ASSERT_OK(values(backend.get())->put(entry_key("k"), "v"));
  OperatorState deferred = deferred_of(backend.get());
  PENSTOCK_ASSERT_OK(backend->close());
  must(deferred.materialise());
  EXPECT_EQ(entries_of(deferred, "state").size(), 1U);
}

}  // namespace penstock
