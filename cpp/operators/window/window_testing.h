// Helpers of the window tests: hand-made batches, an output that collects, and the naive model to
// compare with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "columnar/builder.h"
#include "operators/operator.h"
#include "operators/window/window_plan.h"

namespace penstock::window::testing {

inline FieldPtr field(std::string name, DataTypePtr type) {
  auto result = std::make_shared<Field>();
  result->name = std::move(name);
  result->type = std::move(type);
  return result;
}

template <typename T>
Column column_of(DataTypePtr type, const std::vector<std::optional<T>>& values) {
  FixedBuilder<T> builder(std::move(type));
  for (const auto& value : values)
    value.has_value() ? builder.append(*value) : builder.append_null();
  return builder.finish();
}

inline Column strings_of(const std::vector<std::optional<std::string>>& values,
                         DataTypePtr type = utf8()) {
  BinaryBuilder builder(std::move(type));
  for (const auto& value : values)
    value.has_value() ? builder.append(*value) : builder.append_null();
  return builder.finish().value();
}

// A value as text, whatever its type: for comparing.
inline std::string render(const Column& column, int64_t i) {
  if (!column.is_valid(i)) return "null";
  if (column.type->is_binary_like()) return std::string(column.bytes_at(i));
  if (column.type->id == TypeId::kFloat64) return std::to_string(column.data<double>()[i]);
  if (column.type->id == TypeId::kBool) return column.bool_at(i) ? "true" : "false";
  if (column.type->id == TypeId::kDecimal128) {
    return std::to_string(column.data<int64_t>()[2 * i + 1]) + ":" +
           std::to_string(column.data<uint64_t>()[2 * i]);
  }
  if (column.type->byte_width == 4) return std::to_string(column.data<int32_t>()[i]);
  return std::to_string(column.data<int64_t>()[i]);
}

class CollectingOutput final : public Output {
 public:
  Status emit(Batch batch) override {
    batches.push_back(std::move(batch));
    return Status::ok();
  }
  Status emit_side(int32_t side, Batch batch) override {
    sides[side].push_back(std::move(batch));
    return Status::ok();
  }
  Status emit_watermark(Watermark watermark) override {
    watermarks.push_back(watermark.timestamp);
    batches_before_watermark.push_back(batches.size());
    return Status::ok();
  }
  Status emit_status(WatermarkStatus) override { return Status::ok(); }

  std::vector<Batch> batches;
  std::map<int32_t, std::vector<Batch>> sides;
  std::vector<Timestamp> watermarks;
  std::vector<size_t> batches_before_watermark;
};

// One record of the random tests. Key 0 is null where the key column can be.
struct Row {
  int64_t key = 0;
  std::optional<int64_t> value;
  Timestamp timestamp = 0;
};

// A script: rows, and after each step possibly a watermark.
struct Step {
  std::vector<Row> rows;
  std::optional<Timestamp> watermark;
};

enum class Keys { kInt64, kInt32, kString, kTuple, kNone };

inline std::vector<std::string> key_names(Keys keys) {
  if (keys == Keys::kNone) return {};
  if (keys == Keys::kTuple) return {"k", "k2"};
  return {"k"};
}

inline SchemaPtr schema_of(Keys keys) {
  std::vector<FieldPtr> fields;
  fields.push_back(field("v", int64()));
  fields.push_back(field("k", keys == Keys::kString  ? utf8()
                              : keys == Keys::kInt64 ? int64()
                                                     : int32()));
  fields.push_back(field("k2", utf8()));
  return std::make_shared<Schema>(std::move(fields));
}

inline Batch batch_of(Keys keys, const std::vector<Row>& rows) {
  std::vector<std::optional<int64_t>> values;
  std::vector<std::optional<int64_t>> longs;
  std::vector<std::optional<int32_t>> ints;
  std::vector<std::optional<std::string>> strings;
  std::vector<int64_t> timestamps;
  for (const Row& row : rows) {
    values.push_back(row.value);
    const bool null = row.key == 0;
    longs.push_back(null ? std::nullopt : std::optional<int64_t>(row.key));
    ints.push_back(null ? std::nullopt : std::optional<int32_t>(static_cast<int32_t>(row.key)));
    strings.push_back(null ? std::nullopt
                           : std::optional<std::string>("key" + std::to_string(row.key)));
    timestamps.push_back(row.timestamp);
  }
  Column key;
  if (keys == Keys::kString) {
    key = strings_of(strings);
  } else if (keys == Keys::kInt64) {
    key = column_of(int64(), longs);
  } else {
    key = column_of(int32(), ints);
  }
  Batch batch = make_batch(schema_of(keys), {column_of(int64(), values), key, strings_of(strings)},
                           static_cast<int64_t>(rows.size()));
  batch.timestamps = int64_column(std::move(timestamps));
  return batch;
}

inline std::string key_text(Keys keys, int64_t key) {
  const std::string number = key == 0 ? "null" : std::to_string(key);
  const std::string name = key == 0 ? "null" : "key" + std::to_string(key);
  switch (keys) {
    case Keys::kNone:
      return "";
    case Keys::kString:
      return name + "|";
    case Keys::kTuple:
      return number + "|" + name + "|";
    default:
      return number + "|";
  }
}

inline WindowOptions window_options(Keys keys, int64_t size, int64_t offset) {
  WindowOptions options;
  options.key_columns = key_names(keys);
  options.size_ms = size;
  options.offset_ms = offset;
  options.aggregates = {{AggregateKind::kCountStar, "", "n"}, {AggregateKind::kCount, "v", "nv"},
                        {AggregateKind::kSum, "v", "s"},      {AggregateKind::kMin, "v", "lo"},
                        {AggregateKind::kMax, "k2", "hi"},    {AggregateKind::kAvg, "v", "a"}};
  return options;
}

// What windows of a key come to: one line per (key, window), in a sortable text form.
class Model {
 public:
  Model(Keys keys, int64_t size, int64_t offset) : keys_(keys), size_(size), offset_(offset) {}

  void row(const Row& row) {
    const Timestamp start = window_start_with_offset(row.timestamp, offset_, size_);
    if (start + size_ - 1 <= watermark_) {
      ++late;
      return;
    }
    Group& group = open_[start][key_text(keys_, row.key)];
    ++group.count;
    if (row.key != 0) group.names.push_back("key" + std::to_string(row.key));
    if (row.value.has_value()) group.values.push_back(*row.value);
  }
  void watermark(Timestamp watermark) {
    watermark_ = std::max(watermark_, watermark);
    while (!open_.empty() &&
           (watermark_ == kMaxTimestamp || open_.begin()->first + size_ - 1 <= watermark_)) {
      for (const auto& [key, group] : open_.begin()->second)
        fired.push_back(line(key, open_.begin()->first, group));
      open_.erase(open_.begin());
    }
  }

  std::vector<std::string> fired;
  int64_t late = 0;

 private:
  struct Group {
    int64_t count = 0;
    std::vector<int64_t> values;
    std::vector<std::string> names;
  };
  std::string line(const std::string& key, Timestamp start, const Group& group) const {
    int64_t sum = 0;
    for (const int64_t value : group.values) sum += value;
    const bool none = group.values.empty();
    std::string text = key + std::to_string(start) + "|" + std::to_string(start + size_) + "|";
    text += std::to_string(group.count) + "|" + std::to_string(group.values.size()) + "|";
    text += (none ? "null" : std::to_string(sum)) + "|";
    text += (none ? "null"
                  : std::to_string(*std::min_element(group.values.begin(), group.values.end()))) +
            "|";
    text +=
        (group.names.empty() ? "null" : *std::max_element(group.names.begin(), group.names.end())) +
        "|";
    return text +
           (none ? "null"
                 : std::to_string(static_cast<double>(sum) /
                                  static_cast<double>(group.values.size()))) +
           "|";
  }

  Keys keys_;
  int64_t size_;
  int64_t offset_;
  Timestamp watermark_ = kMinTimestamp;
  std::map<Timestamp, std::map<std::string, Group>> open_;
};

// The operator's results in the model's form.
inline std::vector<std::string> lines_of(const std::vector<Batch>& batches) {
  std::vector<std::string> lines;
  for (const Batch& batch : batches) {
    for (int64_t i = 0; i < batch.num_rows; ++i) {
      std::string line;
      for (const Column& column : batch.columns) line += render(column, i) + "|";
      lines.push_back(line);
    }
  }
  return lines;
}

inline std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

inline std::vector<Step> random_script(uint32_t seed, int64_t keys = 12) {
  std::mt19937 random(seed);
  std::vector<Step> steps;
  Timestamp now = -300;
  const uint64_t spread = 1 + random() % 120;
  const bool nulls = random() % 2 == 0;
  for (int i = 0; i < 60; ++i) {
    Step step;
    for (uint64_t n = random() % 30; n > 0; --n) {
      now += static_cast<Timestamp>(random() % 4);
      Row row;
      row.key = (nulls ? 0 : 1) + static_cast<int64_t>(random()) % keys;
      if (!nulls || random() % 4 != 0) row.value = static_cast<int64_t>(random() % 1000) - 500;
      row.timestamp = now - static_cast<Timestamp>(random() % spread);
      step.rows.push_back(row);
    }
    if (random() % 2 == 0) step.watermark = now - static_cast<Timestamp>(random() % spread);
    steps.push_back(step);
  }
  steps.push_back({{}, kMaxTimestamp});
  return steps;
}

// Feeds a step in batches of at most `cut` rows.
template <typename Op>
void feed(Op* op, Keys keys, const Step& step, size_t cut, Output& output) {
  for (size_t from = 0; from < step.rows.size(); from += cut) {
    const size_t end = std::min(step.rows.size(), from + cut);
    const std::vector<Row> rows(step.rows.begin() + static_cast<std::ptrdiff_t>(from),
                                step.rows.begin() + static_cast<std::ptrdiff_t>(end));
    const Status status = op->process_batch(batch_of(keys, rows), output);
    ASSERT_TRUE(status.is_ok()) << status.message();
  }
  if (step.watermark.has_value()) {
    const Status status = op->process_watermark({*step.watermark}, output);
    ASSERT_TRUE(status.is_ok()) << status.message();
  }
}

inline Model run_model(Keys keys, int64_t size, int64_t offset, const std::vector<Step>& steps) {
  Model model(keys, size, offset);
  for (const Step& step : steps) {
    for (const Row& row : step.rows) model.row(row);
    if (step.watermark.has_value()) model.watermark(*step.watermark);
  }
  return model;
}

}  // namespace penstock::window::testing
