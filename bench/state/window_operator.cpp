#include "bench/state/window_operator.h"

#include <algorithm>

namespace penstock::bench {

namespace {

FieldPtr field(const char* name) {
  return std::make_shared<const Field>(Field{name, int64(), true, "", 0});
}

// Turns the rows of the fired window, (key, start, end, n, total), into their digest.
class DigestOutput final : public Output {
 public:
  Status emit(Batch batch) override {
    const int64_t* key = batch.columns[0].data<int64_t>();
    const int64_t* count = batch.columns[3].data<int64_t>();
    const int64_t* sum = batch.columns[4].data<int64_t>();
    for (int64_t i = 0; i < batch.num_rows; ++i) digest += digest_of(key[i], {count[i], sum[i]});
    return Status::ok();
  }
  Status emit_side(int32_t, Batch) override { return Status::ok(); }
  Status emit_watermark(Watermark) override { return Status::ok(); }
  Status emit_status(WatermarkStatus) override { return Status::ok(); }
  uint64_t digest = 0;
};

}  // namespace

WindowSubtask::WindowSubtask(const std::string& backend) {
  window::WindowOptions options;
  options.key_columns = {"key"};
  options.size_ms = 1000;
  options.aggregates = {{window::AggregateKind::kCountStar, "", "n"},
                        {window::AggregateKind::kSum, "value", "total"}};
  auto schema = std::make_shared<Schema>(std::vector<FieldPtr>{field("key"), field("value")});
  plan_ = require(window::WindowPlan::bind(options, schema));
  operator_ = require(window::SlicedWindowOperator::create(plan_, {}));
  OperatorContext context;
  context.name = "Window";
  context.uid = "window";
  context.metrics = &metrics_;
  context.clock = &clock_;
  if (backend != "hashmap") {
    auto config = std::make_shared<StateBackendConfig>();
    config->kind = backend;
    config->options["penstock.state.write-back-tier"] = "64mb";
    context.state_backend = std::move(config);
  }
  require(operator_->open(context));
  timestamps_ = int64_column(std::vector<int64_t>(static_cast<size_t>(kBatchRows), 1));
}

void WindowSubtask::add(std::vector<int64_t> keys, std::vector<int64_t> values) {
  const auto rows = static_cast<int64_t>(keys.size());
  const Column key_column = int64_column(std::move(keys));
  const Column value_column = int64_column(std::move(values));
  DigestOutput nothing;
  for (int64_t from = 0; from < rows; from += kBatchRows) {
    const int64_t count = std::min(kBatchRows, rows - from);
    Batch batch =
        make_batch(plan_->input_schema(),
                   {key_column.slice(from, count), value_column.slice(from, count)}, count);
    batch.timestamps = timestamps_.slice(0, count);
    require(operator_->process_batch(std::move(batch), nothing));
  }
}

uint64_t WindowSubtask::digest() {
  DigestOutput output;
  require(operator_->process_watermark(Watermark{kMaxTimestamp}, output));
  return output.digest;
}

// What goes down in runs is put together when the window fires: on RocksDB that is measured too.
void run_window_operator(const Options& options) {
  std::vector<std::unique_ptr<WindowSubtask>> subtasks;
  std::vector<uint64_t> digests(static_cast<size_t>(options.threads));
  for (int i = 0; i < options.threads; ++i) {
    subtasks.push_back(std::make_unique<WindowSubtask>(options.backend));
  }
  const bool fires = options.backend != "hashmap";
  measure_rows(
      options,
      [&](int thread, Rows* rows) {
        const auto i = static_cast<size_t>(thread);
        subtasks[i]->add(std::move(rows->keys), std::move(rows->values));
        if (fires) digests[i] = subtasks[i]->digest();
      },
      [&](int thread) {
        const auto i = static_cast<size_t>(thread);
        return fires ? digests[i] : subtasks[i]->digest();
      });
}

}  // namespace penstock::bench
