#include "state/rocksdb/rocks_store.h"

#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>

#include <utility>

#include "state/rocksdb/combining_operator.h"
#include "state/rocksdb/rocks_keys.h"
#include "state/rocksdb/rocks_ttl_filter.h"
#include "state/rocksdb/unsynced_files.h"

namespace penstock {

namespace {

constexpr std::string_view kFamilyPrefix = "state/";

// RocksDB's own, which every reader has: joins operands with a comma.
std::shared_ptr<rocksdb::MergeOperator> append_operator() {
  std::shared_ptr<rocksdb::MergeOperator> made;
  // It is compiled in under this name; a failure shows as a family that cannot merge.
  rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "stringappendtest", &made)
      .PermitUncheckedError();
  return made;
}

// Writes that wait for a flush or a compaction which then fails end as "incomplete", with no more
// than the text of that failure.
rocksdb::Status cause_of(const rocksdb::Status& status) {
  if (!status.IsIncomplete()) return status;
  const std::string text = status.ToString();
  const bool is_full = text.find("No space left") != std::string::npos;
  return is_full ? rocksdb::Status::NoSpace(text) : rocksdb::Status::IOError(text);
}

std::string advice(const rocksdb::Status& status, const std::string& path) {
  if (status.IsNoSpace()) {
    return "; the disk is full: make room where '" + path +
           "' is, or let state.backend.rocksdb.localdir name another disk, and start again from "
           "the last checkpoint";
  }
  if (status.IsCorruption()) {
    return "; files under '" + path +
           "' are damaged: start again from the last checkpoint, and check the disk";
  }
  if (status.IsIOError() || status.IsPathNotFound()) {
    return "; files under '" + path +
           "' cannot be read or written: check the disk and its permissions, and start again from "
           "the last checkpoint";
  }
  return "";
}

}  // namespace

std::string family_name(std::string_view state) {
  return std::string(kFamilyPrefix) + std::string(state);
}

Result<std::shared_ptr<RocksStore>> RocksStore::open(RocksSetup setup,
                                                     const std::vector<StateMeta>& states) {
  std::shared_ptr<RocksStore> store(new RocksStore(std::move(setup)));
  rocksdb::Env* const files = store->setup_.env;
  store->env_ = make_unsynced_env(files == nullptr ? rocksdb::Env::Default() : files);
  PENSTOCK_RETURN_NOT_OK(store->open_database(states));
  store->queue_ = std::make_unique<WriteQueue>();
  return store;
}

Status RocksStore::open_database(const std::vector<StateMeta>& states) {
  rocksdb::DBOptions options = make_db_options(setup_.settings, *setup_.memory);
  statistics_ = rocksdb::CreateDBStatistics();
  statistics_->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  options.statistics = statistics_;
  options.env = env_.get();

  std::map<std::string, const StateMeta*> described;
  for (const StateMeta& meta : states) described[family_name(meta.name)] = &meta;
  std::vector<std::string> on_disk;
  const std::string path = setup_.directory->database_path();
  // No database yet is what usually makes this fail; another reason shows when it is opened.
  rocksdb::DB::ListColumnFamilies(options, path, &on_disk).PermitUncheckedError();

  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName,
                           make_family_options(setup_.settings, *setup_.memory));
  std::map<std::string, std::shared_ptr<TtlFilterSettings>> ttl;
  for (const auto& [name, meta] : described) {
    ttl[name] = std::make_shared<TtlFilterSettings>();
    descriptors.emplace_back(name, family_options(*meta, ttl[name]));
  }
  for (const std::string& name : on_disk) {
    if (name == rocksdb::kDefaultColumnFamilyName || described.contains(name)) continue;
    descriptors.emplace_back(name, make_family_options(setup_.settings, *setup_.memory));
  }

  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  PENSTOCK_RETURN_NOT_OK(
      check(rocksdb::DB::Open(options, path, descriptors, &handles, &opened), ""));
  db_.reset(opened);
  for (size_t i = 0; i < handles.size(); ++i) {
    const auto found = described.find(descriptors[i].name);
    if (i == 0) {
      default_family_ = handles[i];
    } else if (found != described.end()) {
      families_.emplace(found->second->name, std::make_unique<RocksFamily>(RocksFamily{
                                                 *found->second, handles[i], ttl[found->first]}));
    } else {
      // A state that came up after the barrier that the files are of.
      const rocksdb::Status dropped = db_->DropColumnFamily(handles[i]);
      db_->DestroyColumnFamilyHandle(handles[i]).PermitUncheckedError();
      PENSTOCK_RETURN_NOT_OK(check(dropped, ""));
    }
  }
  return Status::ok();
}

RocksStore::~RocksStore() {
  queue_.reset();
  if (db_ == nullptr) return;
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  for (const auto& [name, family] : families_) {
    db_->DestroyColumnFamilyHandle(family->handle).PermitUncheckedError();
  }
  for (const auto& family : dropped_) {
    db_->DestroyColumnFamilyHandle(family->handle).PermitUncheckedError();
  }
  db_->DestroyColumnFamilyHandle(default_family_).PermitUncheckedError();
  // Nobody needs what a failure to close would lose: the files go now.
  db_->Close().PermitUncheckedError();
}

Result<RocksFamily*> RocksStore::add_family(const StateMeta& meta) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const auto ttl = std::make_shared<TtlFilterSettings>();
  PENSTOCK_RETURN_NOT_OK(
      check(db_->CreateColumnFamily(family_options(meta, ttl), family_name(meta.name), &handle),
            meta.name));
  auto family = std::make_unique<RocksFamily>(RocksFamily{meta, handle, ttl});
  RocksFamily* const added = family.get();
  families_.emplace(meta.name, std::move(family));
  return added;
}

RocksFamily* RocksStore::find_family(const std::string& state) {
  const auto found = families_.find(state);
  return found == families_.end() ? nullptr : found->second.get();
}

Status RocksStore::drop_family(const std::string& state) {
  const auto found = families_.find(state);
  if (found == families_.end()) return Status::ok();
  dropped_.push_back(std::move(found->second));
  families_.erase(found);
  return check(db_->DropColumnFamily(dropped_.back()->handle), state);
}

rocksdb::ColumnFamilyOptions RocksStore::options_for(const StateMeta& meta) const {
  rocksdb::ColumnFamilyOptions options = make_family_options(setup_.settings, *setup_.memory);
  if (meta.kind == StateKind::kList) options.merge_operator = append_operator();
  if (meta.kind == StateKind::kWindowContents) {
    options.merge_operator =
        setup_.merge_operator != nullptr ? setup_.merge_operator : make_combining_operator(nullptr);
    // Operands come in large sorted runs. To compact all there is with every few of them would cost
    // more than to combine a few more when the window fires.
    options.level0_file_num_compaction_trigger = 16;
    options.level0_slowdown_writes_trigger = 64;
    options.level0_stop_writes_trigger = 128;
  }
  // What is written comes sorted: the place of the entry before, in the same key group, is near.
  options.memtable_insert_with_hint_prefix_extractor.reset(
      rocksdb::NewFixedPrefixTransform(kGroupBytes));
  return options;
}

rocksdb::ColumnFamilyOptions RocksStore::family_options(
    const StateMeta& meta, const std::shared_ptr<TtlFilterSettings>& ttl) const {
  rocksdb::ColumnFamilyOptions options = options_for(meta);
  options.compaction_filter_factory = make_ttl_filter_factory(meta, ttl, setup_.clock);
  return options;
}

Status RocksStore::check(const rocksdb::Status& answer, std::string_view state) const {
  if (answer.ok()) return Status::ok();
  const rocksdb::Status status = cause_of(answer);
  const Status plain = from_rocksdb(status);
  const std::string where =
      state.empty() ? setup_.owner : setup_.owner + ", state '" + std::string(state) + "'";
  return Status(plain.code(),
                where + ": " + plain.message() + advice(status, setup_.directory->path()));
}

Status RocksStore::write(rocksdb::WriteBatch* batch, std::string_view state) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return check(db_->Write(options, batch), state);
}

}  // namespace penstock
