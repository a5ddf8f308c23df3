#include "state/rocksdb/rocks_ttl_filter.h"

#include "state/rocksdb/rocks_test_util.h"

namespace penstock {
namespace {

class RocksTtlFilterTest : public RocksTest {
 protected:
  static StateDescriptor with_ttl(StateKind kind, bool in_compaction = true) {
    StateDescriptor descriptor = described(kind, to_string(kind));
    descriptor.ttl.ttl_millis = 100;
    descriptor.ttl.cleanup_in_compaction = in_compaction;
    descriptor.ttl.compaction_query_time_after = 1;
    return descriptor;
  }
  // Key and value bytes of everything that a full compaction leaves.
  static std::vector<std::pair<std::string, std::string>> left(RocksKeyedStateBackend* backend,
                                                               StateKind kind) {
    must(backend->flush());
    rocksdb::DB* const db = backend->store()->db();
    rocksdb::ColumnFamilyHandle* const handle =
        backend->store()->find_family(to_string(kind))->handle;
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    EXPECT_TRUE(db->CompactRange(options, handle, nullptr, nullptr).ok());
    std::vector<std::pair<std::string, std::string>> entries;
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries.emplace_back(it->key().ToString(), it->value().ToString());
    }
    return entries;
  }
};

TEST_F(RocksTtlFilterTest, CompactionDropsExpiredValuesOnly) {
  auto backend = make();
  ValueTable* const table = must(backend->value_table(with_ttl(StateKind::kValue)));
  must(table->put(entry_key("old"), "v"));
  clock_.set_millis(clock_.now_millis() + 99);
  must(table->put(entry_key("new"), "w"));
  EXPECT_EQ(left(backend.get(), StateKind::kValue).size(), 2U);
  clock_.set_millis(clock_.now_millis() + 1);
  const auto entries = left(backend.get(), StateKind::kValue);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_NE(entries[0].first.find("new"), std::string::npos);
  EXPECT_EQ(value_of(table, entry_key("new")), "w");
  EXPECT_EQ(value_of(table, entry_key("old")), "none");
}

TEST_F(RocksTtlFilterTest, OfAListTheExpiredElementsGoAndAnEmptyListGoesWhole) {
  auto backend = make();
  ListTable* const table = must(backend->list_table(with_ttl(StateKind::kList)));
  must(table->add(entry_key("k"), "old"));
  must(table->add(entry_key("gone"), "old"));
  clock_.set_millis(clock_.now_millis() + 50);
  must(backend->flush());
  must(table->add(entry_key("k"), "new"));
  const size_t before = left(backend.get(), StateKind::kList).at(0).second.size() +
                        left(backend.get(), StateKind::kList).at(1).second.size();
  clock_.set_millis(clock_.now_millis() + 50);
  const auto entries = left(backend.get(), StateKind::kList);
  ASSERT_EQ(entries.size(), 1U);
  // Two elements with length and timestamp, and the comma between, are gone.
  EXPECT_EQ(entries[0].second.size(), before - 2 * (4 + 8 + 3) - 1);
  must(table->add(entry_key("k"), "more"));
  std::vector<std::string_view> elements;
  must(table->get(entry_key("k"), &elements));
  EXPECT_EQ(elements, (std::vector<std::string_view>{"new", "more"}));
}

TEST_F(RocksTtlFilterTest, EntriesOfAMapGoOneByOne) {
  auto backend = make();
  MapTable* const table = must(backend->map_table(with_ttl(StateKind::kMap)));
  must(table->put(entry_key("k"), "old", "v"));
  clock_.set_millis(clock_.now_millis() + 60);
  must(table->put(entry_key("k"), "new", "w"));
  clock_.set_millis(clock_.now_millis() + 60);
  EXPECT_EQ(left(backend.get(), StateKind::kMap).size(), 1U);
}

TEST_F(RocksTtlFilterTest, WithoutCleanupInCompactionNothingGoes) {
  auto backend = make();
  ValueTable* const table = must(backend->value_table(with_ttl(StateKind::kValue, false)));
  must(table->put(entry_key("k"), "v"));
  clock_.set_millis(clock_.now_millis() + 1000);
  EXPECT_EQ(left(backend.get(), StateKind::kValue).size(), 1U);
}

}  // namespace
}  // namespace penstock
