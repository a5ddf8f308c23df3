#include "state/rocksdb/rocks_backend.h"

#include "state/backend_contract.h"

namespace penstock {
namespace {

std::unique_ptr<KeyedStateBackend> make(const BackendContext& context) {
  return must(make_rocksdb_backend(context));
}

// Nothing stays in memory: every access goes to the database.
std::unique_ptr<KeyedStateBackend> make_without_tier(BackendContext context) {
  auto config = std::make_shared<StateBackendConfig>();
  config->kind = "rocksdb";
  config->options["penstock.state.write-back-tier"] = "0";
  context.config = config;
  return make(context);
}

INSTANTIATE_TEST_SUITE_P(Rocksdb, BackendContract,
                         testing::Values(BackendCase{"rocksdb", make},
                                         BackendCase{"rocksdb_without_tier", make_without_tier}),
                         backend_case_name);

}  // namespace
}  // namespace penstock
