// State of sliced windows under load: count and sum per int64 key, millions of keys, one window.
//
//   window_state snapshot [keys] [subtasks]   what a snapshot costs: how long it stops a subtask, and
//                                             how fast batches go on while it is being read out
//   window_state spill [keys] [subtasks] [tier] [rows]
//                                             rows/s on rocksdb with a write-back tier of so much,
//                                             until the window has fired, beside the heap
//
// Every subtask is a thread that feeds its operator batches of 8192 rows; every key comes once per
// round, in random order. One more thread reads the snapshots out, as checkpointing does.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "columnar/builder.h"
#include "operators/window/sliced_window_operator.h"
#include "snapshot/crc32c.h"

namespace penstock::window {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kBatchRows = 8192;

// By the clock, and of the processor for this thread alone: what it would take on an idle machine.
struct Seconds {
  double wall = 0;
  double cpu = 0;
};

double thread_cpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Stopwatch {
 public:
  [[nodiscard]] Seconds read() const {
    return {std::chrono::duration<double>(Clock::now() - begin_).count(), thread_cpu() - cpu_};
  }

 private:
  Clock::time_point begin_ = Clock::now();
  double cpu_ = thread_cpu();
};

void require(const Status& status) {
  if (status.is_ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

FieldPtr field(std::string name) {
  auto result = std::make_shared<Field>();
  result->name = std::move(name);
  result->type = int64();
  return result;
}

class NoOutput final : public Output {
 public:
  Status emit(Batch batch) override {
    rows += batch.num_rows;
    return Status::ok();
  }
  Status emit_side(int32_t, Batch) override { return Status::ok(); }
  Status emit_watermark(Watermark) override { return Status::ok(); }
  Status emit_status(WatermarkStatus) override { return Status::ok(); }
  int64_t rows = 0;
};

// One operator and the rows that it gets over and over.
class Subtask {
 public:
  Subtask(const WindowPlanPtr& plan, int64_t first_key, int64_t keys, uint32_t seed,
          StateBackendConfigPtr backend = nullptr) {
    auto op = SlicedWindowOperator::create(plan, {});
    require(op.status());
    op_ = op.value();
    OperatorContext context;
    context.state_backend = std::move(backend);
    require(op_->open(context));
    std::vector<int64_t> all(static_cast<size_t>(keys));
    std::iota(all.begin(), all.end(), first_key);
    in_order_ = cut(plan, all);
    std::shuffle(all.begin(), all.end(), std::mt19937_64(seed));
    batches_ = cut(plan, all);
  }
  // Every key once. Not in the order of the rounds: there, groups and accumulators lie as they come.
  void fill() {
    for (const Batch& batch : in_order_) require(op_->process_batch(batch, output_));
  }
  // Closes the window; the number of its results.
  int64_t fire() {
    require(op_->process_watermark({kMaxTimestamp}, output_));
    return output_.rows;
  }
  SlicedWindowOperator* op() { return op_.get(); }
  [[nodiscard]] size_t round() const { return batches_.size(); }
  Seconds step() {
    const Stopwatch watch;
    const Batch& batch = batches_[next_++ % batches_.size()];
    require(op_->process_batch(batch, output_));
    rows_ += batch.num_rows;
    return watch.read();
  }
  [[nodiscard]] int64_t rows() const { return rows_; }

 private:
  static std::vector<Batch> cut(const WindowPlanPtr& plan, const std::vector<int64_t>& keys) {
    std::vector<Batch> batches;
    const auto rows = static_cast<int64_t>(keys.size());
    for (int64_t from = 0; from < rows; from += kBatchRows) {
      const int64_t end = std::min(rows, from + kBatchRows);
      std::vector<int64_t> part(keys.begin() + from, keys.begin() + end);
      Batch batch =
          make_batch(plan->input_schema(), {int64_column(part), int64_column(part)}, end - from);
      batch.timestamps = int64_column(std::vector<int64_t>(part.size(), 1));
      batches.push_back(std::move(batch));
    }
    return batches;
  }

  std::shared_ptr<SlicedWindowOperator> op_;
  std::vector<Batch> in_order_;
  std::vector<Batch> batches_;
  NoOutput output_;
  size_t next_ = 0;
  int64_t rows_ = 0;
};

// Reads snapshots out in a thread of its own, one after the other.
class Reader {
 public:
  Reader() : thread_([this] { work(); }) {}
  ~Reader() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    woken_.notify_all();
    thread_.join();
  }
  void post(std::shared_ptr<const DeferredKeyedState> state) {
    const std::lock_guard lock(mutex_);
    ++open_;
    queue_.push_back(std::move(state));
    woken_.notify_all();
  }
  [[nodiscard]] bool busy() const { return open_.load() != 0; }
  // Processor time of all snapshots so far.
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }

 private:
  void work() {
    while (true) {
      std::shared_ptr<const DeferredKeyedState> state;
      {
        std::unique_lock lock(mutex_);
        woken_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        state = std::move(queue_.back());
        queue_.pop_back();
      }
      uint32_t crc = 0;
      require(state->for_each_group([&](int32_t, std::string_view entries) {
        crc ^= crc32c(entries);
        return Status::ok();
      }));
      checksum_ = checksum_ + crc;
      state.reset();
      cpu_seconds_ = thread_cpu();
      --open_;
    }
  }
  std::mutex mutex_;
  std::condition_variable woken_;
  std::vector<std::shared_ptr<const DeferredKeyedState>> queue_;
  bool stopping_ = false;
  std::atomic<int> open_{0};
  std::atomic<double> cpu_seconds_{0};
  uint32_t checksum_ = 0;
  std::thread thread_;
};

struct Measured {
  std::vector<Seconds> sync;     // of each snapshot
  std::vector<Seconds> longest;  // the longest batch while each was being read out
  double quiet_rows = 0;
  Seconds quiet;
  double busy_rows = 0;
  Seconds busy;
  double reader_cpu = 0;
};

void add(const Stopwatch& watch, Seconds* total) {
  const Seconds one = watch.read();
  total->wall += one.wall;
  total->cpu += one.cpu;
}

Measured measure(Subtask* subtask, int snapshots) {
  Measured out;
  subtask->fill();
  Reader reader;
  for (int n = 0; n < snapshots; ++n) {
    const Stopwatch quiet;
    int64_t rows = subtask->rows();
    for (size_t i = 0; i < subtask->round(); ++i) subtask->step();
    out.quiet_rows += static_cast<double>(subtask->rows() - rows);
    add(quiet, &out.quiet);

    const Stopwatch busy;
    rows = subtask->rows();
    OperatorState state;
    require(subtask->op()->snapshot(&state));
    out.sync.push_back(busy.read());
    for (auto& deferred : state.deferred) reader.post(std::move(deferred));
    Seconds longest;
    while (reader.busy()) {
      const Seconds one = subtask->step();
      longest = {std::max(longest.wall, one.wall), std::max(longest.cpu, one.cpu)};
    }
    out.longest.push_back(longest);
    out.busy_rows += static_cast<double>(subtask->rows() - rows);
    add(busy, &out.busy);
  }
  out.reader_cpu = reader.cpu_seconds();
  return out;
}

double percentile(const std::vector<Seconds>& values, double Seconds::* kind, double share) {
  std::vector<double> sorted;
  for (const Seconds& value : values) sorted.push_back(1e3 * (value.*kind));
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

void print(const char* what, const std::vector<Seconds>& values) {
  std::printf("  %-18s p50 %.2f ms, p99 %.2f ms; of the processor p50 %.2f ms, p99 %.2f ms\n", what,
              percentile(values, &Seconds::wall, 0.5), percentile(values, &Seconds::wall, 0.99),
              percentile(values, &Seconds::cpu, 0.5), percentile(values, &Seconds::cpu, 0.99));
}

void measure_snapshots(const WindowPlanPtr& plan, int64_t keys, int subtasks) {
  constexpr int kSnapshots = 25;
  std::vector<Measured> all(static_cast<size_t>(subtasks));
  std::vector<std::thread> threads;
  for (int i = 0; i < subtasks; ++i) {
    threads.emplace_back([&, i] {
      Subtask subtask(plan, i * (keys / subtasks), keys / subtasks, static_cast<uint32_t>(i));
      all[static_cast<size_t>(i)] = measure(&subtask, kSnapshots);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Seconds> sync;
  std::vector<Seconds> longest;
  Seconds quiet;  // rows per second of the clock and of the processor
  Seconds busy;
  double reader_cpu = 0;
  for (const Measured& one : all) {
    sync.insert(sync.end(), one.sync.begin(), one.sync.end());
    longest.insert(longest.end(), one.longest.begin(), one.longest.end());
    quiet.wall += one.quiet_rows / one.quiet.wall;
    quiet.cpu += one.quiet_rows / one.quiet.cpu;
    busy.wall += one.busy_rows / one.busy.wall;
    busy.cpu += one.busy_rows / one.busy.cpu;
    reader_cpu += one.reader_cpu;
  }
  std::printf(
      "snapshot: %lld keys in all, %d subtask(s), %zu snapshots, each %.2f s of a processor\n",
      static_cast<long long>(keys), subtasks, sync.size(),
      reader_cpu / static_cast<double>(sync.size()));
  print("synchronous part", sync);
  print("longest batch", longest);
  std::printf(
      "  rows/s             %.1f M without, %.1f M during: %.0f %%; a second of the processor: "
      "%.1f M, %.1f M: %.0f %%\n",
      quiet.wall / 1e6, busy.wall / 1e6, 100 * busy.wall / quiet.wall, quiet.cpu / 1e6,
      busy.cpu / 1e6, 100 * busy.cpu / quiet.cpu);
}

// A line of /proc/self/status, in MB.
double resident_mb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == name + ":" && status >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

struct Timed {
  double seconds = 0;
  double more_mb = 0;  // resident memory at its peak, over that before
};

// Until all subtasks have taken their rows and fired.
Timed time_rows(const WindowPlanPtr& plan, int64_t keys, int subtasks, int64_t rows,
                const StateBackendConfigPtr& backend) {
  std::vector<std::unique_ptr<Subtask>> all;
  for (int i = 0; i < subtasks; ++i) {
    all.push_back(std::make_unique<Subtask>(plan, i * (keys / subtasks), keys / subtasks,
                                            static_cast<uint32_t>(i), backend));
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // forget the peak so far
  const double before = resident_mb("VmRSS");
  const Stopwatch watch;
  std::vector<std::thread> threads;
  for (const auto& subtask : all) {
    threads.emplace_back([&] {
      while (subtask->rows() < rows / subtasks) subtask->step();
      if (subtask->fire() == keys / subtasks) return;
      std::fprintf(stderr, "the window has not as many results as there are keys\n");
      std::exit(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return {watch.read().wall, resident_mb("VmHWM") - before};
}

double process_cpu() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

void measure_spill(const WindowPlanPtr& plan, int64_t keys, int subtasks, const std::string& tier,
                   int64_t rows) {
  auto backend = std::make_shared<StateBackendConfig>();
  backend->kind = "rocksdb";
  backend->options["penstock.state.write-back-tier"] = tier;
  std::printf("spill: %lld keys in all, %d subtask(s), %lld M rows, tier %s each\n",
              static_cast<long long>(keys), subtasks, static_cast<long long>(rows / 1'000'000),
              tier.c_str());
  double heap_cpu = 0;
  for (const bool on_heap : {true, false}) {
    const double cpu_before = process_cpu();
    const auto [seconds, mb] = time_rows(plan, keys, subtasks, rows, on_heap ? nullptr : backend);
    const double cpu = process_cpu() - cpu_before;
    if (on_heap) heap_cpu = cpu;
    std::printf(
        "  %-8s %.2f M rows/s; %.2f M in a second of a processor, %.0f %% of the heap's; "
        "%.0f MB more at the peak\n",
        on_heap ? "heap" : "rocksdb", static_cast<double>(rows) / seconds / 1e6,
        static_cast<double>(rows) / cpu / 1e6, 100 * heap_cpu / cpu, mb);
  }
}

int run(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "snapshot";
  const int64_t keys = argc > 2 ? std::atoll(argv[2]) : 5'000'000;
  const int subtasks = argc > 3 ? std::atoi(argv[3]) : 1;
  WindowOptions options;
  options.key_columns = {"key"};
  options.size_ms = 1000;
  options.aggregates = {{AggregateKind::kCountStar, "", "n"},
                        {AggregateKind::kSum, "value", "sum"}};
  auto plan = WindowPlan::bind(
      options, std::make_shared<Schema>(std::vector<FieldPtr>{field("key"), field("value")}));
  require(plan.status());
  if (mode == "snapshot") {
    measure_snapshots(plan.value(), keys, subtasks);
    return 0;
  }
  if (mode == "spill") {
    measure_spill(plan.value(), keys, subtasks, argc > 4 ? argv[4] : "64 mb",
                  argc > 5 ? std::atoll(argv[5]) : 20'000'000);
    return 0;
  }
  std::fprintf(stderr, "unknown mode %s\n", mode.c_str());
  return 2;
}

}  // namespace
}  // namespace penstock::window

int main(int argc, char** argv) { return penstock::window::run(argc, argv); }
