#include "state/rocksdb/blind_merge_store.h"

#include <rocksdb/write_batch.h>

#include <utility>

#include "state/rocksdb/combining_operator.h"
#include "state/rocksdb/rocks_keys.h"
#include "state/rocksdb/rocks_restore.h"
#include "state/rocksdb/rocks_snapshot.h"
#include "state/rocksdb/sorted_files.h"

namespace penstock {

BlindMergeStore::BlindMergeStore(std::shared_ptr<RocksStore> store, RocksFamily* family,
                                 KeyGroupRange key_groups)
    : store_(std::move(store)), family_(family), key_groups_(key_groups) {}

BlindMergeStore::~BlindMergeStore() = default;

Result<std::unique_ptr<BlindMergeStore>> BlindMergeStore::open(
    const BackendContext& context, const StateMeta& meta,
    std::shared_ptr<const OperandCombiner> combiner, const std::vector<NativeState>& restored) {
  RocksSetup setup;
  PENSTOCK_ASSIGN_OR_RETURN(setup.settings, RocksSettings::parse(context.config.get()));
  setup.memory = shared_rocks_memory(context.config, setup.settings, context.subtask);
  setup.owner = "operator '" + context.operator_name + "' (uid '" + context.uid + "', subtask " +
                std::to_string(context.subtask) + ")";
  setup.clock = std::make_shared<DetachableClock>(nullptr);  // nothing here expires
  setup.merge_operator = make_combining_operator(std::move(combiner));
  PENSTOCK_ASSIGN_OR_RETURN(
      std::shared_ptr<RocksStore> store,
      open_restored(std::move(setup), restored, context.key_groups, context.subtask));
  RocksFamily* family = store->find_family(meta.name);
  if (family == nullptr) {
    PENSTOCK_ASSIGN_OR_RETURN(family, store->add_family(meta));
  }
  return std::unique_ptr<BlindMergeStore>(
      new BlindMergeStore(std::move(store), family, context.key_groups));
}

uint64_t BlindMergeStore::write_run(RunKind kind, Produce produce) {
  // Not the shared pointer: a job must not be the last to let go of its own queue.
  return store_->queue()->push(
      [store = store_.get(), family = family_, kind, produce = std::move(produce)]() -> Status {
        SortedFiles files(store, family->meta);
        if (kind == RunKind::kReplace) {
          PENSTOCK_RETURN_NOT_OK(produce([&files](std::string_view key, std::string_view value) {
            return files.add(key, value);
          }));
        } else {
          PENSTOCK_RETURN_NOT_OK(produce([&files](std::string_view key, std::string_view operand) {
            return files.add_operand(key, operand);
          }));
        }
        return files.ingest_into(*family);
      });
}

Status BlindMergeStore::wait(uint64_t job) const { return store_->queue()->finish(job); }

Status BlindMergeStore::failure() const { return store_->queue()->failure(); }

void BlindMergeStore::remove(std::vector<std::string> prefixes) {
  store_->queue()->push([store = store_.get(), family = family_, prefixes = std::move(prefixes)] {
    rocksdb::WriteBatch batch;
    for (const std::string& prefix : prefixes) {
      PENSTOCK_RETURN_NOT_OK(store->check(
          batch.DeleteRange(family->handle, prefix, prefix_end(prefix)), family->meta.name));
    }
    return store->write(&batch, family->meta.name);
  });
}

Status BlindMergeStore::scan(const std::vector<std::string>& prefixes, const Visit& visit) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = size_t{2} << 20;
  const std::unique_ptr<rocksdb::Iterator> it(store_->db()->NewIterator(options, family_->handle));
  for (const std::string& prefix : prefixes) {
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      PENSTOCK_RETURN_NOT_OK(visit(to_view(it->key()), to_view(it->value())));
    }
    PENSTOCK_RETURN_NOT_OK(store_->check(it->status(), family_->meta.name));
  }
  return Status::ok();
}

Result<std::optional<std::string>> BlindMergeStore::first_key(const std::string& from) const {
  const std::unique_ptr<rocksdb::Iterator> it(
      store_->db()->NewIterator(rocksdb::ReadOptions(), family_->handle));
  it->Seek(from);
  PENSTOCK_RETURN_NOT_OK(store_->check(it->status(), family_->meta.name));
  if (!it->Valid()) return std::optional<std::string>();
  return std::optional(it->key().ToString());
}

void BlindMergeStore::snapshot(const SnapshotRequest& request, OperatorState* out) const {
  if (request.canonical) {
    out->deferred.push_back(defer_family(cut_contents(store_), family_, std::nullopt));
  } else {
    out->native.push_back(cut_native(store_, key_groups_, {family_->meta}));
  }
}

size_t BlindMergeStore::memory_budget() const { return store_->setup().settings.tier_bytes; }

}  // namespace penstock
