// What tests of the rocksdb backend have in common.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "state/backend_contract.h"
#include "state/rocksdb/rocks_backend.h"

namespace penstock {

// A directory of the test's own, removed with the object.
class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "penstock-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Options = std::map<std::string, std::string>;

inline StateBackendConfigPtr rocks_config(Options options) {
  auto config = std::make_shared<StateBackendConfig>();
  config->kind = "rocksdb";
  config->options = std::move(options);
  return config;
}

// Databases in a directory of the test's own, with a clock driven by hand.
class RocksTest : public testing::Test {
 protected:
  static constexpr int32_t kMaxParallelism = 16;

  BackendContext context(Options options = {}, KeyGroupRange groups = {0, kMaxParallelism - 1}) {
    options.emplace("state.backend.rocksdb.localdir", directory_.path());
    BackendContext context;
    context.operator_name = "Sum";
    context.uid = "sum-uid";
    context.max_parallelism = kMaxParallelism;
    context.key_groups = groups;
    context.clock = &clock_;
    context.config = rocks_config(std::move(options));
    return context;
  }
  std::unique_ptr<RocksKeyedStateBackend> make(const BackendContext& context,
                                               rocksdb::Env* env = nullptr) {
    auto made = must(make_rocksdb_backend(context, env));
    return std::unique_ptr<RocksKeyedStateBackend>(
        static_cast<RocksKeyedStateBackend*>(made.release()));
  }
  std::unique_ptr<RocksKeyedStateBackend> make(Options options = {}) {
    return make(context(std::move(options)));
  }
  std::unique_ptr<RocksKeyedStateBackend> restored(const OperatorState& state,
                                                   KeyGroupRange groups = {0,
                                                                           kMaxParallelism - 1}) {
    auto backend = make(context({}, groups));
    must(backend->restore(state));
    return backend;
  }
  // A checkpoint, its files made.
  static OperatorState native_of(KeyedStateBackend* backend) {
    OperatorState state;
    must(backend->snapshot(state.request, &state));
    must(state.materialise());
    return state;
  }
  static std::string value_of(ValueTable* table, const EntryKey& entry) {
    const auto value = must(table->get(entry));
    return value ? std::string(*value) : "none";
  }

  TestDirectory directory_;
  ManualClock clock_{1'000'000};
};

}  // namespace penstock
