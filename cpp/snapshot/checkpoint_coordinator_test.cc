#include "snapshot/checkpoint_coordinator.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>

namespace penstock {
namespace {

const TaskId kSource{"source", 0};
const TaskId kMap0{"map", 0};
const TaskId kMap1{"map", 1};

std::string name_of(const CoordinatorDecision& decision) {
  struct Namer {
    std::string operator()(const TriggerCheckpoint& d) { return "trigger" + id(d.barrier.id); }
    std::string operator()(const StoreCheckpoint& d) { return "store" + id(d.id); }
    std::string operator()(const NotifyCheckpointComplete& d) { return "notify" + id(d.id); }
    std::string operator()(const AbortCheckpoint& d) { return "abort" + id(d.id); }
    std::string operator()(const DiscardCheckpoint& d) { return "discard" + id(d.id); }
    std::string operator()(const FailJob&) { return "fail"; }
    static std::string id(CheckpointId id) { return std::to_string(id.value); }
  };
  return std::visit(Namer{}, decision);
}

std::string names(const CoordinatorDecisions& decisions) {
  std::string out;
  for (const auto& decision : decisions) out += (out.empty() ? "" : " ") + name_of(decision);
  return out;
}

class CheckpointCoordinatorTest : public testing::Test {
 protected:
  void make(CoordinatorOptions options) {
    coordinator_.emplace(options, &clock_, std::vector<TaskId>{kSource, kMap0, kMap1});
  }
  static CoordinatorOptions every(int64_t millis) {
    CoordinatorOptions options;
    options.interval_millis = millis;
    options.timeout_millis = 1000;
    return options;
  }
  std::string tick_at(int64_t now) {
    clock_.set_millis(now);
    return names(coordinator_->tick());
  }
  std::string acknowledge(int64_t id, const TaskId& task) {
    return names(coordinator_->acknowledge(CheckpointId{id}, task));
  }
  void complete(int64_t id) {
    acknowledge(id, kSource);
    acknowledge(id, kMap0);
    EXPECT_EQ(acknowledge(id, kMap1), "store" + std::to_string(id));
    names(coordinator_->stored(CheckpointId{id}));
  }

  ManualClock clock_{0};
  std::optional<CheckpointCoordinator> coordinator_;
};

TEST_F(CheckpointCoordinatorTest, TriggersEveryIntervalBeginningAfterTheFirst) {
  make(every(100));
  EXPECT_EQ(coordinator_->next_tick_millis(), 100);
  EXPECT_EQ(tick_at(99), "");
  EXPECT_EQ(tick_at(100), "trigger1");
  complete(1);
  EXPECT_EQ(coordinator_->next_tick_millis(), 200);
  EXPECT_EQ(tick_at(205), "trigger2");
}

TEST_F(CheckpointCoordinatorTest, CompletesWhenEveryTaskHasAcknowledged) {
  make(every(100));
  tick_at(100);
  EXPECT_EQ(acknowledge(1, kMap0), "");
  EXPECT_EQ(acknowledge(1, kMap0), "");
  EXPECT_EQ(acknowledge(1, kSource), "");
  EXPECT_EQ(acknowledge(1, kMap1), "store1");
  EXPECT_EQ(acknowledge(1, kMap1), "");
  EXPECT_EQ(names(coordinator_->stored(CheckpointId{1})), "notify1");
  EXPECT_EQ(coordinator_->completed(), (std::vector{CheckpointId{1}}));
}

TEST_F(CheckpointCoordinatorTest, WithoutAnIntervalOnlyByHand) {
  make(CoordinatorOptions{});
  EXPECT_EQ(coordinator_->next_tick_millis(), kMaxTimestamp);
  EXPECT_EQ(tick_at(1'000'000'000), "");
  EXPECT_EQ(names(coordinator_->trigger_now()), "trigger1");
}

TEST_F(CheckpointCoordinatorTest, SavepointIsOutsideOfTheRhythmAndOfWhatIsRetained) {
  make(every(100));
  tick_at(100);
  complete(1);
  EXPECT_EQ(names(coordinator_->trigger_savepoint()), "trigger2");
  EXPECT_EQ(tick_at(200), "trigger3");
  complete(3);
  EXPECT_EQ(coordinator_->num_pending(), 1u) << "a newer checkpoint does not give it up";
  EXPECT_EQ(acknowledge(2, kSource), "");
  EXPECT_EQ(acknowledge(2, kMap0), "");
  const auto decisions = coordinator_->acknowledge(CheckpointId{2}, kMap1);
  EXPECT_EQ(names(decisions), "store2");
  EXPECT_TRUE(std::get<StoreCheckpoint>(decisions[0]).savepoint);
  EXPECT_EQ(names(coordinator_->stored(CheckpointId{2})), "");
  EXPECT_EQ(coordinator_->completed(), (std::vector{CheckpointId{3}}));
}

TEST_F(CheckpointCoordinatorTest, StateHandedOverCountsAlsoWhenItsTaskEndsBeforeItIsWritten) {
  make(every(100));
  tick_at(100);
  coordinator_->received(CheckpointId{1}, kSource);
  EXPECT_EQ(names(coordinator_->task_finished(kSource)), "");
  EXPECT_EQ(acknowledge(1, kMap0), "");
  EXPECT_EQ(acknowledge(1, kMap1), "");
  const auto decisions = coordinator_->acknowledge(CheckpointId{1}, kSource);
  EXPECT_EQ(names(decisions), "store1");
  EXPECT_TRUE(std::get<StoreCheckpoint>(decisions[0]).finished_tasks.empty());
}

TEST_F(CheckpointCoordinatorTest, TimeoutWhileWritingSaysSo) {
  make(every(100));
  tick_at(100);
  for (const TaskId& task : {kSource, kMap0, kMap1}) coordinator_->received(CheckpointId{1}, task);
  clock_.set_millis(1100);
  const auto decisions = coordinator_->tick();
  EXPECT_EQ(std::get<AbortCheckpoint>(decisions[0]).reason,
            "not complete after 1000 ms: 3 state(s) not written yet, map/0 first");
}

TEST_F(CheckpointCoordinatorTest, FailedSavepointFailsNothingElse) {
  make(every(100));
  coordinator_->trigger_savepoint();
  EXPECT_EQ(names(coordinator_->decline(CheckpointId{1}, kMap0, "no")), "abort1");
  EXPECT_EQ(coordinator_->failures_in_a_row(), 0);
  coordinator_->trigger_savepoint();
  for (const TaskId& task : {kSource, kMap0, kMap1}) {
    coordinator_->acknowledge(CheckpointId{2}, task);
  }
  EXPECT_EQ(names(coordinator_->store_failed(CheckpointId{2}, Status::io_error("full"))), "abort2");
  EXPECT_EQ(coordinator_->failures_in_a_row(), 0);
  EXPECT_EQ(coordinator_->take_id(), CheckpointId{3});
  EXPECT_EQ(names(coordinator_->trigger_now()), "trigger4");
}

TEST_F(CheckpointCoordinatorTest, NoMoreThanMaxConcurrentArePending) {
  auto options = every(100);
  options.max_concurrent = 2;
  make(options);
  EXPECT_EQ(tick_at(100), "trigger1");
  EXPECT_EQ(tick_at(200), "trigger2");
  EXPECT_EQ(tick_at(300), "");
  complete(2);
  EXPECT_EQ(tick_at(301), "trigger3");
}

TEST_F(CheckpointCoordinatorTest, NewerCompletionGivesUpOlderPendingOnesWithoutAFailure) {
  auto options = every(100);
  options.max_concurrent = 2;
  make(options);
  tick_at(100);
  tick_at(200);
  for (const TaskId& task : {kSource, kMap0, kMap1}) acknowledge(2, task);
  EXPECT_EQ(names(coordinator_->stored(CheckpointId{2})), "abort1 notify2");
  EXPECT_EQ(coordinator_->failures_in_a_row(), 0);
  EXPECT_EQ(acknowledge(1, kSource), "");
}

TEST_F(CheckpointCoordinatorTest, MinPauseCountsFromTheEndOfTheLast) {
  auto options = every(100);
  options.min_pause_millis = 80;
  make(options);
  tick_at(100);
  clock_.set_millis(190);
  complete(1);
  EXPECT_EQ(coordinator_->next_tick_millis(), 270);
  EXPECT_EQ(tick_at(269), "");
  EXPECT_EQ(tick_at(270), "trigger2");
}

TEST_F(CheckpointCoordinatorTest, TimeoutGivesUpAndNamesTheMissingTask) {
  auto options = every(100);
  options.tolerable_failures = 1;
  make(options);
  tick_at(100);
  acknowledge(1, kMap0);
  EXPECT_EQ(coordinator_->next_tick_millis(), 1100);
  clock_.set_millis(1100);
  const auto decisions = coordinator_->tick();
  EXPECT_EQ(names(decisions), "abort1 trigger2");
  EXPECT_NE(std::get<AbortCheckpoint>(decisions[0]).reason.find("map/1"), std::string::npos);
}

TEST_F(CheckpointCoordinatorTest, MoreFailuresInARowThanTolerableFailTheJob) {
  auto options = every(100);
  options.tolerable_failures = 1;
  make(options);
  tick_at(100);
  EXPECT_EQ(names(coordinator_->decline(CheckpointId{1}, kMap0, "disk full")), "abort1");
  tick_at(200);
  complete(2);  // resets the count
  tick_at(300);
  EXPECT_EQ(names(coordinator_->decline(CheckpointId{3}, kMap0, "disk full")), "abort3");
  tick_at(400);
  const auto decisions = coordinator_->decline(CheckpointId{4}, kMap0, "disk full");
  EXPECT_EQ(names(decisions), "abort4 fail");
  EXPECT_NE(std::get<FailJob>(decisions[1]).status.message().find("disk full"), std::string::npos);
}

TEST_F(CheckpointCoordinatorTest, FailureToStoreIsAFailure) {
  make(every(100));
  tick_at(100);
  for (const TaskId& task : {kSource, kMap0, kMap1}) acknowledge(1, task);
  EXPECT_EQ(names(coordinator_->store_failed(CheckpointId{1}, Status::io_error("full"))),
            "abort1 fail");
}

TEST_F(CheckpointCoordinatorTest, OneBeingStoredDoesNotExpire) {
  make(every(100));
  tick_at(100);
  for (const TaskId& task : {kSource, kMap0, kMap1}) acknowledge(1, task);
  EXPECT_EQ(tick_at(5000), "");
  EXPECT_EQ(names(coordinator_->stored(CheckpointId{1})), "notify1");
}

TEST_F(CheckpointCoordinatorTest, OneStoredAfterItWasGivenUpIsDiscarded) {
  auto options = every(100);
  options.max_concurrent = 2;
  make(options);
  tick_at(100);
  tick_at(200);
  for (const TaskId& task : {kSource, kMap0, kMap1}) acknowledge(1, task);
  for (const TaskId& task : {kSource, kMap0, kMap1}) acknowledge(2, task);
  EXPECT_EQ(names(coordinator_->stored(CheckpointId{2})), "abort1 notify2");
  EXPECT_EQ(names(coordinator_->stored(CheckpointId{1})), "discard1");
  EXPECT_EQ(names(coordinator_->stored(CheckpointId{2})), "");
}

TEST_F(CheckpointCoordinatorTest, OnlyTheRetainedNumberIsKept) {
  auto options = every(100);
  options.retained = 2;
  make(options);
  coordinator_->add_completed(CheckpointId{-5});  // restored from
  std::string last;
  for (int64_t id = 1; id <= 3; ++id) {
    tick_at(100 * id);
    for (const TaskId& task : {kSource, kMap0, kMap1}) acknowledge(id, task);
    last = names(coordinator_->stored(CheckpointId{id}));
    EXPECT_TRUE(id != 2 || last == "notify2 discard-5") << last;
  }
  EXPECT_EQ(last, "notify3 discard1");
}

TEST_F(CheckpointCoordinatorTest, FinishedTasksAreNotWaitedForAndAreListed) {
  make(every(100));
  names(coordinator_->task_finished(kSource));
  tick_at(100);
  acknowledge(1, kMap0);
  const auto decisions = coordinator_->task_finished(kMap1);
  EXPECT_EQ(names(decisions), "store1");
  EXPECT_EQ(std::get<StoreCheckpoint>(decisions[0]).finished_tasks,
            (std::vector<TaskId>{kSource, kMap1}));
  EXPECT_EQ(std::get<StoreCheckpoint>(decisions[0]).trigger_millis, 100);
}

TEST_F(CheckpointCoordinatorTest, NoCheckpointAfterTheEndOfAllTasks) {
  make(every(100));
  tick_at(100);
  names(coordinator_->task_finished(kSource));
  names(coordinator_->task_finished(kMap0));
  EXPECT_EQ(names(coordinator_->task_finished(kMap1)), "abort1");
  EXPECT_EQ(coordinator_->failures_in_a_row(), 0);
  EXPECT_EQ(tick_at(10'000), "");
  EXPECT_EQ(names(coordinator_->trigger_now()), "");
  EXPECT_EQ(coordinator_->next_tick_millis(), kMaxTimestamp);
}

TEST_F(CheckpointCoordinatorTest, TaskThatEndsAfterAcknowledgingIsNotListed) {
  make(every(100));
  tick_at(100);
  acknowledge(1, kSource);
  names(coordinator_->task_finished(kSource));
  acknowledge(1, kMap0);
  const auto decisions = coordinator_->acknowledge(CheckpointId{1}, kMap1);
  EXPECT_TRUE(std::get<StoreCheckpoint>(decisions.at(0)).finished_tasks.empty());
}

TEST_F(CheckpointCoordinatorTest, WaitingForTasksToWorkOffAnEndedInputIsNoFailure) {
  make(every(100));
  coordinator_->set_inputs(kMap0, {kSource});
  coordinator_->set_inputs(kMap1, {kSource});
  names(coordinator_->task_finished(kSource));
  EXPECT_EQ(tick_at(100), "trigger1");
  EXPECT_EQ(tick_at(1100), "abort1 trigger2");
  EXPECT_EQ(coordinator_->failures_in_a_row(), 0);
}

TEST_F(CheckpointCoordinatorTest, AnInputThatEndedAfterTheBarrierIsNoExcuse) {
  make(every(100));
  coordinator_->set_inputs(kMap0, {kSource});
  coordinator_->set_inputs(kMap1, {kSource});
  tick_at(100);
  acknowledge(1, kSource);
  names(coordinator_->task_finished(kSource));
  EXPECT_EQ(tick_at(1100), "abort1 fail trigger2");
}

// Whatever happens in whatever order: notified ids rise, nothing is discarded that was not notified
// (or stored too late), never more than `retained` are kept, never too many are pending.
TEST_F(CheckpointCoordinatorTest, RandomEventsKeepTheInvariants) {
  std::mt19937 random(13);
  for (int round = 0; round < 200; ++round) {
    clock_.set_millis(0);
    auto options = every(10);
    options.timeout_millis = 50;
    options.max_concurrent = 1 + static_cast<int32_t>(random() % 3);
    options.retained = 1 + static_cast<int32_t>(random() % 3);
    options.tolerable_failures = 1'000'000;
    make(options);
    const std::vector<TaskId> tasks{kSource, kMap0, kMap1};
    int64_t last_id = 0;
    int64_t last_notified = 0;
    std::set<int64_t> storing;
    for (int step = 0; step < 300; ++step) {
      const CheckpointId id{1 + static_cast<int64_t>(random() % 40)};
      const TaskId& task = tasks[random() % tasks.size()];
      CoordinatorDecisions decisions;
      switch (random() % 8) {
        case 0:
          decisions = coordinator_->decline(id, task, "x");
          break;
        case 1:
        case 2:
          clock_.set_millis(clock_.now_millis() + 5);
          decisions = coordinator_->tick();
          break;
        case 3:
          if (!storing.empty()) {
            const CheckpointId first{*storing.begin()};
            storing.erase(storing.begin());
            decisions = coordinator_->stored(first);
          }
          break;
        default:
          decisions = coordinator_->acknowledge(
              CheckpointId{last_id - static_cast<int64_t>(random() % 2)}, task);
      }
      for (const auto& decision : decisions) {
        if (const auto* d = std::get_if<TriggerCheckpoint>(&decision)) {
          EXPECT_EQ(d->barrier.id.value, ++last_id);
        }
        if (const auto* d = std::get_if<StoreCheckpoint>(&decision)) {
          EXPECT_TRUE(storing.insert(d->id.value).second);
        }
        if (const auto* d = std::get_if<NotifyCheckpointComplete>(&decision)) {
          EXPECT_GT(d->id.value, last_notified);
          last_notified = d->id.value;
        }
      }
      EXPECT_LE(coordinator_->num_pending(), static_cast<size_t>(options.max_concurrent));
      EXPECT_LE(coordinator_->completed().size(), static_cast<size_t>(options.retained));
    }
    EXPECT_GT(last_id, 0);
  }
}

}  // namespace
}  // namespace penstock
