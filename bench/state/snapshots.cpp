// What a snapshot costs: memory per key, the synchronous part, the speed meanwhile, what is shipped.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>

#include "bench/state/keyed_backend.h"
#include "bench/state/window_operator.h"
#include "snapshot/crc32c.h"

namespace penstock::bench {

namespace {

double resident_bytes() {
  malloc_trim(0);
  long size = 0;
  long resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &size, &resident) != 2) std::exit(1);
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

// Reads out what a snapshot handed over, as the thread does that writes checkpoints.
class Reader {
 public:
  explicit Reader(OperatorState* state) : state_(state), thread_([this] { read(); }) {}
  ~Reader() { thread_.join(); }
  [[nodiscard]] bool busy() const { return !done_.load(std::memory_order_acquire); }

 private:
  void read() {
    uint32_t crc = 0;
    for (const auto& deferred : state_->deferred) {
      require(deferred->for_each_group([&](int32_t, std::string_view entries) {
        crc = crc32c(entries, crc);
        return Status::ok();
      }));
    }
    for (NativeState& native : state_->native) require(native.complete());
    checksum = crc;
    done_.store(true, std::memory_order_release);
  }
  OperatorState* state_;
  std::atomic<bool> done_{false};
  std::thread thread_;

 public:
  uint32_t checksum = 0;
};

// Speeds: rows over seconds by the clock and of this thread's processor time.
struct Speed {
  double rows = 0;
  double wall = 0;
  double cpu = 0;
};

// Keys at random, for ever.
class Load {
 public:
  Load(KeyedSubtask* subtask, int64_t keys)
      : subtask_(subtask), num_keys_(keys), keys_(kBatchRows), values_(kBatchRows, 1) {}
  void step(Speed* speed) {
    for (int64_t& key : keys_) key = key_of_row(row_++, num_keys_);
    const Stopwatch watch(CLOCK_THREAD_CPUTIME_ID);
    subtask_->add(keys_.data(), values_.data(), kBatchRows);
    speed->rows += static_cast<double>(kBatchRows);
    speed->wall += watch.wall();
    speed->cpu += watch.cpu();
  }

 private:
  KeyedSubtask* subtask_;
  int64_t num_keys_;
  int64_t row_ = 0;
  std::vector<int64_t> keys_;
  std::vector<int64_t> values_;
};

// Bytes of files, and of those among them that `known` has not.
std::pair<double, double> bytes_of(const OperatorState& state, std::set<std::string>* known) {
  double all = 0;
  double fresh = 0;
  for (const NativeState& native : state.native) {
    for (const StateFile& file : native.files) {
      all += static_cast<double>(file.size);
      const bool shared = !file.content_id.empty() && known->contains(file.content_id);
      if (!shared) fresh += static_cast<double>(file.size);
    }
    for (const StateFile& file : native.files) known->insert(file.content_id);
  }
  return {all, fresh};
}

}  // namespace

void run_memory_per_key(const Options& options) {
  Report report;
  const auto keys = static_cast<double>(options.keys);
  report.add("keys", options.keys);
  {
    const double before = resident_bytes();
    WindowSubtask subtask;
    for (int64_t from = 0; from < options.keys; from += kBatchRows) {
      std::vector<int64_t> batch(static_cast<size_t>(std::min(kBatchRows, options.keys - from)));
      std::iota(batch.begin(), batch.end(), from);
      subtask.add(batch, batch);
    }
    report.add("window_bytes", (resident_bytes() - before) / keys);
  }
  const double before = resident_bytes();
  KeyedSubtask subtask("hashmap");
  subtask.add_range(0, options.keys);
  report.add("value_state_bytes", (resident_bytes() - before) / keys).print();
}

void run_snapshots(const Options& options) {
  constexpr int kSnapshots = 30;
  KeyedSubtask subtask(options.backend);
  subtask.add_range(0, options.keys);
  Load load(&subtask, options.keys);
  Speed quiet;
  Speed busy;
  Speed warm_up;
  for (int i = 0; i < 50; ++i) load.step(&warm_up);
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int i = 0; i < kSnapshots; ++i) {
    for (int batch = 0; batch < 40; ++batch) load.step(&quiet);
    OperatorState state;
    state.request.id = CheckpointId(i + 1);
    const Stopwatch watch(CLOCK_THREAD_CPUTIME_ID);
    require(subtask.backend()->snapshot(state.request, &state));
    wall.push_back(watch.wall());
    cpu.push_back(watch.cpu());
    const Reader reader(&state);
    do {
      load.step(&busy);
    } while (reader.busy());
  }
  Report()
      .add("keys", options.keys)
      .add("sync_p50_ms", 1e3 * percentile(wall, 0.5))
      .add("sync_p99_ms", 1e3 * percentile(wall, 0.99))
      .add("sync_cpu_p99_ms", 1e3 * percentile(cpu, 0.99))
      .add("quiet_rows_per_second", quiet.rows / quiet.wall)
      .add("busy_rows_per_second", busy.rows / busy.wall)
      .add("quiet_rows_per_cpu_second", quiet.rows / quiet.cpu)
      .add("busy_rows_per_cpu_second", busy.rows / busy.cpu)
      .print();
}

void run_incremental(const Options& options) {
  KeyedSubtask subtask("rocksdb");
  subtask.add_range(0, options.keys);
  std::set<std::string> known;
  const auto first = bytes_of(subtask.snapshot(false), &known);
  Speed speed;
  std::vector<int64_t> keys;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < options.keys / 100; ++i) {
    keys.push_back(key_of_row(i, options.keys));
    values.push_back(1);
  }
  subtask.add({keys, values});
  const auto second = bytes_of(subtask.snapshot(false), &known);
  Report()
      .add("keys", options.keys)
      .add("full_bytes", first.first)
      .add("second_bytes", second.first)
      .add("shipped_bytes", second.second)
      .add("digest", subtask.digest())
      .print();
}

}  // namespace penstock::bench
