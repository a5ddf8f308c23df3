#include "operators/window/general_window_operator.h"

#include <gtest/gtest.h>

#include <map>

#include "operators/window/window_testing.h"
#include "record/key_encoding.h"

namespace penstock::window::testing {
namespace {

// The foreign objects of these tests: counted boxes of an integer (and, as results, of a line of
// text).
struct Box {
  int64_t value = 0;
  std::string text;
  int references = 1;
};
int g_live_boxes = 0;

ObjectPtr make_box(int64_t value, std::string text = "") {
  ++g_live_boxes;
  return new Box{value, std::move(text)};
}
Box* box(ObjectPtr object) { return static_cast<Box*>(object); }

void retain(ObjectPtr const* objects, int64_t count) {
  for (int64_t i = 0; i < count; ++i) ++box(objects[i])->references;
}
void release(ObjectPtr const* objects, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (--box(objects[i])->references == 0) {
      delete box(objects[i]);
      --g_live_boxes;
    }
  }
}

// reduce(a + b), emitted as "key|start|end|sum|watermark".
class SumFunctions final : public WindowFunctions {
 public:
  void begin() override { ++depth; }
  void end() override { --depth; }
  Result<ObjectPtr> add(ObjectPtr accumulator, ObjectPtr element) override {
    EXPECT_EQ(depth, 1);
    if (box(element)->value == kPoison) return Status(StatusCode::kUserError, "poison");
    if (accumulator == nullptr) {
      retain(&element, 1);
      return element;
    }
    return make_box(box(accumulator)->value + box(element)->value);
  }
  Status emit(std::string_view key, const TimeWindow& window, ObjectPtr accumulator,
              Timestamp watermark, std::vector<ObjectPtr>* out) override {
    EXPECT_EQ(depth, 1);
    std::string text =
        std::string(key) + "|" + std::to_string(window.start) + "|" + std::to_string(window.end);
    text += "|" + std::to_string(box(accumulator)->value) + "|" + std::to_string(watermark);
    out->push_back(make_box(0, text));
    return Status::ok();
  }
  Result<std::string> serialise(ObjectPtr accumulator) override {
    return std::to_string(box(accumulator)->value);
  }
  Result<ObjectPtr> deserialise(std::string_view bytes) override {
    return make_box(std::stoll(std::string(bytes)));
  }
  [[nodiscard]] std::string value_type() const override { return "text:sum"; }

  static constexpr int64_t kPoison = 666;
  int depth = 0;
};

struct Record {
  std::string key;
  int64_t value;
  Timestamp timestamp;
};

Batch rows_of(const std::vector<Record>& records) {
  std::vector<ObjectPtr> objects;
  std::vector<int64_t> timestamps;
  std::vector<std::optional<std::string>> keys;
  auto encoded = std::make_shared<EncodedKeys>();
  for (const Record& record : records) {
    objects.push_back(make_box(record.value));
    timestamps.push_back(record.timestamp);
    keys.emplace_back(record.key);
    encoded->hashes.push_back(murmur3_32(record.key.data(), record.key.size()));
  }
  encoded->bytes = strings_of(keys, binary());
  const auto count = static_cast<int64_t>(records.size());
  Batch batch = make_rows({ObjectVector::adopt(std::move(objects)), 0, count});
  batch.timestamps = int64_column(std::move(timestamps));
  batch.keys = encoded;
  return batch;
}

class GeneralWindow : public ::testing::Test {
 protected:
  void SetUp() override {
    install_object_ops({retain, release});
    g_live_boxes = 0;
    make(0);
  }
  void TearDown() override {
    op.reset();
    output = {};
    EXPECT_EQ(g_live_boxes, 0) << "references leaked or dropped twice";
  }

  void make(int64_t lateness, std::optional<int32_t> late_side = std::nullopt, bool all = false) {
    GeneralWindowOptions options;
    options.assigner = std::make_shared<TumblingEventTimeWindows>(10, 0);
    options.trigger = std::make_shared<EventTimeTrigger>();
    options.functions = functions;
    options.allowed_lateness_ms = lateness;
    options.late_side = late_side;
    options.window_all = all;
    op = GeneralWindowOperator::create(options).value();
    metrics = std::make_unique<OperatorMetrics>();
    OperatorContext context;
    context.metrics = metrics.get();
    ASSERT_TRUE(op->open(context).is_ok());
  }
  void records(const std::vector<Record>& list) {
    const Status status = op->process_batch(rows_of(list), output);
    ASSERT_TRUE(status.is_ok()) << status.message();
  }
  void watermark(Timestamp timestamp) {
    ASSERT_TRUE(op->process_watermark({timestamp}, output).is_ok());
  }
  // All results so far, and forget them.
  std::vector<std::string> results() {
    std::vector<std::string> lines;
    for (const Batch& batch : output.batches) {
      for (int64_t i = 0; i < batch.num_rows; ++i) {
        lines.push_back(box(batch.rows.at(i))->text + "|" +
                        std::to_string(batch.timestamp_data()[i]));
      }
    }
    output.batches.clear();
    return lines;
  }

  std::shared_ptr<SumFunctions> functions = std::make_shared<SumFunctions>();
  std::shared_ptr<GeneralWindowOperator> op;
  std::unique_ptr<OperatorMetrics> metrics;
  CollectingOutput output;
};

using Lines = std::vector<std::string>;

TEST_F(GeneralWindow, FiresInTimestampThenKeyOrderWithEndMinusOneAsTimestamp) {
  records({{"b", 1, 3}, {"a", 2, 12}, {"a", 4, 5}, {"b", 8, 9}, {"a", 16, -1}});
  watermark(8);
  EXPECT_EQ(results(), (Lines{"a|-10|0|16|8|-1"}));
  watermark(25);
  EXPECT_EQ(results(), (Lines{"a|0|10|4|25|9", "b|0|10|9|25|9", "a|10|20|2|25|19"}));
  EXPECT_EQ(metrics->windows_fired, 4);
  EXPECT_EQ(output.watermarks, (std::vector<Timestamp>{8, 25}));
}

TEST_F(GeneralWindow, DropsAndCountsWhatIsLate) {
  records({{"a", 1, 3}});
  watermark(9);
  results();
  records({{"a", 2, 9}, {"a", 4, 10}});
  EXPECT_EQ(metrics->late_records_dropped, 1);
  watermark(kMaxTimestamp);
  EXPECT_EQ(results(), (Lines{"a|10|20|4|9223372036854775807|19"}));
}

TEST_F(GeneralWindow, ALateButAllowedElementFiresAtOnceWithAllThatIsThere) {
  make(5);
  records({{"a", 1, 3}});
  watermark(10);
  EXPECT_EQ(results(), (Lines{"a|0|10|1|10|9"}));
  records({{"a", 2, 4}, {"a", 4, 5}});
  EXPECT_EQ(results(), (Lines{"a|0|10|3|10|9", "a|0|10|7|10|9"}));
  watermark(13);
  records({{"a", 8, 6}});
  EXPECT_EQ(results(), (Lines{"a|0|10|15|13|9"}));
  watermark(14);  // cleanup time: end - 1 + lateness
  EXPECT_EQ(results(), Lines{});
  records({{"a", 16, 7}});
  EXPECT_EQ(results(), Lines{});
  EXPECT_EQ(metrics->late_records_dropped, 1);
}

TEST_F(GeneralWindow, LateRecordsGoToTheSideOutput) {
  make(0, 2);
  watermark(9);
  records({{"a", 1, 3}, {"b", 2, 30}, {"c", 4, 9}});
  ASSERT_EQ(output.sides[2].size(), 1U);
  const Batch& late = output.sides[2][0];
  ASSERT_EQ(late.num_rows, 2);
  EXPECT_EQ(box(late.rows.at(1))->value, 4);
  EXPECT_EQ(late.timestamp_data()[1], 9);
  EXPECT_EQ(metrics->late_records_dropped, 0);
}

TEST_F(GeneralWindow, EndlessLatenessDoesNotOverflow) {
  make(kMaxTimestamp);
  records({{"a", 1, 3}});
  watermark(100);
  records({{"a", 2, 3}});
  EXPECT_EQ(results(), (Lines{"a|0|10|1|100|9", "a|0|10|3|100|9"}));
  watermark(kMaxTimestamp);
}

TEST_F(GeneralWindow, WindowAllNeedsNoKeys) {
  make(0, std::nullopt, true);
  Batch batch = rows_of({{"a", 1, 3}, {"b", 2, 4}});
  batch.keys = nullptr;
  ASSERT_TRUE(op->process_batch(batch, output).is_ok());
  watermark(9);
  EXPECT_EQ(results(), (Lines{"|0|10|3|9|9"}));
}

TEST_F(GeneralWindow, ErrorsOfUserCodeComeOutAndLeakNothing) {
  make(5);
  watermark(10);
  const Status status = op->process_batch(
      rows_of({{"a", 1, 6}, {"a", SumFunctions::kPoison, 7}, {"a", 1, 8}}), output);
  EXPECT_EQ(status.code(), StatusCode::kUserError);
  EXPECT_EQ(functions->depth, 0);
  ASSERT_TRUE(op->close().is_ok());
}

TEST_F(GeneralWindow, RecordsWithoutTimestampsAreAnErrorThatSaysWhatToDo) {
  Batch batch = rows_of({{"a", 1, 3}});
  batch.timestamps = Column{};
  const Status status = op->process_batch(batch, output);
  EXPECT_NE(status.message().find("assign_timestamps_and_watermarks"), std::string::npos);
}

TEST_F(GeneralWindow, SnapshotAndRestoreAtAnyPointChangeNothing) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const std::vector<Step> steps = random_script(seed);
    const auto feed_step = [&](const Step& step) {
      std::vector<Record> list;
      for (const Row& row : step.rows)
        list.push_back({"k" + std::to_string(row.key), row.value.value_or(1), row.timestamp});
      if (!list.empty()) records(list);
      if (step.watermark.has_value()) watermark(*step.watermark);
    };
    const int64_t lateness = seed % 3 * 15;
    make(lateness);
    for (const Step& step : steps) feed_step(step);
    const Lines expected = sorted(results());
    const int64_t late = metrics->late_records_dropped;

    make(lateness);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i == seed) {
        OperatorState state;
        ASSERT_TRUE(op->snapshot(&state).is_ok());
        const int64_t dropped = metrics->late_records_dropped;
        make(lateness);
        const auto mine = reassign({state}, 0, 1, kDefaultMaxParallelism);
        ASSERT_TRUE(op->restore(mine.value()).is_ok());
        metrics->late_records_dropped = dropped;
      }
      feed_step(steps[i]);
    }
    ASSERT_EQ(sorted(results()), expected) << "seed " << seed;
    ASSERT_EQ(metrics->late_records_dropped, late);
  }
}

TEST_F(GeneralWindow, AgreesWithTheModelWithoutLateness) {
  for (uint32_t seed = 100; seed < 120; ++seed) {
    const std::vector<Step> steps = random_script(seed);
    std::map<std::pair<Timestamp, std::string>, int64_t> open;
    Lines expected;
    Timestamp now = kMinTimestamp;
    make(0);
    for (const Step& step : steps) {
      std::vector<Record> list;
      for (const Row& row : step.rows) {
        list.push_back({"k" + std::to_string(row.key), row.value.value_or(1), row.timestamp});
        const Timestamp start = window_start_with_offset(row.timestamp, 0, 10);
        if (start + 9 > now) open[{start, list.back().key}] += list.back().value;
      }
      if (!list.empty()) records(list);
      if (!step.watermark.has_value()) continue;
      now = std::max(now, *step.watermark);
      watermark(*step.watermark);
      while (!open.empty() && open.begin()->first.first + 9 <= now) {
        const auto& [where, sum] = *open.begin();
        expected.push_back(where.second + "|" + std::to_string(where.first) + "|" +
                           std::to_string(where.first + 10) + "|" + std::to_string(sum) + "|" +
                           std::to_string(now) + "|" + std::to_string(where.first + 9));
        open.erase(open.begin());
      }
    }
    ASSERT_EQ(results(), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace penstock::window::testing
