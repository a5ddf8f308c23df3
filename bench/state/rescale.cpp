// RocksDB state that goes from parallelism 2 to 3, 1 and 4, three ways: by the files of a checkpoint,
// from a savepoint, and read and put key by key.
#include "bench/state/keyed_backend.h"
#include "record/key_encoding.h"

namespace penstock::bench {

namespace {

using Subtasks = std::vector<KeyedSubtask>;

uint64_t digest_of_all(Subtasks* subtasks) {
  uint64_t sum = 0;
  for (KeyedSubtask& subtask : *subtasks) sum += subtask.digest();
  return sum;
}

std::vector<OperatorState> snapshots_of(Subtasks* subtasks, bool canonical) {
  std::vector<OperatorState> states;
  for (KeyedSubtask& subtask : *subtasks) states.push_back(subtask.snapshot(canonical));
  return states;
}

// Each key goes to its subtask. Keys are dealt out by key group, never by their number.
void deal(std::string_view key, std::string_view value, Subtasks* to) {
  const int32_t group = key_group_of(murmur3_32(key.data(), key.size()), kMaxParallelism);
  const auto parallelism = static_cast<int32_t>(to->size());
  const int32_t target = subtask_of_key_group(group, kMaxParallelism, parallelism);
  (*to)[static_cast<size_t>(target)].put(key, value);
}

Subtasks make_two(int64_t keys) {
  Subtasks subtasks;
  for (int32_t i = 0; i < 2; ++i) subtasks.emplace_back("rocksdb", i, 2);
  for (int64_t number = 0; number < keys; ++number) {
    std::string key;
    encode_int64(number, &key);
    const CountSum value{number, value_of_row(number)};
    deal(key, {reinterpret_cast<const char*>(&value), sizeof(value)}, &subtasks);
  }
  return subtasks;
}

Subtasks restored(const std::vector<OperatorState>& states, int32_t parallelism) {
  Subtasks subtasks;
  for (int32_t i = 0; i < parallelism; ++i) {
    const OperatorState mine = require(reassign(states, i, parallelism, kMaxParallelism));
    subtasks.emplace_back("rocksdb", i, parallelism, &mine);
  }
  return subtasks;
}

Subtasks copied(Subtasks* from, int32_t parallelism) {
  Subtasks subtasks;
  for (int32_t i = 0; i < parallelism; ++i) subtasks.emplace_back("rocksdb", i, parallelism);
  for (KeyedSubtask& one : *from) {
    require(
        one.table()->for_each([&](std::string_view key, std::string_view, std::string_view value) {
          deal(key, value, &subtasks);
          return Status::ok();
        }));
  }
  return subtasks;
}

enum class Way { kFiles, kSavepoint, kKeyByKey };

// Seconds from there being a checkpoint, savepoint or backend to the last subtask being ready.
double rescale(Way way, const Options& options, uint64_t expected) {
  Subtasks subtasks = make_two(options.keys);
  double seconds = 0;
  for (const int32_t parallelism : {3, 1, 4}) {
    Subtasks next;
    if (way == Way::kKeyByKey) {
      const Stopwatch watch;
      next = copied(&subtasks, parallelism);
      seconds += watch.wall();
    } else {
      const auto states = snapshots_of(&subtasks, way == Way::kSavepoint);
      const Stopwatch watch;
      next = restored(states, parallelism);
      seconds += watch.wall();
    }
    if (digest_of_all(&next) != expected) {
      require(Status::internal("rescaled state is not what it was"));
    }
    subtasks = std::move(next);
  }
  return seconds;
}

}  // namespace

void run_rescale(const Options& options) {
  uint64_t expected = 0;
  for (int64_t number = 0; number < options.keys; ++number) {
    expected += digest_of(number, {number, value_of_row(number)});
  }
  Report()
      .add("keys", options.keys)
      .add("files_seconds", rescale(Way::kFiles, options, expected))
      .add("savepoint_seconds", rescale(Way::kSavepoint, options, expected))
      .add("key_by_key_seconds", rescale(Way::kKeyByKey, options, expected))
      .print();
}

}  // namespace penstock::bench
