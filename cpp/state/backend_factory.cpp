#include "state/heap/heap_backend.h"
#include "state/keyed_state_backend.h"
#include "state/rocksdb/rocks_backend.h"

namespace penstock {

Result<std::unique_ptr<KeyedStateBackend>> make_keyed_state_backend(const BackendContext& context) {
  const std::string kind = context.config == nullptr ? "hashmap" : context.config->kind;
  if (kind == "hashmap") return make_heap_backend(context);
  if (kind == "rocksdb") return make_rocksdb_backend(context);
  return Status::invalid("unknown state backend '" + kind + "'; there are 'hashmap' and 'rocksdb'");
}

}  // namespace penstock
