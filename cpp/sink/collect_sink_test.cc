#include "sink/collect_sink.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace penstock {
namespace {

using std::chrono::milliseconds;
using PopKind = ResultQueue::PopKind;

constexpr milliseconds kLong{60'000};
constexpr milliseconds kShort{20};

Batch number(int64_t value) {
  Batch batch;
  batch.num_rows = 1;
  batch.timestamps = int64_column({value});
  return batch;
}

int64_t number_of(const Batch& batch) { return batch.timestamp_data()[0]; }

ResultQueue::Popped pop(ResultQueue* queue, milliseconds timeout = kLong) {
  auto popped = queue->pop(timeout);
  EXPECT_TRUE(popped.is_ok()) << popped.status().message();
  return std::move(popped).value();
}

void push(ResultQueue* queue, int64_t value) {
  const Status status = queue->push(number(value), {});
  EXPECT_TRUE(status.is_ok()) << status.message();
}

class NoOutput final : public Output {
 public:
  Status emit(Batch) override { return Status::internal("a sink emits nothing"); }
  Status emit_side(int32_t, Batch) override { return Status::internal("a sink emits nothing"); }
  Status emit_watermark(Watermark) override { return Status::ok(); }
  Status emit_status(WatermarkStatus) override { return Status::ok(); }
};

TEST(ResultQueue, GivesBatchesInOrder) {
  ResultQueue queue;
  for (int64_t i = 0; i < 5; ++i) push(&queue, i);
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(number_of(pop(&queue).batch), i);
  EXPECT_EQ(pop(&queue, kShort).kind, PopKind::kTimeout);
}

TEST(ResultQueue, EndsAfterTheLastProducerAndWhatItPushed) {
  ResultQueue queue;
  EXPECT_EQ(pop(&queue, kShort).kind, PopKind::kTimeout) << "no producer yet is not the end";
  queue.add_producer();
  queue.add_producer();
  push(&queue, 1);
  queue.remove_producer();
  EXPECT_EQ(pop(&queue).kind, PopKind::kBatch);
  EXPECT_EQ(pop(&queue, kShort).kind, PopKind::kTimeout) << "one producer is left";
  push(&queue, 2);
  queue.remove_producer();
  EXPECT_EQ(number_of(pop(&queue).batch), 2);
  EXPECT_EQ(pop(&queue).kind, PopKind::kEnd);
  EXPECT_EQ(pop(&queue).kind, PopKind::kEnd);
}

TEST(ResultQueue, TheEndWakesAReaderThatWaits) {
  ResultQueue queue;
  queue.add_producer();
  std::thread producer([&] { queue.remove_producer(); });
  EXPECT_EQ(pop(&queue).kind, PopKind::kEnd);
  producer.join();
}

TEST(ResultQueue, AFailureComesAfterWhatWasPushedAndTheFirstOneWins) {
  ResultQueue queue;
  queue.add_producer();
  push(&queue, 1);
  queue.fail(Status::overflow("first"));
  queue.fail(Status::internal("second"));
  queue.remove_producer();
  EXPECT_EQ(number_of(pop(&queue).batch), 1);
  for (int i = 0; i < 2; ++i) {
    const auto failed = queue.pop(kLong);
    EXPECT_EQ(failed.status().code(), StatusCode::kOverflow);
    EXPECT_EQ(failed.status().message(), "first");
  }
}

TEST(ResultQueue, AFailureWakesAReaderThatWaits) {
  ResultQueue queue;
  queue.add_producer();
  std::thread failing([&] { queue.fail(Status::internal("broken")); });
  EXPECT_EQ(queue.pop(kLong).status().code(), StatusCode::kInternal);
  failing.join();
}

TEST(ResultQueue, AFullQueueMakesItsProducersWait) {
  ResultQueue queue(3);
  std::atomic<int64_t> pushed{0};
  std::thread producer([&] {
    for (int64_t i = 0; i < 10; ++i) {
      push(&queue, i);
      pushed.store(i + 1);
    }
  });
  // At every moment at most `popped` + capacity have been pushed.
  for (int64_t popped = 0; popped < 10; ++popped) {
    std::this_thread::sleep_for(milliseconds(2));
    EXPECT_LE(pushed.load(), popped + 3);
    EXPECT_EQ(number_of(pop(&queue).batch), popped);
  }
  producer.join();
}

TEST(ResultQueue, ClosingFreesProducersAndDropsWhatTheyPush) {
  ResultQueue queue(1);
  push(&queue, 1);
  std::thread producer([&] {
    for (int64_t i = 0; i < 100; ++i) push(&queue, i);  // returns: nobody reads any more
  });
  queue.close();
  producer.join();
  EXPECT_EQ(pop(&queue).kind, PopKind::kEnd);
}

TEST(ResultQueue, ClosingLetsGoOfTheBatches) {
  ResultQueue queue;
  const auto owner = std::make_shared<int>(0);
  Batch batch = number(1);
  batch.timestamps.values.owner = owner;
  ASSERT_TRUE(queue.push(std::move(batch), {}).is_ok());
  EXPECT_EQ(owner.use_count(), 2);
  queue.close();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(ResultQueue, CancellationEndsTheWaitOfAProducer) {
  ResultQueue queue(1);
  push(&queue, 1);
  std::atomic<bool> cancelled{false};
  OperatorContext context;
  context.cancelled = &cancelled;
  Status status;
  std::thread producer([&] { status = queue.push(number(2), context); });
  std::this_thread::sleep_for(milliseconds(5));
  cancelled.store(true);
  producer.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(number_of(pop(&queue).batch), 1) << "what is there can still be read";
}

// Several producers and readers at once: nothing is lost, nothing comes twice, and each producer's
// batches stay in order.
TEST(ResultQueue, ManyThreadsLoseAndDoubleNothing) {
  constexpr int64_t kProducers = 4;
  constexpr int64_t kEach = 2000;
  ResultQueue queue(5);
  for (int64_t p = 0; p < kProducers; ++p) queue.add_producer();
  std::vector<std::vector<int64_t>> got(2);
  std::vector<std::thread> threads;
  for (int64_t p = 0; p < kProducers; ++p) {
    threads.emplace_back([&queue, p] {
      for (int64_t i = 0; i < kEach; ++i) push(&queue, p * kEach + i);
      queue.remove_producer();
    });
  }
  for (auto& own : got) {
    threads.emplace_back([&queue, &own] {
      while (true) {
        const auto popped = pop(&queue);
        if (popped.kind == PopKind::kEnd) return;
        ASSERT_EQ(popped.kind, PopKind::kBatch);
        own.push_back(number_of(popped.batch));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<int64_t> all;
  for (const auto& own : got) {
    std::vector<int64_t> last(kProducers, -1);
    for (const int64_t value : own) {
      EXPECT_TRUE(all.insert(value).second) << value;
      int64_t& before = last[static_cast<size_t>(value / kEach)];
      EXPECT_LT(before, value);
      before = value;
    }
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(kProducers * kEach));
}

// Readers and producers come, fail, close and cancel at any moment: everybody always ends.
TEST(ResultQueue, EverybodyEndsWhateverHappensMeanwhile) {
  for (int round = 0; round < 60; ++round) {
    ResultQueue queue(2);
    std::atomic<bool> cancelled{false};
    OperatorContext context;
    context.cancelled = &cancelled;
    std::vector<std::thread> threads;
    for (int p = 0; p < 3; ++p) {
      queue.add_producer();
      threads.emplace_back([&] {
        for (int64_t i = 0; i < 50; ++i) {
          if (!queue.push(number(i), context).is_ok()) break;
        }
        queue.remove_producer();
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < round; ++i) {
        const auto popped = queue.pop(kLong);
        if (!popped.is_ok() || popped.value().kind == PopKind::kEnd) break;
      }
      if (round % 3 == 0) queue.close();
      if (round % 3 == 1) cancelled.store(true);
      if (round % 3 == 2) {
        queue.fail(Status::internal("broken"));
        cancelled.store(true);
      }
    });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(CollectSink, IsAProducerUntilItIsClosed) {
  const auto queue = std::make_shared<ResultQueue>();
  NoOutput output;
  CollectSink first(queue);
  auto second = std::make_unique<CollectSink>(queue);
  ASSERT_TRUE(first.process_batch(number(1), output).is_ok());
  ASSERT_TRUE(first.close().is_ok());
  ASSERT_TRUE(first.close().is_ok()) << "closing twice counts once";
  EXPECT_EQ(number_of(pop(queue.get()).batch), 1);
  EXPECT_EQ(pop(queue.get(), kShort).kind, PopKind::kTimeout);
  second = nullptr;  // never closed: its end counts
  EXPECT_EQ(pop(queue.get()).kind, PopKind::kEnd);
  EXPECT_EQ(first.process_batch(number(2), output).code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace penstock
