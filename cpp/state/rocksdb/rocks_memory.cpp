// RocksSettings in RocksDB's own words, and the memory that backends share.

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <map>
#include <mutex>
#include <utility>

#include "state/rocksdb/rocks_settings.h"

namespace penstock {

namespace {

std::shared_ptr<RocksMemory> make_memory(const StateBackendConfigPtr& config,
                                         const RocksSettings& settings, uint64_t total) {
  auto memory = std::make_shared<RocksMemory>();
  memory->config = config;
  if (total == 0) return memory;
  const double ratio = settings.write_buffer_ratio;
  memory->cache =
      rocksdb::NewLRUCache(cache_capacity(total, ratio), -1, false, settings.high_prio_ratio);
  memory->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(
      write_buffer_capacity(total, ratio), memory->cache);
  return memory;
}

// Of the budget that applies; 0: none, every column family by itself. In Flink's order.
uint64_t budget_of(const RocksSettings& settings) {
  if (settings.fixed_per_slot) return *settings.fixed_per_slot;
  // `managed` is true unless somebody says otherwise, so a figure of one's own goes first.
  if (settings.fixed_per_process) return *settings.fixed_per_process;
  return settings.managed ? settings.managed_bytes : 0;
}

}  // namespace

std::shared_ptr<RocksMemory> shared_rocks_memory(const StateBackendConfigPtr& config,
                                                 const RocksSettings& settings, int32_t subtask) {
  using Owner = std::pair<const StateBackendConfig*, int32_t>;
  static std::mutex mutex;
  static std::map<Owner, std::weak_ptr<RocksMemory>> known;

  const Owner owner{config.get(), settings.fixed_per_slot ? subtask : -1};
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  if (std::shared_ptr<RocksMemory> found = known[owner].lock()) return found;
  std::shared_ptr<RocksMemory> made = make_memory(config, settings, budget_of(settings));
  known[owner] = made;
  return made;
}

uint64_t cache_capacity(uint64_t total, double write_buffer_ratio) {
  return static_cast<uint64_t>((3.0 - write_buffer_ratio) * static_cast<double>(total) / 3.0);
}

uint64_t write_buffer_capacity(uint64_t total, double write_buffer_ratio) {
  return static_cast<uint64_t>(2.0 * static_cast<double>(total) * write_buffer_ratio / 3.0);
}

rocksdb::DBOptions make_db_options(const RocksSettings& settings, const RocksMemory& memory) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  options.max_background_jobs = settings.background_jobs;
  options.max_open_files = settings.open_files;
  options.info_log_level = settings.log_level;
  options.stats_dump_period_sec = 0;
  options.keep_log_file_num = 4;
  options.max_log_file_size = size_t{25} << 20;
  // A checkpoint makes what it keeps durable itself; these files die with the process.
  options.avoid_flush_during_shutdown = true;
  // Several column families are cut at one point: a barrier.
  options.atomic_flush = false;
  if (memory.shared()) options.write_buffer_manager = memory.write_buffers;
  return options;
}

rocksdb::ColumnFamilyOptions make_family_options(const RocksSettings& settings,
                                                 const RocksMemory& memory) {
  rocksdb::BlockBasedTableOptions table;
  table.block_size = settings.block_size;
  table.metadata_block_size = settings.metadata_block_size;
  if (settings.bloom_filter || (memory.shared() && settings.partitioned_filters)) {
    table.filter_policy.reset(
        rocksdb::NewBloomFilterPolicy(settings.bloom_bits, settings.bloom_block_based));
  }
  if (memory.shared()) {
    table.block_cache = memory.cache;
    table.cache_index_and_filter_blocks = true;
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    if (settings.partitioned_filters) {
      table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
      table.partition_filters = true;
      table.pin_top_level_index_and_filter = true;
    }
  } else {
    table.block_cache = rocksdb::NewLRUCache(settings.block_cache_size);
  }

  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compaction_style = settings.compaction_style;
  // What goes down comes as sorted runs over the whole range of keys, so every compaction out of level
  // 0 writes all there is anew, and the next checkpoint ships all of it. With RocksDB's 4, 5 M keys of
  // which 1 % change between checkpoints were shipped whole with every fourth; to read from more
  // files costs little where filters say which ones.
  options.level0_file_num_compaction_trigger = 16;
  options.level0_slowdown_writes_trigger = 40;
  options.level0_stop_writes_trigger = 64;
  options.level_compaction_dynamic_level_bytes = settings.dynamic_level_size;
  options.target_file_size_base = settings.target_file_size;
  options.max_bytes_for_level_base = settings.max_level_base;
  options.write_buffer_size = settings.write_buffer_size;
  options.max_write_buffer_number = settings.write_buffer_count;
  options.min_write_buffer_number_to_merge = settings.write_buffers_to_merge;
  return options;
}

}  // namespace penstock
