#include "bench/state/keyed_backend.h"

#include <cstring>
#include <numeric>

#include "record/key_bytes.h"
#include "record/key_encoding.h"

namespace penstock::bench {

namespace {

// One per process: backends of one config share the memory of RocksDB.
StateBackendConfigPtr config_of(const std::string& kind) {
  static const auto make = [](const char* name) {
    auto config = std::make_shared<StateBackendConfig>();
    config->kind = name;
    return config;
  };
  static const StateBackendConfigPtr heap = make("hashmap");
  static const StateBackendConfigPtr rocks = make("rocksdb");
  return kind == "rocksdb" ? rocks : heap;
}

const Clock* the_clock() {
  static const SystemClock clock;
  return &clock;
}

int64_t next_checkpoint() {
  static int64_t last = 0;
  return ++last;
}

}  // namespace

KeyedSubtask::KeyedSubtask(const std::string& kind, int32_t subtask, int32_t parallelism,
                           const OperatorState* restored) {
  BackendContext context;
  context.operator_name = "Bench";
  context.uid = "bench";
  context.subtask = subtask;
  context.max_parallelism = kMaxParallelism;
  context.key_groups = key_group_range(subtask, kMaxParallelism, parallelism);
  context.clock = the_clock();
  context.config = config_of(kind);
  backend_ = require(make_keyed_state_backend(context));
  if (restored != nullptr) require(backend_->restore(*restored));
  StateDescriptor descriptor;
  descriptor.name = "count-and-sum";
  descriptor.value_type = "TUPLE<LONG, LONG>";
  table_ = require(backend_->value_table(descriptor));
}

KeyedSubtask::~KeyedSubtask() {
  if (backend_ != nullptr) require(backend_->close());
}

void KeyedSubtask::add(const int64_t* keys, const int64_t* values, int64_t rows) {
  Column column;  // borrows for this call
  column.type = int64();
  column.length = rows;
  column.null_count = 0;
  column.values = Buffer{nullptr, reinterpret_cast<const uint8_t*>(keys)};
  const EncodedKeys encoded = require(encode_keys({column}, rows));
  require(backend_->prepare(encoded));
  for (int64_t i = 0; i < rows; ++i) {
    const EntryKey entry{encoded.bytes.bytes_at(i), encoded.hashes[static_cast<size_t>(i)], {}};
    const auto stored = table_->get(entry);
    require(stored.status());
    CountSum value;
    if (stored.value()) std::memcpy(&value, stored.value()->data(), sizeof(value));
    ++value.count;
    value.sum += values[i];
    require(table_->put(entry, {reinterpret_cast<const char*>(&value), sizeof(value)}));
  }
}

void KeyedSubtask::add(const Rows& rows) {
  const auto all = static_cast<int64_t>(rows.keys.size());
  for (int64_t from = 0; from < all; from += kBatchRows) {
    add(rows.keys.data() + from, rows.values.data() + from, std::min(kBatchRows, all - from));
  }
}

void KeyedSubtask::add_range(int64_t from, int64_t to) {
  std::vector<int64_t> keys(static_cast<size_t>(kBatchRows));
  std::vector<int64_t> values(static_cast<size_t>(kBatchRows));
  for (; from < to; from += kBatchRows) {
    std::iota(keys.begin(), keys.end(), from);
    for (size_t i = 0; i < keys.size(); ++i) values[i] = value_of_row(keys[i]);
    add(keys.data(), values.data(), std::min(kBatchRows, to - from));
  }
}

void KeyedSubtask::put(std::string_view key, std::string_view value) {
  require(table_->put({key, murmur3_32(key.data(), key.size()), {}}, value));
}

uint64_t KeyedSubtask::digest() {
  uint64_t sum = 0;
  require(table_->for_each([&](std::string_view key, std::string_view, std::string_view bytes) {
    KeyReader reader(key);
    KeyTag tag{};
    int64_t number = 0;
    CountSum value;
    if (!reader.read_tag(&tag) || !reader.read_i64(&number) || bytes.size() != sizeof(value)) {
      return Status::corruption("a stored key or value is not what was put");
    }
    std::memcpy(&value, bytes.data(), sizeof(value));
    sum += digest_of(number, value);
    return Status::ok();
  }));
  return sum;
}

OperatorState KeyedSubtask::snapshot(bool canonical) {
  OperatorState state;
  state.request = {CheckpointId(next_checkpoint()), canonical};
  require(backend_->snapshot(state.request, &state));
  require(state.materialise());
  return state;
}

void run_value_state(const Options& options) {
  std::vector<KeyedSubtask> subtasks;
  for (int i = 0; i < options.threads; ++i) subtasks.emplace_back(options.backend);
  measure_rows(
      options, [&](int thread, Rows* rows) { subtasks[static_cast<size_t>(thread)].add(*rows); },
      [&](int thread) { return subtasks[static_cast<size_t>(thread)].digest(); });
}

}  // namespace penstock::bench
