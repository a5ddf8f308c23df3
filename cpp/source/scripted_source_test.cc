#include "source/scripted_source.h"

#include <gtest/gtest.h>

#include "source/source_testing.h"

namespace penstock {
namespace {

using source_testing::expect_ok;
using source_testing::int64_batch;
using source_testing::make_context;
using source_testing::RecordingOutput;

Batch timed(std::vector<int64_t> times) {
  Batch batch = int64_batch(times);
  batch.timestamps = int64_column(std::move(times));
  return batch;
}

std::vector<Element> script() {
  return {timed({1, 2}), Watermark{1}, WatermarkStatus{true}, WatermarkStatus{false}, timed({7})};
}

const std::vector<std::string> kPlayed = {"t1", "t2", "w1", "idle", "active", "t7"};

// Polls at most `polls` times; false: the end came before.
bool play(ScriptedSource* source, size_t polls, RecordingOutput* output) {
  for (; polls > 0; --polls) {
    if (source->poll(*output).value().kind == PollKind::kEnd) return false;
  }
  return true;
}

class ScriptedSourceTest : public testing::Test {
 protected:
  ManualClock clock_;
};

TEST_F(ScriptedSourceTest, PlaysItsElementsOneByOneAndEnds) {
  ScriptedSource source(script());
  expect_ok(source.open(make_context(&clock_)));
  RecordingOutput output;
  EXPECT_TRUE(play(&source, 5, &output));
  EXPECT_EQ(output.log, kPlayed);
  EXPECT_EQ(output.batch_sizes, (std::vector<int64_t>{2, 1}));
  EXPECT_FALSE(play(&source, 1, &output));
  EXPECT_FALSE(source.is_live());
}

TEST_F(ScriptedSourceTest, OnlyTheFirstSubtaskPlays) {
  ScriptedSource source(script());
  expect_ok(source.open(make_context(&clock_, 1, 2)));
  RecordingOutput output;
  EXPECT_FALSE(play(&source, 1, &output));
  EXPECT_TRUE(output.log.empty());
}

TEST_F(ScriptedSourceTest, GoesOnAfterARestoreAtEveryPositionWithAnyParallelism) {
  for (size_t position = 0; position <= script().size(); ++position) {
    for (const int32_t parallelism : {1, 2, 3}) {
      RecordingOutput output;
      std::vector<OperatorState> written(2);
      for (int32_t subtask = 0; subtask < 2; ++subtask) {
        ScriptedSource source(script());
        expect_ok(source.open(make_context(&clock_, subtask, 2)));
        play(&source, position, &output);
        expect_ok(source.snapshot(&written[static_cast<size_t>(subtask)]));
      }
      for (int32_t subtask = 0; subtask < parallelism; ++subtask) {
        ScriptedSource source(script());
        expect_ok(source.open(make_context(&clock_, subtask, parallelism)));
        expect_ok(source.restore(reassign(written, subtask, parallelism, 128).value()));
        EXPECT_FALSE(play(&source, 100, &output));
      }
      EXPECT_EQ(output.log, kPlayed) << position << " " << parallelism;
    }
  }
}

TEST_F(ScriptedSourceTest, BarriersAndEndsAreNotForScripts) {
  for (const Element& element : {Element(Barrier{}), Element(EndOfInput{})}) {
    ScriptedSource source({element});
    expect_ok(source.open(make_context(&clock_)));
    RecordingOutput output;
    EXPECT_EQ(source.poll(output).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST_F(ScriptedSourceTest, StateOfAnotherSourceIsRefused) {
  ScriptedSource source(script());
  expect_ok(source.open(make_context(&clock_)));
  EXPECT_EQ(source.restore({}).code(), StatusCode::kCorruption);
  OperatorState state;
  expect_ok(source.snapshot(&state));
  state.lists[0].items[0] += "x";
  EXPECT_EQ(source.restore(state).code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace penstock
