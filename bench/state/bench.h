// What the benchmarks of state share: rows that anybody can make again, clocks, answers, output.
//
// Row i has the key mix(i) % keys and the value mix(i + 2^40) % 2001 - 1000. The answer to "count and
// sum per key" becomes one number, its digest: the sum over all keys of what digest_of() gives.
// bench/state.py makes rows and digest with numpy, by itself.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/status.h"

namespace penstock::bench {

inline constexpr int64_t kBatchRows = 8192;

constexpr uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

struct Options {
  int64_t rows = 0;
  int64_t keys = 0;
  int threads = 2;
  std::string backend = "hashmap";
};

inline int64_t key_of_row(int64_t row, int64_t keys) {
  return static_cast<int64_t>(mix(static_cast<uint64_t>(row)) % static_cast<uint64_t>(keys));
}
inline int64_t value_of_row(int64_t row) {
  return static_cast<int64_t>(mix(static_cast<uint64_t>(row) + (1ULL << 40)) % 2001) - 1000;
}

// An aggregate of one key, also as it is stored.
struct CountSum {
  int64_t count = 0;
  int64_t sum = 0;
};

inline uint64_t digest_of(int64_t key, CountSum value) {
  return mix(mix(mix(static_cast<uint64_t>(key)) + static_cast<uint64_t>(value.count)) +
             static_cast<uint64_t>(value.sum));
}

// The rows that a thread gets: those of its keys, as behind an exchange by key.
struct Rows {
  std::vector<int64_t> keys;
  std::vector<int64_t> values;
};

inline Rows rows_of_thread(const Options& options, int thread) {
  Rows rows;
  const auto share = static_cast<size_t>(options.rows / options.threads);
  rows.keys.reserve(share + share / 8);
  rows.values.reserve(share + share / 8);
  for (int64_t row = 0; row < options.rows; ++row) {
    const int64_t key = key_of_row(row, options.keys);
    if (key % options.threads != thread) continue;
    rows.keys.push_back(key);
    rows.values.push_back(value_of_row(row));
  }
  return rows;
}

inline double clock_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// By the clock, and of a processor: for this thread alone, or all of them.
class Stopwatch {
 public:
  explicit Stopwatch(clockid_t cpu = CLOCK_PROCESS_CPUTIME_ID)
      : cpu_clock_(cpu), wall_(clock_seconds(CLOCK_MONOTONIC)), cpu_(clock_seconds(cpu)) {}
  [[nodiscard]] double wall() const { return clock_seconds(CLOCK_MONOTONIC) - wall_; }
  [[nodiscard]] double cpu() const { return clock_seconds(cpu_clock_) - cpu_; }

 private:
  clockid_t cpu_clock_;
  double wall_;
  double cpu_;
};

inline void require(const Status& status) {
  if (status.is_ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}
template <typename T>
T require(Result<T> result) {
  require(result.status());
  return std::move(result).value();
}

// One line of JSON: names and numbers.
class Report {
 public:
  Report& add(const char* name, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.9g", value);
    return add_text(name, text);
  }
  Report& add(const char* name, int64_t value) { return add_text(name, std::to_string(value)); }
  // As text: JSON's numbers have no 64 bits everywhere.
  Report& add(const char* name, uint64_t value) {
    return add_text(name, "\"" + std::to_string(value) + "\"");
  }
  void print() const { std::printf("{%s}\n", text_.c_str()); }

 private:
  Report& add_text(const char* name, const std::string& value) {
    text_ += (text_.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
    return *this;
  }
  std::string text_;
};

// Runs `work(thread)` on so many threads.
inline void on_threads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(work, i);
  for (std::thread& thread : running) thread.join();
}

// Makes the rows of all threads, then runs `work` on them with the clock running, then asks each
// thread for its part of the digest.
void measure_rows(const Options& options, const std::function<void(int, Rows*)>& work,
                  const std::function<uint64_t(int)>& digest);

void run_hand_written(const Options& options);
void run_unordered_map(const Options& options);
void run_window_operator(const Options& options);
void run_value_state(const Options& options);
void run_memory_per_key(const Options& options);
void run_snapshots(const Options& options);
void run_incremental(const Options& options);
void run_rescale(const Options& options);

}  // namespace penstock::bench
