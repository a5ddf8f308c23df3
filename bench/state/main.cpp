// Benchmarks of state without Python: `state_bench <workload> [--rows n] [--keys n] [--threads n]
// [--backend hashmap|rocksdb]` prints one line of JSON. bench/state.py runs them and checks answers.
//
//   hand-written     batches of 8192: hash the keys, probe one flat table of {key, slice, count, sum}
//   unordered-map    count and sum in a std::unordered_map
//   window           the sliced window operator's count and sum
//   value-state      get and put of {count, sum} in a backend's value state
//   memory           bytes per key: window operator and value state, on the heap
//   snapshots        the synchronous part of snapshots, and the speed while one is being read out
//   incremental      what a snapshot ships when one key in a hundred has changed
//   rescale          RocksDB state at parallelism 2, 3, 1, 4: by files, from a savepoint, key by key
#include <cstring>
#include <map>

#include "bench/state/bench.h"

namespace penstock::bench {

void measure_rows(const Options& options, const std::function<void(int, Rows*)>& work,
                  const std::function<uint64_t(int)>& digest) {
  std::vector<Rows> rows(static_cast<size_t>(options.threads));
  on_threads(options.threads, [&](int thread) {
    rows[static_cast<size_t>(thread)] = rows_of_thread(options, thread);
  });
  const Stopwatch watch;
  on_threads(options.threads,
             [&](int thread) { work(thread, &rows[static_cast<size_t>(thread)]); });
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  uint64_t sum = 0;
  for (int thread = 0; thread < options.threads; ++thread) sum += digest(thread);
  Report()
      .add("rows", options.rows)
      .add("keys", options.keys)
      .add("seconds", wall)
      .add("cpu_seconds", cpu)
      .add("digest", sum)
      .print();
}

namespace {

int run(int argc, char** argv) {
  const std::map<std::string, void (*)(const Options&)> workloads = {
      {"hand-written", run_hand_written}, {"unordered-map", run_unordered_map},
      {"window", run_window_operator},    {"value-state", run_value_state},
      {"memory", run_memory_per_key},     {"snapshots", run_snapshots},
      {"incremental", run_incremental},   {"rescale", run_rescale}};
  const auto workload = workloads.find(argc > 1 ? argv[1] : "");
  Options options;
  options.rows = 1'000'000;
  options.keys = 10'000;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--rows") options.rows = std::atoll(argv[i + 1]);
    if (name == "--keys") options.keys = std::atoll(argv[i + 1]);
    if (name == "--threads") options.threads = std::atoi(argv[i + 1]);
    if (name == "--backend") options.backend = argv[i + 1];
  }
  if (workload == workloads.end() || options.rows < 1 || options.keys < 1 || options.threads < 1) {
    std::fprintf(stderr, "state_bench: see the head of bench/state/main.cpp\n");
    return 2;
  }
  workload->second(options);
  return 0;
}

}  // namespace
}  // namespace penstock::bench

int main(int argc, char** argv) { return penstock::bench::run(argc, argv); }
