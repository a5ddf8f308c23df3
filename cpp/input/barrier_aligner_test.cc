#include "input/barrier_aligner.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <vector>

namespace penstock {
namespace {

Barrier barrier(int64_t id) { return {CheckpointId{id}, 1000 + id}; }

TEST(BarrierAligner, OneChannelCompletesAtOnceAndIsNotBlocked) {
  BarrierAligner aligner(1);
  const auto outcome = aligner.barrier_received(0, barrier(1));
  ASSERT_TRUE(outcome.complete.has_value());
  EXPECT_EQ(outcome.complete->id, CheckpointId{1});
  EXPECT_EQ(outcome.complete->trigger_millis, 1001);
  EXPECT_FALSE(aligner.is_blocked(0));
  EXPECT_FALSE(aligner.is_pending());
}

TEST(BarrierAligner, ChannelIsBlockedFromItsBarrierToTheLastOne) {
  BarrierAligner aligner(3);
  EXPECT_FALSE(aligner.barrier_received(1, barrier(1)).complete);
  EXPECT_TRUE(aligner.is_pending());
  EXPECT_TRUE(aligner.is_blocked(1));
  EXPECT_FALSE(aligner.is_blocked(0));
  EXPECT_FALSE(aligner.barrier_received(0, barrier(1)).complete);
  EXPECT_TRUE(aligner.is_blocked(0));
  EXPECT_TRUE(aligner.barrier_received(2, barrier(1)).complete);
  for (size_t c = 0; c < 3; ++c) EXPECT_FALSE(aligner.is_blocked(c));
}

TEST(BarrierAligner, NewerBarrierSubsumesThePendingCheckpoint) {
  BarrierAligner aligner(3);
  (void)aligner.barrier_received(0, barrier(1));
  (void)aligner.barrier_received(1, barrier(1));
  const auto outcome = aligner.barrier_received(2, barrier(2));
  EXPECT_EQ(outcome.subsumed, CheckpointId{1});
  EXPECT_FALSE(outcome.complete);
  EXPECT_FALSE(aligner.is_blocked(0));
  EXPECT_TRUE(aligner.is_blocked(2));
  EXPECT_FALSE(aligner.barrier_received(0, barrier(2)).complete);
  EXPECT_EQ(aligner.barrier_received(1, barrier(2)).complete->id, CheckpointId{2});
}

TEST(BarrierAligner, NewerBarrierThatIsAlsoTheLastCompletesAtOnce) {
  BarrierAligner aligner(2);
  (void)aligner.barrier_received(0, barrier(1));
  (void)aligner.end_of_input(0);  // as after a subsumed checkpoint; completes nothing: 1 is open
  const auto outcome = aligner.barrier_received(1, barrier(2));
  EXPECT_EQ(outcome.subsumed, CheckpointId{1});
  EXPECT_EQ(outcome.complete->id, CheckpointId{2});
}

TEST(BarrierAligner, BarriersOfOldCheckpointsAreIgnored) {
  BarrierAligner aligner(2);
  (void)aligner.barrier_received(0, barrier(5));
  EXPECT_FALSE(aligner.barrier_received(1, barrier(4)).complete);
  EXPECT_FALSE(aligner.is_blocked(1));
  EXPECT_TRUE(aligner.barrier_received(1, barrier(5)).complete);
  EXPECT_FALSE(aligner.barrier_received(0, barrier(5)).complete);  // completed already
  EXPECT_FALSE(aligner.is_blocked(0));
}

TEST(BarrierAligner, EndOfInputOnTheLastMissingChannelCompletes) {
  BarrierAligner aligner(2);
  (void)aligner.barrier_received(0, barrier(1));
  EXPECT_EQ(aligner.end_of_input(1).complete->id, CheckpointId{1});
  EXPECT_FALSE(aligner.is_blocked(0));
  EXPECT_EQ(aligner.num_open(), 1u);
}

TEST(BarrierAligner, FinishedChannelIsNotWaitedFor) {
  BarrierAligner aligner(3);
  EXPECT_FALSE(aligner.end_of_input(1).complete);
  (void)aligner.barrier_received(0, barrier(1));
  EXPECT_TRUE(aligner.barrier_received(2, barrier(1)).complete);
}

TEST(BarrierAligner, EndOfAllChannelsWithoutABarrierCompletesNothing) {
  BarrierAligner aligner(2);
  EXPECT_FALSE(aligner.end_of_input(0).complete);
  EXPECT_FALSE(aligner.end_of_input(1).complete);
  EXPECT_EQ(aligner.num_open(), 0u);
}

TEST(BarrierAligner, AbortUnblocksAndLaterBarriersOfItAreIgnored) {
  BarrierAligner aligner(2);
  (void)aligner.barrier_received(0, barrier(1));
  aligner.abort(CheckpointId{1});
  EXPECT_FALSE(aligner.is_blocked(0));
  EXPECT_FALSE(aligner.barrier_received(1, barrier(1)).complete);
  EXPECT_FALSE(aligner.is_blocked(1));
}

TEST(BarrierAligner, AbortOfACheckpointNotSeenYetIgnoresItsBarriers) {
  BarrierAligner aligner(1);
  aligner.abort(CheckpointId{3});
  EXPECT_FALSE(aligner.barrier_received(0, barrier(3)).complete);
  EXPECT_TRUE(aligner.barrier_received(0, barrier(4)).complete);
}

TEST(BarrierAligner, AbortOfAnOlderCheckpointLeavesThePendingOneAlone) {
  BarrierAligner aligner(2);
  (void)aligner.barrier_received(0, barrier(2));
  aligner.abort(CheckpointId{1});
  EXPECT_TRUE(aligner.is_blocked(0));
  EXPECT_TRUE(aligner.barrier_received(1, barrier(2)).complete);
}

// Otherwise the task would end without having acknowledged the older one, and its last state would
// stand beside its sources' positions at the barrier.
TEST(BarrierAligner, AbortOfANewerCheckpointLeavesThePendingOneAlone) {
  BarrierAligner aligner(2);
  (void)aligner.barrier_received(0, barrier(1));
  aligner.abort(CheckpointId{2});
  EXPECT_TRUE(aligner.is_blocked(0));
  EXPECT_EQ(aligner.barrier_received(1, barrier(1)).complete->id, CheckpointId{1});
  EXPECT_FALSE(aligner.barrier_received(0, barrier(2)).complete);
  EXPECT_FALSE(aligner.is_blocked(0));
  (void)aligner.barrier_received(0, barrier(3));
  EXPECT_FALSE(aligner.barrier_received(1, barrier(2)).complete);
  EXPECT_FALSE(aligner.is_blocked(1));
  EXPECT_EQ(aligner.barrier_received(1, barrier(3)).complete->id, CheckpointId{3});
}

TEST(BarrierAligner, AbortOfANewerCheckpointLeavesOneNotSeenYetAlone) {
  BarrierAligner aligner(1);
  aligner.abort(CheckpointId{2});
  EXPECT_TRUE(aligner.barrier_received(0, barrier(1)).complete);
  EXPECT_FALSE(aligner.barrier_received(0, barrier(2)).complete);
}

// Each channel is a script of records (>= 0) and barriers (-id). Whatever the interleaving: when a
// checkpoint completes, exactly the records before its barriers have been read.
TEST(BarrierAligner, RandomInterleavingsHaveEveryRecordBeforeTheBarrierAndNoneAfter) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const size_t channels = 1 + random() % 5;
    const int64_t checkpoints = 1 + static_cast<int64_t>(random() % 4);
    std::vector<std::deque<int64_t>> scripts(channels);
    std::vector<std::set<int64_t>> expected(static_cast<size_t>(checkpoints) + 1);
    int64_t record = 0;
    for (auto& script : scripts) {
      // A channel may end early; then all its records count for the later checkpoints.
      const int64_t last = static_cast<int64_t>(random() % static_cast<size_t>(checkpoints + 1));
      const bool ends_early = random() % 3 == 0;
      for (int64_t id = 1; id <= checkpoints; ++id) {
        if (ends_early && id > last) break;
        for (size_t n = random() % 4; n > 0; --n, ++record) {
          script.push_back(record);
          for (int64_t later = id; later <= checkpoints; ++later) {
            expected[static_cast<size_t>(later)].insert(record);
          }
        }
        script.push_back(-id);
      }
    }
    BarrierAligner aligner(channels);
    std::set<int64_t> read;
    size_t completed = 0;
    while (aligner.num_open() > 0) {
      const size_t c = random() % channels;
      if (aligner.is_blocked(c) || aligner.is_finished(c)) continue;
      AlignmentOutcome outcome;
      if (scripts[c].empty()) {
        outcome = aligner.end_of_input(c);
      } else {
        const int64_t item = scripts[c].front();
        scripts[c].pop_front();
        if (item >= 0) read.insert(item);
        if (item < 0) outcome = aligner.barrier_received(c, barrier(-item));
      }
      if (outcome.complete) {
        ++completed;
        EXPECT_EQ(outcome.complete->id.value, static_cast<int64_t>(completed));
        EXPECT_EQ(read, expected[completed]);
      }
      EXPECT_FALSE(outcome.subsumed);
    }
    EXPECT_FALSE(aligner.is_pending());
  }
}

}  // namespace
}  // namespace penstock
