#include "state/rocksdb/rocks_settings.h"

#include <fstream>
#include <string>
#include <vector>

#include "state/rocksdb/rocks_test_util.h"

namespace penstock {
namespace {

std::string key_of(const std::string& name) { return "state.backend.rocksdb." + name; }

class RocksSettingsTest : public RocksTest {
 protected:
  // The newest OPTIONS file that RocksDB has written: section -> key -> value.
  std::map<std::string, std::map<std::string, std::string>> options_file(Options options) {
    auto backend = make(std::move(options));
    must(backend->value_table(described(StateKind::kValue, "v")));
    std::string newest;
    const std::string path = backend->store()->setup().directory->database_path();
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("OPTIONS-", 0) == 0 && name > newest) newest = name;
    }
    std::map<std::string, std::map<std::string, std::string>> sections;
    std::ifstream file(path + "/" + newest);
    std::string section;
    for (std::string line; std::getline(file, line);) {
      const size_t begin = line.find_first_not_of(' ');
      if (begin == std::string::npos) continue;
      if (line[begin] == '[') section = line.substr(begin);
      const size_t equals = line.find('=');
      if (equals != std::string::npos) {
        sections[section][line.substr(begin, equals - begin)] = line.substr(equals + 1);
      }
    }
    return sections;
  }

  std::string refusal(const std::string& key, const std::string& value) {
    const auto made = make_rocksdb_backend(context({{key, value}}));
    EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument) << key << "=" << value;
    return made.status().message();
  }
};

constexpr const char* kDb = "[DBOptions]";
constexpr const char* kFamily = "[CFOptions \"state/v\"]";
constexpr const char* kTable = "[TableOptions/BlockBasedTable \"state/v\"]";

TEST_F(RocksSettingsTest, EachOptionReachesRocksDb) {
  struct Case {
    std::string option;
    std::string value;
    std::string section;
    std::string name;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"thread.num", "3", kDb, "max_background_jobs", "3"},
      {"files.open", "77", kDb, "max_open_files", "77"},
      {"log.level", "warn_level", kDb, "info_log_level", "WARN_LEVEL"},
      {"compaction.style", "universal", kFamily, "compaction_style", "kCompactionStyleUniversal"},
      {"compaction.level.use-dynamic-size", "true", kFamily, "level_compaction_dynamic_level_bytes",
       "true"},
      {"compaction.level.target-file-size-base", "5 mb", kFamily, "target_file_size_base",
       "5242880"},
      {"compaction.level.max-size-level-base", "1gb", kFamily, "max_bytes_for_level_base",
       "1073741824"},
      {"writebuffer.size", "3mb", kFamily, "write_buffer_size", "3145728"},
      {"writebuffer.count", "5", kFamily, "max_write_buffer_number", "5"},
      {"block.blocksize", "16kb", kTable, "block_size", "16384"},
      {"block.metadata-blocksize", "8192", kTable, "metadata_block_size", "8192"},
      {"use-bloom-filter", "false", kTable, "filter_policy", "nullptr"},
      {"memory.partitioned-index-filters", "true", kTable, "partition_filters", "true"},
      {"memory.partitioned-index-filters", "TRUE", kTable, "index_type", "kTwoLevelIndexSearch"},
  };
  for (const Case& one : cases) {
    auto file = options_file({{key_of(one.option), one.value}});
    EXPECT_EQ(file[one.section][one.name], one.expected) << one.option;
    // And it does not without the option.
    auto other = options_file({});
    EXPECT_NE(other[one.section][one.name], one.expected) << one.option;
  }
  // RocksDB caps it by the number of buffers.
  auto merged = options_file(
      {{key_of("writebuffer.count"), "4"}, {key_of("writebuffer.number-to-merge"), "3"}});
  EXPECT_EQ(merged[kFamily]["min_write_buffer_number_to_merge"], "3");
  auto bits = options_file({{key_of("use-bloom-filter"), "true"},
                            {key_of("bloom-filter.bits-per-key"), "12.5"},
                            {key_of("bloom-filter.block-based-mode"), "true"}});
  EXPECT_EQ(bits[kTable]["filter_policy"].rfind("bloomfilter:12.5", 0), 0U)
      << bits[kTable]["filter_policy"];
}

TEST_F(RocksSettingsTest, PredefinedSetsAreThoseOfFlinkAndOptionsGoBeforeThem) {
  auto plain = options_file({{key_of("predefined-options"), "DEFAULT"}});
  EXPECT_EQ(plain[kDb]["max_background_jobs"], "2");
  EXPECT_EQ(plain[kFamily]["write_buffer_size"], "67108864");
  EXPECT_EQ(plain[kFamily]["max_write_buffer_number"], "2");
  EXPECT_EQ(plain[kFamily]["target_file_size_base"], "67108864");
  EXPECT_EQ(plain[kFamily]["max_bytes_for_level_base"], "268435456");
  EXPECT_EQ(plain[kTable]["block_size"], "4096");
  EXPECT_EQ(plain[kTable]["filter_policy"], "bloomfilter:10:false");

  auto spinning = options_file({{key_of("predefined-options"), "SPINNING_DISK_OPTIMIZED"}});
  EXPECT_EQ(spinning[kDb]["max_background_jobs"], "4");
  EXPECT_EQ(spinning[kDb]["max_open_files"], "-1");
  EXPECT_EQ(spinning[kFamily]["level_compaction_dynamic_level_bytes"], "true");
  EXPECT_EQ(spinning[kFamily]["compaction_style"], "kCompactionStyleLevel");
  EXPECT_EQ(spinning[kTable]["filter_policy"], "bloomfilter:10:false");

  auto memory = options_file({{key_of("predefined-options"), "spinning_disk_optimized_high_mem"},
                              {key_of("writebuffer.count"), "6"}});
  EXPECT_EQ(memory[kDb]["max_background_jobs"], "4");
  EXPECT_EQ(memory[kFamily]["target_file_size_base"], "268435456");
  EXPECT_EQ(memory[kFamily]["max_bytes_for_level_base"], "1073741824");
  EXPECT_EQ(memory[kFamily]["min_write_buffer_number_to_merge"], "3");
  EXPECT_EQ(memory[kFamily]["max_write_buffer_number"], "6");
  EXPECT_EQ(memory[kTable]["block_size"], "131072");
  EXPECT_EQ(memory[kTable]["filter_policy"], "bloomfilter:10:false");

  auto flash = options_file({{key_of("predefined-options"), "FLASH_SSD_OPTIMIZED"}});
  EXPECT_EQ(flash[kDb]["max_background_jobs"], "4");
  EXPECT_EQ(flash[kFamily]["level_compaction_dynamic_level_bytes"], "false");
}

TEST_F(RocksSettingsTest, ABackendWithoutBudgetHasACacheOfTheSizeAskedFor) {
  const Options unmanaged = {{key_of("memory.managed"), "false"},
                             {key_of("block.cache-size"), "3mb"}};
  auto backend = make(unmanaged);
  must(backend->value_table(described(StateKind::kValue, "v")));
  EXPECT_EQ(backend->metrics().at("rocksdb.block-cache-capacity.v"), 3 << 20);
}

TEST_F(RocksSettingsTest, BackendsOfOneConfigShareOneBudget) {
  const BackendContext shared = context({{key_of("memory.fixed-per-tm"), "30mb"}});
  BackendContext second = shared;
  second.subtask = 1;
  auto one = make(shared);
  auto two = make(second);
  auto other = make(context({{key_of("memory.fixed-per-tm"), "30mb"}}));
  for (auto* backend : {one.get(), two.get(), other.get()}) {
    must(backend->value_table(described(StateKind::kValue, "v")));
    // (3 - 0.5) / 3 of it.
    EXPECT_EQ(backend->metrics().at("rocksdb.block-cache-capacity.v"), 25 << 20);
  }
  EXPECT_EQ(one->store()->setup().memory, two->store()->setup().memory);
  EXPECT_NE(one->store()->setup().memory, other->store()->setup().memory);
  EXPECT_EQ(one->store()->setup().memory->write_buffers->buffer_size(), size_t{10} << 20);
}

TEST_F(RocksSettingsTest, ASlotsBudgetIsSharedByTheOperatorsOfOneSubtask) {
  const BackendContext first = context({{key_of("memory.fixed-per-slot"), "12mb"},
                                        {key_of("memory.fixed-per-tm"), "30mb"},
                                        {key_of("memory.write-buffer-ratio"), "0.25"}});
  BackendContext second = first;
  second.subtask = 1;
  auto one = make(first);
  auto same_slot = make(first);
  auto other_slot = make(second);
  for (auto* backend : {one.get(), same_slot.get(), other_slot.get()}) {
    must(backend->value_table(described(StateKind::kValue, "v")));
    EXPECT_EQ(backend->metrics().at("rocksdb.block-cache-capacity.v"), 11 << 20);
  }
  EXPECT_EQ(one->store()->setup().memory, same_slot->store()->setup().memory);
  EXPECT_NE(one->store()->setup().memory, other_slot->store()->setup().memory);
}

TEST_F(RocksSettingsTest, WhatCannotBeIsRefusedNamingKeyValueAndWhatIsAllowed) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {key_of("predefined-options"), "FASTEST"},
      {key_of("block.cache-size"), "8 parsecs"},
      {key_of("block.blocksize"), "-1"},
      {key_of("writebuffer.size"), "mb"},
      {key_of("writebuffer.count"), "0"},
      {key_of("thread.num"), "two"},
      {key_of("files.open"), "1.5"},
      {key_of("compaction.style"), "FIFO"},
      {key_of("use-bloom-filter"), "yes"},
      {key_of("bloom-filter.bits-per-key"), "many"},
      {key_of("memory.managed"), "1"},
      {key_of("memory.write-buffer-ratio"), "1.5"},
      {key_of("log.level"), "LOUD"},
      {key_of("timer-service.factory"), "DISK"},
      {"penstock.state.write-back-tier", "64 m b"}};
  for (const auto& [key, value] : bad) {
    const std::string message = refusal(key, value);
    EXPECT_NE(message.find("'" + key + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("'" + value + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("use "), std::string::npos) << message;
  }
  EXPECT_NE(refusal(key_of("compaction.style"), "FIFO").find("LEVEL, UNIVERSAL"),
            std::string::npos);
  EXPECT_NE(refusal(key_of("block.cachesize"), "8mb").find("block.cache-size"), std::string::npos);
}

TEST_F(RocksSettingsTest, DatabasesLieInTheLocalDirectoryAndLeaveNothingBehind) {
  auto backend = make();
  must(backend->value_table(described(StateKind::kValue, "v")));
  const std::string path = backend->store()->setup().directory->path();
  EXPECT_EQ(path.rfind(directory_.path(), 0), 0U);
  must(backend->close());
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(RocksSettingsTest, WhatADeadProcessLeftIsRemovedAndWhatIsInUseIsNot) {
  const std::string left = directory_.path() + "/penstock-rocksdb-abcdef";
  std::filesystem::create_directories(left + "/db");
  std::ofstream(left + "/db/000001.sst") << "x";
  auto living = make();
  must(living->value_table(described(StateKind::kValue, "v")));
  EXPECT_FALSE(std::filesystem::exists(left));
  auto other = make();
  must(other->value_table(described(StateKind::kValue, "v")));
  EXPECT_TRUE(std::filesystem::exists(living->store()->setup().directory->database_path()));
}

TEST_F(RocksSettingsTest, LatenciesAreSampledAtTheIntervalAskedFor) {
  const Options tracked = {{"state.latency-track.keyed-state-enabled", "true"},
                           {"state.latency-track.sample-interval", "10"}};
  auto backend = make(tracked);
  ValueTable* const table = must(backend->value_table(described(StateKind::kValue, "v")));
  for (int i = 0; i < 100; ++i) must(table->put(entry_key("k"), "v"));
  const auto metrics = backend->metrics();
  EXPECT_EQ(metrics.at("latency.v.put.count"), 10);
  EXPECT_GT(metrics.at("latency.v.put.p99"), 0);
  EXPECT_LE(metrics.at("latency.v.put.p50"), metrics.at("latency.v.put.max"));
  auto untracked = make();
  must(must(untracked->value_table(described(StateKind::kValue, "v")))->put(entry_key("k"), "v"));
  EXPECT_FALSE(untracked->metrics().contains("latency.v.put.count"));
}

}  // namespace
}  // namespace penstock
