// Any backend (backend_contract.h) against std::map, at random: all kinds of state, with and without
// a time to live, with snapshots, restores and changes of parallelism in between.
#include <random>
#include <set>

#include "common/property_seeds.h"
#include "state/backend_contract.h"
#include "state/ttl/ttl_format.h"
#include "timers/timer_queue_contract.h"

namespace penstock {

namespace {

// A value with the time when it was last touched.
struct Stamped {
  int64_t timestamp;
  std::string value;
};

using EntryId = std::pair<std::string, std::string>;  // key, namespace

// What a table should be. A time to live of 0 is none.
struct Model {
  TtlConfig ttl;
  std::map<EntryId, Stamped> values;
  std::map<EntryId, std::vector<Stamped>> lists;
  std::map<EntryId, std::map<std::string, Stamped>> maps;

  [[nodiscard]] bool expired(const Stamped& value, int64_t at) const {
    return ttl.enabled() && is_expired(value.timestamp, ttl.ttl_millis, at);
  }
  [[nodiscard]] bool returns(const Stamped& value, int64_t at) const {
    return !expired(value, at) || ttl.visibility == TtlVisibility::kReturnExpiredIfNotCleanedUp;
  }
  // What a read makes of a value that lives.
  void touch(Stamped* value, int64_t at) const {
    if (ttl.enabled() && ttl.update == TtlUpdateType::kOnReadAndWrite) value->timestamp = at;
  }
};

std::vector<TtlConfig> ttl_configs() {
  std::vector<TtlConfig> configs(5);
  for (size_t i = 1; i < configs.size(); ++i) {
    configs[i].ttl_millis = 50;
    if ((i & 1) != 0) configs[i].update = TtlUpdateType::kOnReadAndWrite;
    if ((i & 2) != 0) configs[i].visibility = TtlVisibility::kReturnExpiredIfNotCleanedUp;
  }
  return configs;
}

class RandomRun {
 public:
  RandomRun(BackendContract* test, uint64_t seed, const TtlConfig& ttl)
      : test_(test), random_(seed), keys_(1 + pick(60)), backend_(test->make()) {
    model_.ttl = ttl;
    open();
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const uint64_t dice = pick(300);
      if (dice < 90) {
        step_value();
      } else if (dice < 180) {
        step_list();
      } else if (dice < 285) {
        step_map();
      } else if (dice < 299) {
        test_->clock_.set_millis(now() + static_cast<int64_t>(pick(30)));
      } else {
        restart();
      }
      if (testing::Test::HasFailure()) return;
    }
    check_all();
  }

 private:
  using Contract = BackendContract;

  uint64_t pick(uint64_t below) { return random_() % below; }
  [[nodiscard]] int64_t now() const { return test_->clock_.now_millis(); }

  void open() {
    const auto describe = [this](StateKind kind, const std::string& name) {
      StateDescriptor descriptor = described(kind, name);
      descriptor.ttl = model_.ttl;
      return descriptor;
    };
    values_ = Contract::values(backend_.get(), describe(StateKind::kAggregating, "v"));
    lists_ = Contract::lists(backend_.get(), describe(StateKind::kList, "l"));
    maps_ = Contract::maps(backend_.get(), describe(StateKind::kMap, "m"));
  }

  EntryId some_id() {
    const uint64_t number = pick(keys_);
    EntryId id{int_key(static_cast<int64_t>(number)), std::string(pick(3), 'n')};
    if (number % 5 == 0) encode_str(std::string(number, 's'), &id.first);
    if (number % 7 == 3) id.first.clear();
    if (number % 9 == 0) id.second += "a namespace of more than 16 bytes";
    return id;
  }
  std::string some_value() {
    std::string value(pick(4) == 0 ? pick(300) : pick(24), 'v');
    return value + std::to_string(pick(1000));
  }
  std::string some_user_key() {
    return std::string(pick(20) == 0 ? 40 : 0, 'u') + std::to_string(pick(150));
  }
  static EntryKey key_of(const EntryId& id) { return entry_key(id.first, id.second); }
  Stamped stamped(const std::string& value) const { return {now(), value}; }

  void step_value() {
    const EntryId id = some_id();
    const uint64_t dice = pick(10);
    if (dice < 4) {
      const std::string value = some_value();
      must(values_->put(key_of(id), value));
      model_.values[id] = stamped(value);
    } else if (dice == 4) {
      must(values_->remove(key_of(id)));
      model_.values.erase(id);
    } else {
      EXPECT_EQ(Contract::read(values_, key_of(id)), expect_value(id));
    }
  }

  std::optional<std::string> expect_value(const EntryId& id) {
    const auto it = model_.values.find(id);
    if (it == model_.values.end()) return std::nullopt;
    const int64_t at = now();
    std::optional<std::string> value;
    if (model_.returns(it->second, at)) value = it->second.value;
    if (model_.expired(it->second, at)) {
      model_.values.erase(it);
    } else {
      model_.touch(&it->second, at);
    }
    return value;
  }

  void step_list() {
    const EntryId id = some_id();
    const uint64_t dice = pick(20);
    if (dice < 10) {
      const std::string value = some_value();
      must(lists_->add(key_of(id), value));
      model_.lists[id].push_back(stamped(value));
    } else if (dice == 10) {
      must(lists_->clear(key_of(id)));
      model_.lists.erase(id);
    } else if (dice == 11) {
      // Some of the elements there are, from views, and doubled.
      const std::vector<std::string> expected = expect_list(id);
      std::vector<std::string_view> elements;
      must(lists_->get(key_of(id), &elements));
      std::vector<std::string_view> updated;
      if (elements.size() != expected.size()) return;  // the first read dropped what had expired
      model_.lists.erase(id);
      for (size_t i = 0; i < elements.size(); i += 2) {
        for (int twice = 0; twice < 2; ++twice) {
          updated.push_back(elements[i]);
          model_.lists[id].push_back(stamped(expected[i]));
        }
      }
      must(lists_->update(key_of(id), updated));
    } else {
      EXPECT_EQ(Contract::read(lists_, key_of(id)), expect_list(id));
    }
  }

  std::vector<std::string> expect_list(const EntryId& id) {
    const auto it = model_.lists.find(id);
    if (it == model_.lists.end()) return {};
    const int64_t at = now();
    std::vector<std::string> returned;
    std::vector<Stamped> live;
    for (const Stamped& element : it->second) {
      if (model_.returns(element, at)) returned.push_back(element.value);
      if (!model_.expired(element, at)) live.push_back(element);
    }
    const bool renews = model_.ttl.enabled() && model_.ttl.update == TtlUpdateType::kOnReadAndWrite;
    if (live.empty()) {
      model_.lists.erase(it);
    } else if (renews) {
      for (Stamped& element : live) element.timestamp = at;
      it->second = live;
    }
    return returned;
  }

  void step_map() {
    const EntryId id = some_id();
    const std::string user_key = some_user_key();
    const uint64_t dice = pick(40);
    if (dice < 20) {
      const std::string value = some_value();
      must(maps_->put(key_of(id), user_key, value));
      model_.maps[id][user_key] = stamped(value);
    } else if (dice < 25) {
      must(maps_->remove(key_of(id), user_key));
      erase_in_map(id, user_key);
    } else if (dice == 25) {
      must(maps_->clear(key_of(id)));
      model_.maps.erase(id);
    } else if (dice == 26) {
      EXPECT_EQ(must(maps_->is_empty(key_of(id))), !model_.maps.contains(id));
    } else if (dice < 30) {
      const auto read_entries = Contract::read_all(maps_, key_of(id), 1 + pick(100));
      EXPECT_EQ(read_entries, expect_map(id));
    } else {
      EXPECT_EQ(Contract::read(maps_, key_of(id), user_key), expect_in_map(id, user_key));
    }
  }

  void erase_in_map(const EntryId& id, const std::string& user_key) {
    const auto it = model_.maps.find(id);
    if (it == model_.maps.end()) return;
    it->second.erase(user_key);
    if (it->second.empty()) model_.maps.erase(it);
  }

  std::optional<std::string> expect_in_map(const EntryId& id, const std::string& user_key) {
    const auto it = model_.maps.find(id);
    if (it == model_.maps.end() || !it->second.contains(user_key)) return std::nullopt;
    Stamped& value = it->second[user_key];
    const int64_t at = now();
    std::optional<std::string> returned;
    if (model_.returns(value, at)) returned = value.value;
    if (model_.expired(value, at)) {
      erase_in_map(id, user_key);
    } else {
      model_.touch(&value, at);
    }
    return returned;
  }

  std::vector<std::pair<std::string, std::string>> expect_map(const EntryId& id) {
    std::vector<std::pair<std::string, std::string>> all;
    std::vector<std::string> user_keys;
    for (const auto& [user_key, value] : model_.maps[id]) user_keys.push_back(user_key);
    if (user_keys.empty()) model_.maps.erase(id);
    for (const std::string& user_key : user_keys) {
      const auto value = expect_in_map(id, user_key);
      if (value) all.emplace_back(user_key, *value);
    }
    return all;
  }

  // A snapshot, cut to some other parallelism and put together again.
  void restart() {
    OperatorState state = Contract::snapshot_of(backend_.get());
    const auto parallelism = static_cast<int32_t>(1 + pick(4));
    if (parallelism > 1) {
      std::vector<OperatorState> parts;
      for (int32_t subtask = 0; subtask < parallelism; ++subtask) {
        auto part = test_->restored(
            must(reassign({state}, subtask, parallelism, Contract::kMaxParallelism)),
            key_group_range(subtask, Contract::kMaxParallelism, parallelism));
        parts.push_back(Contract::snapshot_of(part.get()));
      }
      state = must(reassign(parts, 0, 1, Contract::kMaxParallelism));
    }
    backend_ = test_->restored(state);
    open();
  }

  // Everything that is stored, as a snapshot shows it.
  void check_all() {
    const OperatorState state = Contract::snapshot_of(backend_.get());
    const auto bytes = [this](const Stamped& value) {
      std::string out;
      if (!model_.ttl.enabled()) return value.value;
      append_ttl_value(value.timestamp, value.value, &out);
      return out;
    };
    const auto sized = [](const std::string& text) {
      std::string out;
      for (int shift = 0; shift < 32; shift += 8) {
        out.push_back(static_cast<char>(text.size() >> shift));
      }
      return out + text;
    };
    CanonicalEntries expected_values;
    CanonicalEntries expected_lists;
    CanonicalEntries expected_maps;
    for (const auto& [id, value] : model_.values) expected_values[id] = {bytes(value)};
    for (const auto& [id, list] : model_.lists) {
      std::string joined;
      for (const Stamped& element : list) joined += sized(bytes(element));
      expected_lists[id] = {joined};
    }
    for (const auto& [id, map] : model_.maps) {
      for (const auto& [user_key, value] : map) {
        expected_maps[id].push_back(sized(user_key) + bytes(value));
      }
    }
    EXPECT_EQ(Contract::entries_of(state, "v"), expected_values);
    EXPECT_EQ(Contract::entries_of(state, "l"), expected_lists);
    EXPECT_EQ(Contract::entries_of(state, "m"), expected_maps);
  }

  BackendContract* const test_;
  std::mt19937_64 random_;
  const uint64_t keys_;
  Model model_;
  std::unique_ptr<KeyedStateBackend> backend_;
  ValueTable* values_ = nullptr;
  ListTable* lists_ = nullptr;
  MapTable* maps_ = nullptr;
};

// The number of a key's hash, as TimerQueueAgainstSet wants it.
uint32_t hash_of(const std::string& key) { return entry_key(key).hash; }

}  // namespace

TEST_P(BackendContract, AgreesWithMapsAtRandom) {
  const std::vector<TtlConfig> configs = ttl_configs();
  const uint64_t seeds = property_seeds(static_cast<uint64_t>(GetParam().random_runs));
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const TtlConfig& ttl = configs[seed % configs.size()];
    SCOPED_TRACE("seed " + std::to_string(seed));
    clock_.set_millis(1'000'000);
    RandomRun(this, seed, ttl).run(1000);
    if (HasFailure()) return;
  }
}

TEST_P(BackendContract, TimersAgreeWithASetAtRandomAndThroughRestores) {
  const uint64_t seeds = property_seeds(static_cast<uint64_t>(GetParam().random_runs));
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::unique_ptr<KeyedStateBackend> backend = make();
    TimerQueueAgainstSet against(must(backend->timer_queue("timers")), hash_of, seed);
    for (int round = 0; round < 3; ++round) {
      against.run(200);
      backend = reopen(backend.get());
      against.go_on_with(must(backend->timer_queue("timers")));
      against.check_contents();
      if (HasFailure()) return;
    }
  }
}

TEST_P(BackendContract, DeferredTimersAreThoseOfTheirMomentAtRandom) {
  for (uint64_t seed = 100; seed < 110; ++seed) {
    std::unique_ptr<KeyedStateBackend> backend = make();
    TimerQueueAgainstSet against(must(backend->timer_queue("timers")), hash_of, seed);
    against.run(300);
    const auto expected = against.expected();
    OperatorState deferred = deferred_of(backend.get());
    against.run(300);
    must(deferred.materialise());
    auto then = restored(deferred);
    std::set<TimerQueueAgainstSet::Timer> seen;
    must(must(then->timer_queue("timers"))->for_each([&](const TimerView& timer) {
      seen.emplace(timer.timestamp, timer.key, timer.name_space);
      return Status::ok();
    }));
    EXPECT_EQ(seen, expected) << "seed " << seed;
  }
}

}  // namespace penstock
