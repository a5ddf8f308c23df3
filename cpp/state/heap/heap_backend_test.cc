// What only the backend in memory has; the contract's tests run from here as well.
#include "state/heap/heap_backend.h"

#include <gtest/gtest.h>

#include <thread>

#include "state/backend_contract.h"

namespace penstock {

INSTANTIATE_TEST_SUITE_P(Heap, BackendContract,
                         testing::Values(BackendCase{"hashmap", make_heap_backend, 150}),
                         backend_case_name);

namespace {

class HeapBackendTest : public testing::Test {
 protected:
  HeapBackendTest() {
    context_.clock = &clock_;
    backend_ = make_heap_backend(context_);
  }

  // What is stored, whether or not it may still be read.
  size_t stored_entries(const std::string& name = "state") {
    OperatorState state;
    must(backend_->snapshot({CheckpointId(1), true}, &state));
    must(state.materialise());
    size_t count = 0;
    must(state.find_keyed(name)->for_each([&](auto, auto, auto, auto) {
      ++count;
      return Status::ok();
    }));
    return count;
  }

  static StateDescriptor with_ttl(StateKind kind, int32_t entries, bool per_record = false) {
    StateDescriptor descriptor = described(kind);
    descriptor.ttl.ttl_millis = 100;
    descriptor.ttl.incremental_cleanup_entries = entries;
    descriptor.ttl.incremental_cleanup_per_record = per_record;
    return descriptor;
  }

  ManualClock clock_{0};
  BackendContext context_;
  std::unique_ptr<KeyedStateBackend> backend_;
};

}  // namespace

TEST_F(HeapBackendTest, EachAccessCleansUpTheNextFewEntries) {
  ValueTable* const table = must(backend_->value_table(with_ttl(StateKind::kValue, 5)));
  for (int64_t i = 0; i < 1000; ++i) must(table->put(entry_key(int_key(i)), "v"));
  EXPECT_EQ(stored_entries(), 1000U);
  clock_.set_millis(100);
  must(table->put(entry_key("live"), "v"));
  const size_t after_one = stored_entries();
  EXPECT_GE(after_one, 996U);
  EXPECT_LT(after_one, 1001U);
  for (int i = 0; i < 500; ++i) must(table->get(entry_key("live")));
  EXPECT_EQ(stored_entries(), 1U);
  EXPECT_EQ(*must(table->get(entry_key("live"))), "v");
}

TEST_F(HeapBackendTest, CleanupOfListsAndMapsLeavesWhatLives) {
  StateDescriptor list = with_ttl(StateKind::kList, 3);
  StateDescriptor map = with_ttl(StateKind::kMap, 3);
  list.name = "l";
  map.name = "m";
  ListTable* const lists = must(backend_->list_table(list));
  MapTable* const maps = must(backend_->map_table(map));
  for (int64_t i = 0; i < 300; ++i) {
    must(lists->add(entry_key(int_key(i)), "old"));
    must(maps->put(entry_key(int_key(i % 3)), int_key(i), "old"));
  }
  clock_.set_millis(60);
  must(lists->add(entry_key(int_key(0)), "new"));
  must(maps->put(entry_key(int_key(0)), int_key(0), "new"));
  clock_.set_millis(120);
  for (int i = 0; i < 200; ++i) {
    must(lists->add(entry_key("k"), "k"));
    must(maps->put(entry_key("k"), "k", "k"));
  }
  EXPECT_EQ(stored_entries("l"), 2U);
  EXPECT_EQ(stored_entries("m"), 2U);
  std::vector<std::string_view> elements;
  must(lists->get(entry_key(int_key(0)), &elements));
  EXPECT_EQ(elements, std::vector<std::string_view>{"new"});
  EXPECT_EQ(*must(maps->get(entry_key(int_key(0)), int_key(0))), "new");
}

TEST_F(HeapBackendTest, CleanupForEachRecordNeedsNoAccess) {
  ValueTable* const table = must(backend_->value_table(with_ttl(StateKind::kValue, 2, true)));
  for (int64_t i = 0; i < 100; ++i) must(table->put(entry_key(int_key(i)), "v"));
  clock_.set_millis(100);
  EncodedKeys keys;
  keys.hashes.resize(10);
  must(backend_->prepare(keys));
  EXPECT_EQ(stored_entries(), 80U);
  for (int i = 0; i < 10; ++i) must(backend_->prepare(keys));
  EXPECT_EQ(stored_entries(), 0U);
}

TEST_F(HeapBackendTest, ArgumentsMayPointIntoTheTableWhileItCleansUp) {
  StateDescriptor descriptor = with_ttl(StateKind::kMap, 50);
  MapTable* const table = must(backend_->map_table(descriptor));
  for (int64_t i = 0; i < 500; ++i) must(table->put(entry_key("k"), int_key(i), "v"));
  std::vector<MapTable::UserEntry> some;
  must(table->scan(entry_key("k"), std::nullopt, 500, &some));
  clock_.set_millis(100);
  must(table->put(entry_key("l"), some[3].first, some[3].second));
  EXPECT_EQ(*must(table->get(entry_key("l"), int_key(3))), "v");
  EXPECT_EQ(stored_entries(), 1U);
}

TEST_F(HeapBackendTest, ASnapshotIsReadOutInAnotherThreadWhileTheTaskGoesOn) {
  ValueTable* const values = must(backend_->value_table(described(StateKind::kValue, "v")));
  ListTable* const lists = must(backend_->list_table(described(StateKind::kList, "l")));
  MapTable* const maps = must(backend_->map_table(described(StateKind::kMap, "m")));
  TimerQueue* const timers = must(backend_->timer_queue("t"));
  const auto write = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      must(values->put(entry_key(int_key(i)), std::string(static_cast<size_t>(i % 64), 'v')));
      must(lists->add(entry_key(int_key(i % 99)), "element"));
      must(maps->put(entry_key(int_key(i % 9)), int_key(i), "value"));
      must(timers->add(timer_of(i, int_key(i), "a namespace of some length")));
    }
  };
  write(0, 5000);
  for (int64_t round = 0; round < 4; ++round) {
    OperatorState deferred;
    must(backend_->snapshot({CheckpointId(round), true}, &deferred));
    std::thread writer([state = std::move(deferred), round]() mutable {
      must(state.materialise());
      size_t elements = 0;
      must(state.find_keyed("l")->for_each([&](auto, auto, auto, std::string_view list) {
        elements += list.size() / 11;
        return Status::ok();
      }));
      EXPECT_EQ(elements, 5000U + static_cast<size_t>(round) * 1000U);
    });
    write(5000 + round * 1000, 6000 + round * 1000);
    for (int64_t i = round * 500; i < round * 500 + 500; ++i) {
      must(values->remove(entry_key(int_key(i))));
      must(maps->remove(entry_key(int_key(i % 9)), int_key(i)));
      must(timers->remove(timer_of(i, int_key(i), "a namespace of some length")));
    }
    writer.join();
  }
}

TEST_F(HeapBackendTest, FilesOfAnotherBackendAreRefusedByName) {
  OperatorState state;
  state.native.emplace_back();
  state.native.back().backend = "rocksdb";
  const Status status = backend_->restore(state);
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_NE(status.message().find("rocksdb"), std::string::npos) << status.message();
}

TEST_F(HeapBackendTest, TheFactoryNamesTheBackendsThereAre) {
  BackendContext context;
  EXPECT_TRUE(make_keyed_state_backend(context).is_ok());
  auto config = std::make_shared<StateBackendConfig>();
  config->kind = "memory";
  context.config = config;
  const Status status = make_keyed_state_backend(context).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  for (const char* name : {"'memory'", "'hashmap'", "'rocksdb'"}) {
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
  }
}

TEST_F(HeapBackendTest, TheMetaOfAStateSpellsOutMapsAndTimesToLive) {
  StateDescriptor descriptor = described(StateKind::kMap, "m");
  descriptor.user_key_type = "LONG";
  EXPECT_EQ(meta_of(descriptor).value_type, "MAP<LONG, STRING>");
  descriptor.ttl.ttl_millis = 1;
  EXPECT_EQ(meta_of(descriptor).value_type, "TTL<MAP<LONG, STRING>>");
  EXPECT_EQ(meta_of(descriptor).key_type, "encoded");
  EXPECT_EQ(meta_of(described(StateKind::kList)).value_type, "STRING");
}

}  // namespace penstock
