#include "source/chunked_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "source/arrow_source.h"
#include "source/source_testing.h"

namespace penstock {
namespace {

using source_testing::expect_ok;
using source_testing::int64_batch;
using source_testing::make_context;
using source_testing::mentions;
using source_testing::RecordingOutput;

constexpr int32_t kMaxParallelism = 128;

// Row n holds n. Gives what it was asked for or, with `prefixes`, often less.
class NumberSource final : public ChunkedSource {
 public:
  NumberSource(std::optional<int64_t> rows, int64_t batch_rows, double rate = 0,
               bool prefixes = false)
      : ChunkedSource(rows, batch_rows, rate), prefixes_(prefixes) {}

 protected:
  Result<Batch> read(int64_t first, int64_t count) override {
    EXPECT_GE(count, 1);
    EXPECT_EQ(first / kChunkRows, (first + count - 1) / kChunkRows) << "read across two chunks";
    if (prefixes_) count = 1 + static_cast<int64_t>(random_()) % count;
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<int64_t>(i);
    return int64_batch(std::move(values));
  }

 private:
  const bool prefixes_;
  std::mt19937 random_{1};
};

struct SourceShape {
  int64_t rows = 0;
  int64_t batch_rows = kChunkRows;
  bool prefixes = false;
};

using Sources = std::vector<std::unique_ptr<NumberSource>>;

// The sources of all subtasks, opened; with `written` restored from it, as a job does.
Sources open_all(int32_t parallelism, const SourceShape& shape, const Clock* clock,
                 const std::vector<OperatorState>* written = nullptr) {
  Sources sources;
  for (int32_t subtask = 0; subtask < parallelism; ++subtask) {
    auto source = std::make_unique<NumberSource>(shape.rows, shape.batch_rows, 0, shape.prefixes);
    expect_ok(source->open(make_context(clock, subtask, parallelism)));
    if (written != nullptr) {
      auto state = reassign(*written, subtask, parallelism, kMaxParallelism);
      EXPECT_TRUE(state.is_ok()) << state.status().message();
      expect_ok(source->restore(state.value()));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<OperatorState> snapshot_all(const Sources& sources) {
  std::vector<OperatorState> states(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) expect_ok(sources[i]->snapshot(&states[i]));
  return states;
}

void append_rows(const Batch& batch, std::vector<int64_t>* rows) {
  const auto* data = batch.columns[0].data<int64_t>();
  rows->insert(rows->end(), data, data + batch.num_rows);
}

// One poll; false at the end of input.
bool poll_once(ChunkedSource* source, std::vector<int64_t>* rows) {
  RecordingOutput output;
  auto poll = source->poll(output);
  EXPECT_TRUE(poll.is_ok()) << poll.status().message();
  EXPECT_LE(output.batches.size(), 1u) << "a poll emits at most one batch";
  EXPECT_NE(poll.value().kind, PollKind::kWait) << "nothing to wait for without a rate";
  for (const Batch& batch : output.batches) append_rows(batch, rows);
  return poll.value().kind != PollKind::kEnd;
}

std::vector<int64_t> drain(ChunkedSource* source) {
  std::vector<int64_t> rows;
  while (poll_once(source, &rows)) {
  }
  return rows;
}

std::vector<int64_t> iota(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  return rows;
}

class ChunkedSourceTest : public testing::Test {
 protected:
  ManualClock clock_{1000};
};

TEST_F(ChunkedSourceTest, ASubtaskReadsEveryPthChunkInOrder) {
  const int64_t total = 7 * kChunkRows + 17;
  const Sources sources = open_all(3, {total, 1000, false}, &clock_);
  for (size_t subtask = 0; subtask < 3; ++subtask) {
    std::vector<int64_t> expected;
    for (int64_t row = 0; row < total; ++row) {
      if (row / kChunkRows % 3 == static_cast<int64_t>(subtask)) expected.push_back(row);
    }
    EXPECT_EQ(drain(sources[subtask].get()), expected);
  }
}

TEST_F(ChunkedSourceTest, AllSubtasksTogetherReadEveryRowOnce) {
  for (const int32_t parallelism : {1, 2, 5}) {
    for (const int64_t total : {int64_t{0}, int64_t{1}, kChunkRows - 1, kChunkRows, kChunkRows + 1,
                                11 * kChunkRows + 3}) {
      for (const int64_t batch_rows : {int64_t{7}, kChunkRows, 10 * kChunkRows}) {
        std::vector<int64_t> rows;
        for (const auto& source : open_all(parallelism, {total, batch_rows, false}, &clock_)) {
          const auto own = drain(source.get());
          rows.insert(rows.end(), own.begin(), own.end());
        }
        std::sort(rows.begin(), rows.end());
        EXPECT_EQ(rows, iota(total)) << parallelism << " " << total << " " << batch_rows;
      }
    }
  }
}

TEST_F(ChunkedSourceTest, BatchesHaveAtMostBatchRowsAndEndWithTheirChunk) {
  NumberSource source(2 * kChunkRows + 10, 5000);
  expect_ok(source.open(make_context(&clock_)));
  RecordingOutput output;
  while (source.poll(output).value().kind != PollKind::kEnd) {
  }
  EXPECT_EQ(output.batch_sizes, (std::vector<int64_t>{5000, 3192, 5000, 3192, 10}));
}

TEST_F(ChunkedSourceTest, ReadsThatGiveLessThanAskedForLoseNothing) {
  const Sources sources = open_all(1, {3 * kChunkRows + 5, 3000, true}, &clock_);
  EXPECT_EQ(drain(sources[0].get()), iota(3 * kChunkRows + 5));
}

TEST_F(ChunkedSourceTest, EndIsRepeatedWhenAskedAgain) {
  const Sources sources = open_all(1, {3, 10, false}, &clock_);
  EXPECT_EQ(drain(sources[0].get()), iota(3));
  std::vector<int64_t> more;
  EXPECT_FALSE(poll_once(sources[0].get(), &more));
  EXPECT_TRUE(more.empty());
}

TEST_F(ChunkedSourceTest, WithoutATotalItGoesOnForEver) {
  NumberSource source(std::nullopt, kChunkRows);
  expect_ok(source.open(make_context(&clock_, 1, 2)));
  std::vector<int64_t> rows;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(poll_once(&source, &rows));
  EXPECT_EQ(rows.size(), 100u * kChunkRows);
  EXPECT_EQ(rows.back(), 200 * kChunkRows - 1);
}

// Stops at random positions, several times, and goes on with a parallelism that may be another.
TEST_F(ChunkedSourceTest, RestoringAtRandomPositionsLosesAndDoublesNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    const SourceShape shape{static_cast<int64_t>(random() % (20 * kChunkRows)),
                            1 + static_cast<int64_t>(random() % kChunkRows), random() % 2 == 0};
    const bool same_parallelism = round % 3 == 0;
    auto parallelism = static_cast<int32_t>(1 + random() % 5);
    Sources sources = open_all(parallelism, shape, &clock_);
    std::vector<int64_t> rows;
    for (int restores = 0; restores < 4; ++restores) {
      for (const auto& source : sources) {
        for (size_t polls = random() % 12; polls > 0; --polls) poll_once(source.get(), &rows);
      }
      const auto written = snapshot_all(sources);
      if (!same_parallelism) parallelism = static_cast<int32_t>(1 + random() % 5);
      sources = open_all(parallelism, shape, &clock_, &written);
    }
    for (const auto& source : sources) {
      const auto own = drain(source.get());
      rows.insert(rows.end(), own.begin(), own.end());
    }
    std::sort(rows.begin(), rows.end());
    ASSERT_EQ(rows, iota(shape.rows)) << "round " << round;
  }
}

TEST_F(ChunkedSourceTest, WithTheSameParallelismTheVeryNextRowFollows) {
  const SourceShape shape{5 * kChunkRows, 100, false};
  Sources sources = open_all(2, shape, &clock_);
  std::vector<int64_t> before;
  for (int i = 0; i < 90; ++i) poll_once(sources[1].get(), &before);
  const auto written = snapshot_all(sources);
  Sources again = open_all(2, shape, &clock_, &written);
  EXPECT_EQ(drain(again[1].get()), drain(sources[1].get()));
  EXPECT_EQ(drain(again[0].get()), drain(sources[0].get()));
}

TEST_F(ChunkedSourceTest, AFinishedSourceStaysFinished) {
  const SourceShape shape{2 * kChunkRows, kChunkRows, false};
  for (const int32_t parallelism : {1, 2, 3}) {
    const Sources sources = open_all(2, shape, &clock_);
    for (const auto& source : sources) drain(source.get());
    const auto written = snapshot_all(sources);
    for (const auto& source : open_all(parallelism, shape, &clock_, &written)) {
      EXPECT_TRUE(drain(source.get()).empty());
    }
  }
}

TEST_F(ChunkedSourceTest, StateThatIsNoStateOfASourceIsRefused) {
  NumberSource source(10, 10);
  expect_ok(source.open(make_context(&clock_)));
  EXPECT_TRUE(mentions(source.restore({}), "source-splits"));
  OperatorState state;
  expect_ok(source.snapshot(&state));
  const std::string good = state.lists[0].items[0];
  ASSERT_EQ(good.size(), 24u);
  const auto with = [&](size_t at, char byte) {
    std::string bad = good;
    bad[at] = byte;
    return bad;
  };
  // Cut short; negative chunk; stride 0; row 8192 of a chunk of 8192; a chunk no row can be in.
  for (const std::string& bad : {good.substr(0, 23), with(7, '\x80'), with(8, '\0'),
                                 with(17, '\x20'), with(7, '\x7f'), with(15, '\x7f')}) {
    state.lists[0].items = {bad};
    EXPECT_EQ(source.restore(state).code(), StatusCode::kCorruption);
  }
}

TEST_F(ChunkedSourceTest, RateBoundsTheRowsAndIsSharedByTheSubtasks) {
  using Steady = std::chrono::steady_clock;
  NumberSource source(std::nullopt, 10, 2000);  // 1000 rows/s for each of two
  EXPECT_TRUE(source.is_live());
  expect_ok(source.open(make_context(&clock_, 0, 2)));
  const auto start = Steady::now();
  int64_t rows = 0;
  int waits = 0;
  while (rows < 150) {
    RecordingOutput output;
    const Poll poll = source.poll(output).value();
    for (const int64_t size : output.batch_sizes) rows += size;
    const double seconds = std::chrono::duration<double>(Steady::now() - start).count();
    ASSERT_LE(static_cast<double>(rows), seconds * 1000 + 1);
    ASSERT_LT(seconds, 60) << "the source does not keep up with its rate";
    if (poll.kind != PollKind::kWait) continue;
    ++waits;
    EXPECT_TRUE(output.batches.empty());
    EXPECT_GT(poll.wake_millis, clock_.now_millis());
    std::this_thread::sleep_for(std::chrono::milliseconds(poll.wake_millis - clock_.now_millis()));
  }
  EXPECT_GT(waits, 0);
}

TEST_F(ChunkedSourceTest, ASlowRateWaitsUntilTheNextRowIsDue) {
  NumberSource source(std::nullopt, 10, 0.01);  // a row every 100 s
  expect_ok(source.open(make_context(&clock_)));
  RecordingOutput output;
  EXPECT_EQ(source.poll(output).value().kind, PollKind::kMore);
  EXPECT_EQ(output.batch_sizes, (std::vector<int64_t>{1}));
  const Poll poll = source.poll(output).value();
  EXPECT_EQ(poll.kind, PollKind::kWait);
  EXPECT_GT(poll.wake_millis, clock_.now_millis() + 50'000);
  EXPECT_LE(poll.wake_millis, clock_.now_millis() + 100'000);
}

// The same splits over Arrow data: record batches of any size, empty ones included.
TEST_F(ChunkedSourceTest, ArrowDataIsReadWholeHoweverItIsCut) {
  std::mt19937 random(11);
  const int64_t total = 3 * kChunkRows + 100;
  std::vector<Batch> cuts;
  const std::vector<int64_t> all = iota(total);
  for (int64_t from = 0; from < total;) {
    const auto size = std::min<int64_t>(total - from, static_cast<int64_t>(random() % 3000));
    cuts.push_back(int64_batch({all.begin() + from, all.begin() + from + size}));
    from += size;
  }
  const auto table = std::make_shared<const ArrowTable>(std::move(cuts));
  EXPECT_EQ(table->num_rows(), total);
  std::vector<int64_t> rows;
  for (int32_t subtask = 0; subtask < 2; ++subtask) {
    ArrowSource source(table, 1000);
    expect_ok(source.open(make_context(&clock_, subtask, 2)));
    const auto own = drain(&source);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, all);
}

TEST_F(ChunkedSourceTest, EmptyArrowDataEndsAtOnce) {
  ArrowSource source(std::make_shared<const ArrowTable>(std::vector<Batch>{int64_batch({})}), 10);
  expect_ok(source.open(make_context(&clock_)));
  EXPECT_TRUE(drain(&source).empty());
}

}  // namespace
}  // namespace penstock
