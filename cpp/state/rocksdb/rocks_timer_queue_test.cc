#include "state/rocksdb/rocks_timer_queue.h"

#include <random>
#include <set>
#include <tuple>

#include "state/rocksdb/rocks_test_util.h"

namespace penstock {
namespace {

using Timer = std::tuple<Timestamp, std::string, std::string>;

class RocksTimerQueueTest : public RocksTest {};

// A cache of two timers, so that nearly every step has to look at the database; against a plain set.
TEST_F(RocksTimerQueueTest, ACacheOfAnySizeGivesTheSameOrderAsASet) {
  for (const size_t cached : {size_t{2}, size_t{64}, size_t{4096}}) {
    auto backend = make(context({{"penstock.state.write-back-tier", "16kb"}}));
    must(backend->timer_queue("other"));
    RocksStore* const store = backend->store();
    const StateMeta meta{"timers", StateKind::kTimers, "encoded", "", ""};
    RocksFamily* const family = must(store->add_family(meta));
    WriteBackTier tier(store, 16 << 10);
    auto queue = must(
        RocksTimerQueue::open(&tier, family, {0, kMaxParallelism - 1}, kMaxParallelism, cached));
    std::set<Timer> model;
    std::mt19937 random(static_cast<uint32_t>(cached));
    for (int step = 0; step < 6000; ++step) {
      const std::string key = int_key(static_cast<int64_t>(random() % 50));
      const std::string name_space = random() % 2 == 0 ? "" : "w";
      const Timestamp at = static_cast<Timestamp>(random() % 200) - 100;
      const auto what = random() % 10;
      if (what < 6) {
        must(queue->add(timer_of(at, key, name_space)));
        model.emplace(at, key, name_space);
      } else if (what < 8) {
        must(queue->remove(timer_of(at, key, name_space)));
        model.erase({at, key, name_space});
      } else {
        TimerView popped;
        for (int i = 0; i < 5; ++i) {
          const bool due = !model.empty() && std::get<0>(*model.begin()) <= at;
          ASSERT_EQ(must(queue->pop_due(at, &popped)), due);
          if (!due) break;
          ASSERT_EQ(Timer(popped.timestamp, popped.key, popped.name_space), *model.begin());
          ASSERT_EQ(popped.hash, timer_of(0, popped.key).hash);
          model.erase(model.begin());
        }
      }
      ASSERT_EQ(queue->is_empty(), model.empty());
      if (!model.empty()) {
        ASSERT_EQ(queue->next(), std::get<0>(*model.begin())) << step;
      }
    }
    std::set<Timer> rest;
    must(queue->for_each([&](const TimerView& timer) {
      rest.emplace(timer.timestamp, timer.key, timer.name_space);
      return Status::ok();
    }));
    EXPECT_EQ(rest, model);
  }
}

}  // namespace
}  // namespace penstock
