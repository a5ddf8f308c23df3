// The contract of KeyedStateBackend, as a test fixture: every backend runs the same tests.
//
// The tests are in backend_contract*_test.cc; a backend joins with one line in a test file of its
// own:
//   INSTANTIATE_TEST_SUITE_P(Rocksdb, BackendContract, testing::Values(BackendCase{"rocksdb", make}));
// A test may have several backends at once and restores one from another's snapshot.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "record/key_encoding.h"
#include "state/keyed_state_backend.h"

namespace penstock {

struct BackendCase {
  std::string name;
  std::function<std::unique_ptr<KeyedStateBackend>(const BackendContext&)> make;
  int random_runs = 10;  // of the tests at random; more where opening a backend costs nothing
  friend std::ostream& operator<<(std::ostream& out, const BackendCase& one) {
    return out << one.name;
  }
};

#define PENSTOCK_ASSERT_OK(expr)                                     \
  do {                                                               \
    const ::penstock::Status status_ = (expr);                       \
    ASSERT_TRUE(status_.is_ok()) << #expr ": " << status_.message(); \
  } while (false)

// The value, or a failed test and a default.
template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result.is_ok()) << result.status().message();
  if (!result.is_ok()) return T{};
  return std::move(result).value();
}
inline void must(const Status& status) { EXPECT_TRUE(status.is_ok()) << status.message(); }

inline EntryKey entry_key(std::string_view key, std::string_view name_space = {}) {
  return {key, key.empty() ? 0 : murmur3_32(key.data(), key.size()), name_space};
}

inline TimerView timer_of(Timestamp timestamp, std::string_view key,
                          std::string_view name_space = {}) {
  return {timestamp, key, key.empty() ? 0 : murmur3_32(key.data(), key.size()), name_space};
}

// The canonical bytes of an int key: what a real key looks like.
inline std::string int_key(int64_t value) {
  std::string key;
  encode_int64(value, &key);
  return key;
}

inline StateDescriptor described(StateKind kind, const std::string& name = "state") {
  StateDescriptor descriptor;
  descriptor.name = name;
  descriptor.kind = kind;
  descriptor.namespace_type = "BYTES";
  descriptor.value_type = "STRING";
  if (kind == StateKind::kMap) descriptor.user_key_type = "STRING";
  return descriptor;
}

// (key, namespace) -> entries of a canonical snapshot, in their order.
using CanonicalEntries = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

// Public, since a test may need an object to help it.
class BackendContract : public testing::TestWithParam<BackendCase> {
 public:
  static constexpr int32_t kMaxParallelism = 16;

  BackendContext context(KeyGroupRange groups = {0, kMaxParallelism - 1}) {
    BackendContext context;
    context.operator_name = "Process";
    context.uid = "process-uid";
    context.max_parallelism = kMaxParallelism;
    context.key_groups = groups;
    context.clock = &clock_;
    return context;
  }

  std::unique_ptr<KeyedStateBackend> make(KeyGroupRange groups = {0, kMaxParallelism - 1}) {
    return GetParam().make(context(groups));
  }

  // A new backend over what `backend` has; through the canonical form.
  std::unique_ptr<KeyedStateBackend> reopen(KeyedStateBackend* backend) {
    return restored(snapshot_of(backend));
  }

  std::unique_ptr<KeyedStateBackend> restored(const OperatorState& state,
                                              KeyGroupRange groups = {0, kMaxParallelism - 1}) {
    std::unique_ptr<KeyedStateBackend> backend = make(groups);
    must(backend->restore(state));
    return backend;
  }

  // The first half of a canonical snapshot.
  static OperatorState deferred_of(KeyedStateBackend* backend) {
    OperatorState state;
    state.request = {CheckpointId(next_checkpoint()), true};
    must(backend->snapshot(state.request, &state));
    return state;
  }

  static OperatorState snapshot_of(KeyedStateBackend* backend) {
    OperatorState state = deferred_of(backend);
    must(state.materialise());
    return state;
  }

  static CanonicalEntries entries_of(const OperatorState& state, const std::string& name) {
    CanonicalEntries entries;
    const KeyedStateData* const data = state.find_keyed(name);
    EXPECT_NE(data, nullptr) << "no state '" << name << "'";
    if (data == nullptr) return entries;
    must(data->for_each([&](int32_t group, std::string_view key, std::string_view name_space,
                            std::string_view value) {
      EXPECT_EQ(entry_key(key).key_group(kMaxParallelism), group);
      entries[{std::string(key), std::string(name_space)}].emplace_back(value);
      return Status::ok();
    }));
    return entries;
  }

  static ValueTable* values(KeyedStateBackend* backend,
                            const StateDescriptor& descriptor = described(StateKind::kValue)) {
    return must(backend->value_table(descriptor));
  }
  static ListTable* lists(KeyedStateBackend* backend,
                          const StateDescriptor& descriptor = described(StateKind::kList)) {
    return must(backend->list_table(descriptor));
  }
  static MapTable* maps(KeyedStateBackend* backend,
                        const StateDescriptor& descriptor = described(StateKind::kMap)) {
    return must(backend->map_table(descriptor));
  }

  static std::optional<std::string> read(ValueTable* table, const EntryKey& entry) {
    const auto value = must(table->get(entry));
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  static std::vector<std::string> read(ListTable* table, const EntryKey& entry) {
    std::vector<std::string_view> elements;
    must(table->get(entry, &elements));
    return {elements.begin(), elements.end()};
  }
  static std::optional<std::string> read(MapTable* table, const EntryKey& entry,
                                         std::string_view user_key) {
    const auto value = must(table->get(entry, user_key));
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  // All of a map, `step` entries at a time.
  static std::vector<std::pair<std::string, std::string>> read_all(MapTable* table,
                                                                   const EntryKey& entry,
                                                                   size_t step = 3) {
    std::vector<std::pair<std::string, std::string>> all;
    std::vector<MapTable::UserEntry> some;
    std::optional<std::string> after;
    do {
      must(table->scan(entry, after, step, &some));
      for (const auto& [key, value] : some) all.emplace_back(key, value);
      if (!some.empty()) after = std::string(some.back().first);
    } while (some.size() == step);
    return all;
  }
  // Every timer that is due, in the order in which it leaves: "timestamp key namespace".
  static std::vector<std::string> pop_all(TimerQueue* queue, Timestamp until) {
    std::vector<std::string> popped;
    TimerView timer;
    while (must(queue->pop_due(until, &timer))) {
      popped.push_back(std::to_string(timer.timestamp) + " " + std::string(timer.key) + " " +
                       std::string(timer.name_space));
    }
    return popped;
  }

  ManualClock clock_{1'000'000};

 private:
  static int64_t next_checkpoint() {
    static int64_t last = 0;
    return ++last;
  }
};

inline std::string backend_case_name(const testing::TestParamInfo<BackendCase>& info) {
  return info.param.name;
}

}  // namespace penstock
