// RocksSettings: the state.backend.rocksdb.* options of a job, read and checked, and what they mean
// for RocksDB.
//
// A value comes from the job's options, else from the predefined set that
// `state.backend.rocksdb.predefined-options` names, else it is Flink's default; but filters are used
// unless they are switched off.
//
// Thread safety: immutable after parsing.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>
#include <rocksdb/write_buffer_manager.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/status.h"
#include "state/state_backend_config.h"

namespace penstock {

struct RocksSettings {
  // Where databases live; empty: the system's folder for temporary files.
  std::string local_dir;
  bool heap_timers = false;  // timers in memory although values are in RocksDB
  size_t tier_bytes = 0;     // write-back tier, of one backend

  // DB options
  int background_jobs = 2;
  int open_files = -1;
  rocksdb::InfoLogLevel log_level = rocksdb::INFO_LEVEL;

  // Column family options
  rocksdb::CompactionStyle compaction_style = rocksdb::kCompactionStyleLevel;
  bool dynamic_level_size = false;
  uint64_t target_file_size = 0;
  uint64_t max_level_base = 0;
  uint64_t write_buffer_size = 0;
  int write_buffer_count = 2;
  int write_buffers_to_merge = 1;

  // Table options
  uint64_t block_size = 0;
  uint64_t metadata_block_size = 0;
  uint64_t block_cache_size = 0;  // of a column family, where no budget is shared
  bool bloom_filter = true;
  double bloom_bits = 10.0;
  bool bloom_block_based = false;

  // Memory
  bool managed = true;
  std::optional<uint64_t> fixed_per_slot;
  std::optional<uint64_t> fixed_per_process;
  uint64_t managed_bytes = 0;
  double write_buffer_ratio = 0.5;
  double high_prio_ratio = 0.1;
  bool partitioned_filters = false;

  // Latency tracking: every so many accesses one is timed; 0: none.
  int64_t latency_sample_interval = 0;

  // kInvalidArgument naming key, value and what is allowed. Null: all defaults.
  static Result<RocksSettings> parse(const StateBackendConfig* config);
};

// What several backends share, so that together they stay within one budget. Empty pointers: every
// column family has memory of its own.
struct RocksMemory {
  std::shared_ptr<rocksdb::Cache> cache;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  StateBackendConfigPtr config;  // keeps the address unique that the memory is found by
  [[nodiscard]] bool shared() const { return cache != nullptr; }
};

// The memory of the backends of one config in this process; with fixed-per-slot of one subtask
// index of it, as in Flink, where the operators of a slot share. Lives as long as somebody has it.
// Any thread.
std::shared_ptr<RocksMemory> shared_rocks_memory(const StateBackendConfigPtr& config,
                                                 const RocksSettings& settings, int32_t subtask);

// Flink's arithmetic (RocksDBMemoryControllerUtils): write buffers may overshoot by a half, so the
// cache that accounts for them is made smaller than the budget, and the limit smaller still.
uint64_t cache_capacity(uint64_t total, double write_buffer_ratio);
uint64_t write_buffer_capacity(uint64_t total, double write_buffer_ratio);

rocksdb::DBOptions make_db_options(const RocksSettings& settings, const RocksMemory& memory);
rocksdb::ColumnFamilyOptions make_family_options(const RocksSettings& settings,
                                                 const RocksMemory& memory);

}  // namespace penstock
