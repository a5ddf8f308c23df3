// Helpers of the task tests: small plans made of test operators.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "operators/operator.h"
#include "source/generator_source.h"
#include "task/job_plan.h"

namespace penstock::testing {

// Sums column 0 (int64) of everything it gets, over all subtasks, and remembers the watermarks.
struct Sums {
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> total{0};
  std::atomic<int> ended{0};
  std::atomic<int> closed{0};
};

class SumSink : public Operator {
 public:
  explicit SumSink(Sums* sums) : sums_(sums) {}
  Status process_batch(Batch batch, Output&) override {
    int64_t total = 0;
    for (int64_t i = 0; i < batch.num_rows; ++i) total += batch.columns[0].data<int64_t>()[i];
    sums_->rows += batch.num_rows;
    sums_->total += total;
    return Status::ok();
  }
  Status end_input(Output&) override {
    ++sums_->ended;
    return Status::ok();
  }
  Status close() override {
    ++sums_->closed;
    return Status::ok();
  }

 private:
  Sums* sums_;
};

// Hands batches on; fails at the first one when told to.
class PassThrough final : public Operator {
 public:
  explicit PassThrough(bool fails = false) : fails_(fails) {}
  Status process_batch(Batch batch, Output& output) override {
    if (fails_) return Status::invalid("asked to fail");
    return output.emit(std::move(batch));
  }

 private:
  bool fails_;
};

// Counts into an operator state, so that a checkpoint has something to hold: rows and their sum.
class CountingSink final : public Operator {
 public:
  explicit CountingSink(std::atomic<int64_t>* total) : total_(total) {}
  Status process_batch(Batch batch, Output&) override {
    for (int64_t i = 0; i < batch.num_rows; ++i) sum_ += batch.columns[0].data<int64_t>()[i];
    return Status::ok();
  }
  Status snapshot(OperatorState* state) override {
    ListStateData list;
    list.meta = {"sum", StateKind::kOperatorList, "", "", "text"};
    list.items.push_back(std::to_string(sum_));
    state->lists.push_back(std::move(list));
    return Status::ok();
  }
  Status restore(const OperatorState& state) override {
    for (const std::string& item : state.find_list("sum")->items) sum_ += std::stoll(item);
    return Status::ok();
  }
  Status end_input(Output&) override {
    *total_ += sum_;
    return Status::ok();
  }

 private:
  std::atomic<int64_t>* total_;
  int64_t sum_ = 0;
};

inline std::shared_ptr<Source> sequence(std::optional<int64_t> count, double rate = 0) {
  GeneratorOptions options;
  options.columns.push_back({"id", SequenceColumn{0, 1}});
  options.count = count;
  options.rows_per_second = rate;
  return GeneratorSource::create(std::move(options)).value();
}

inline ChainNodeSpec node(std::shared_ptr<Operator> op, std::string uid, int32_t upstream = -1) {
  return {std::move(op), uid, uid, upstream, std::nullopt};
}

// A vertex whose subtasks are made one by one.
template <typename Make>
VertexPlan vertex(std::string name, int32_t parallelism, Make make) {
  VertexPlan plan{std::move(name), parallelism, kDefaultMaxParallelism, {}};
  for (int32_t i = 0; i < parallelism; ++i) plan.subtasks.push_back(make(i));
  return plan;
}

inline VertexPlan source_vertex(int32_t parallelism, std::optional<int64_t> count,
                                double rate = 0) {
  return vertex("source", parallelism, [&](int32_t) {
    return SubtaskPlan{sequence(count, rate), {node(nullptr, "source")}};
  });
}

inline EdgePlan edge(int32_t from, int32_t to, Partitioning partitioning) {
  return {from, 0, std::nullopt, to, std::move(partitioning)};
}

}  // namespace penstock::testing
