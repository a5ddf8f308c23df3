#include "state/rocksdb/rocks_restore.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "record/key_encoding.h"
#include "state/rocksdb/rocks_keys.h"
#include "state/rocksdb/rocks_snapshot.h"
#include "state/rocksdb/sorted_files.h"
#include "state/state_checks.h"
#include "state/ttl/ttl_format.h"

namespace penstock {

namespace {

namespace fs = std::filesystem;

bool is_sst(const std::string& name) { return fs::path(name).extension() == ".sst"; }

// Another subtask's database, opened to be read.
class OldDatabase {
 public:
  static Result<std::unique_ptr<OldDatabase>> open(RocksStore* store, const NativeState& native) {
    const std::shared_ptr<RocksDirectory>& home = store->setup().directory;
    std::unique_ptr<OldDatabase> old(
        new OldDatabase(std::make_unique<SubDirectory>(home, home->unused_path("old-"))));
    const std::string& path = old->directory_->path();
    PENSTOCK_RETURN_NOT_OK(place_files(native, path).with_context(store->setup().owner));
    rocksdb::DBOptions options = make_db_options(store->setup().settings, *store->setup().memory);
    options.env = store->env();
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
    for (const StateMeta& meta : native.states) {
      descriptors.emplace_back(family_name(meta.name), store->options_for(meta));
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    PENSTOCK_RETURN_NOT_OK(store->check(
        rocksdb::DB::OpenForReadOnly(options, path, descriptors, &handles, &opened), ""));
    old->db_.reset(opened);
    old->handles_ = handles;
    for (size_t i = 0; i < native.states.size(); ++i) {
      old->by_state_[native.states[i].name] = handles[i + 1];
    }
    return old;
  }
  ~OldDatabase() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
  OldDatabase(const OldDatabase&) = delete;
  OldDatabase& operator=(const OldDatabase&) = delete;

  // Entries from `from` to before `end`; the slice must live as long. nullptr: no such state.
  std::unique_ptr<rocksdb::Iterator> entries(const std::string& state, const std::string& from,
                                             const rocksdb::Slice* end) {
    const auto found = by_state_.find(state);
    if (found == by_state_.end()) return nullptr;
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = end;
    options.fill_cache = false;
    options.readahead_size = size_t{2} << 20;
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, found->second));
    it->Seek(from);
    return it;
  }

 private:
  explicit OldDatabase(std::unique_ptr<SubDirectory> directory)
      : directory_(std::move(directory)) {}
  std::unique_ptr<SubDirectory> directory_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> by_state_;
};

struct Run {
  KeyGroupRange groups;
  std::unique_ptr<OldDatabase> database;
};

// One state out of all runs, which follow one another in the order of keys.
Status merge_state(RocksStore* store, const RocksFamily& family, const std::vector<Run>& runs) {
  SortedFiles files(store, family.meta);
  for (const Run& run : runs) {
    const std::string end = group_prefix(run.groups.end + 1);
    const rocksdb::Slice end_slice(end);
    const auto it =
        run.database->entries(family.meta.name, group_prefix(run.groups.start), &end_slice);
    if (it == nullptr) continue;
    for (; it->Valid(); it->Next()) {
      PENSTOCK_RETURN_NOT_OK(files.add(to_view(it->key()), to_view(it->value())));
    }
    PENSTOCK_RETURN_NOT_OK(store->check(it->status(), family.meta.name));
  }
  return files.ingest_into(family);
}

using SortedEntries = std::vector<std::pair<std::string, std::string>>;

Status check_place(const KeyGroupRange& range, int32_t max_parallelism, int32_t group,
                   std::string_view key) {
  const EntryKey entry{key, key.empty() ? 0 : murmur3_32(key.data(), key.size()), {}};
  const int32_t real = entry.key_group(max_parallelism);
  if (real != group) {
    return Status::corruption("key group " + std::to_string(group) + " has a key of group " +
                              std::to_string(real));
  }
  if (range.contains(group)) return Status::ok();
  return Status::internal("key group " + std::to_string(group) + " is not among those from " +
                          std::to_string(range.start) + " to " + std::to_string(range.end));
}

// Sorts a group's entries and adds them; `entries` is empty again then.
Status add_group(SortedEntries* entries, SortedFiles* files) {
  std::sort(entries->begin(), entries->end());
  const std::string* last = nullptr;
  for (const auto& [key, value] : *entries) {
    if (last != nullptr && *last == key) return Status::corruption("an entry is there twice");
    last = &key;
    PENSTOCK_RETURN_NOT_OK(files->add(key, value));
  }
  entries->clear();
  return Status::ok();
}

// The directories between commas; subtasks take turns.
std::string local_directory(const std::string& setting, int32_t subtask) {
  std::vector<std::string> directories;
  size_t from = 0;
  while (from <= setting.size()) {
    const size_t comma = std::min(setting.find(',', from), setting.size());
    if (comma > from) directories.push_back(setting.substr(from, comma - from));
    from = comma + 1;
  }
  if (directories.empty()) return "";
  return directories[static_cast<size_t>(subtask) % directories.size()];
}

}  // namespace

Status place_files(const NativeState& native, const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Status::io_error("cannot make '" + path + "': " + error.message());
  for (const StateFile& file : native.files) {
    const fs::path target = fs::path(path) / file.name;
    if (fs::path(file.name).filename() != file.name || file.name.empty()) {
      return Status::corruption("'" + file.name + "' is no name of a file of RocksDB");
    }
    // What is not an SST file is appended to by whoever opens the database.
    if (is_sst(file.name)) fs::create_hard_link(file.path, target, error);
    if (!is_sst(file.name) || error) fs::copy_file(file.path, target, error);
    if (error) {
      return Status::io_error("cannot put '" + file.path + "' at '" + target.string() +
                              "': " + error.message());
    }
  }
  return Status::ok();
}

Result<std::vector<StateMeta>> states_of(const std::vector<NativeState>& natives) {
  std::map<std::string, StateMeta> states;
  for (const NativeState& native : natives) {
    for (const StateMeta& meta : native.states) {
      const auto [found, added] = states.emplace(meta.name, meta);
      if (added) continue;
      const StateMeta& known = found->second;
      if (known.kind != meta.kind || known.namespace_type != meta.namespace_type ||
          known.value_type != meta.value_type) {
        return Status::corruption("state '" + meta.name + "' has different types in two subtasks");
      }
    }
  }
  std::vector<StateMeta> out;
  for (auto& [name, meta] : states) out.push_back(std::move(meta));
  return out;
}

Status merge_natives(RocksStore* store, const std::vector<NativeState>& natives,
                     const KeyGroupRange& range) {
  std::vector<Run> runs;
  for (const NativeState& native : natives) {
    const KeyGroupRange groups{std::max(range.start, native.key_groups.start),
                               std::min(range.end, native.key_groups.end)};
    if (groups.size() == 0) continue;
    PENSTOCK_ASSIGN_OR_RETURN(auto database, OldDatabase::open(store, native));
    runs.push_back({groups, std::move(database)});
  }
  std::sort(runs.begin(), runs.end(),
            [](const Run& a, const Run& b) { return a.groups.start < b.groups.start; });
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].groups.start > runs[i - 1].groups.end) continue;
    return Status::corruption(store->setup().owner + ": key group " +
                              std::to_string(runs[i].groups.start) +
                              " was written by two subtasks");
  }
  for (const auto& [name, family] : store->families()) {
    PENSTOCK_RETURN_NOT_OK(merge_state(store, *family, runs));
  }
  return Status::ok();
}

Result<std::shared_ptr<RocksStore>> open_restored(RocksSetup setup,
                                                  const std::vector<NativeState>& natives,
                                                  const KeyGroupRange& range, int32_t subtask) {
  const Result<std::vector<StateMeta>> states = states_of(natives);
  PENSTOCK_RETURN_NOT_OK(states.status().with_context(setup.owner));
  PENSTOCK_ASSIGN_OR_RETURN(
      setup.directory, RocksDirectory::create(local_directory(setup.settings.local_dir, subtask)));
  const bool as_it_was = natives.size() == 1 && natives[0].key_groups.start == range.start &&
                         natives[0].key_groups.end == range.end;
  if (as_it_was) {
    PENSTOCK_RETURN_NOT_OK(
        place_files(natives[0], setup.directory->database_path()).with_context(setup.owner));
  }
  PENSTOCK_ASSIGN_OR_RETURN(std::shared_ptr<RocksStore> store,
                            RocksStore::open(std::move(setup), states.value()));
  if (!as_it_was) PENSTOCK_RETURN_NOT_OK(merge_natives(store.get(), natives, range));
  return store;
}

Status ingest_canonical(RocksStore* store, const KeyedStateData& data, const KeyGroupRange& range,
                        int32_t max_parallelism) {
  const RocksFamily& family = *store->find_family(data.meta.name);
  SortedFiles files(store, data.meta);
  SortedEntries entries;
  int32_t current = -1;
  std::string rocks_key;
  std::string rocks_value;
  PENSTOCK_RETURN_NOT_OK(
      data.for_each([&](int32_t group, std::string_view key, std::string_view name_space,
                        std::string_view value) -> Status {
        PENSTOCK_RETURN_NOT_OK(check_place(range, max_parallelism, group, key));
        if (group != current) PENSTOCK_RETURN_NOT_OK(add_group(&entries, &files));
        current = group;
        PENSTOCK_RETURN_NOT_OK(from_canonical(data.meta.kind, group, key, name_space, value,
                                              &rocks_key, &rocks_value));
        entries.emplace_back(rocks_key, rocks_value);
        return Status::ok();
      }));
  PENSTOCK_RETURN_NOT_OK(add_group(&entries, &files));
  return files.ingest_into(family);
}

Status change_values(RocksStore* store, const StateMeta& meta, const ValueChange& change) {
  SortedFiles files(store, meta);
  {
    const RocksFamily& old = *store->find_family(meta.name);
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> it(store->db()->NewIterator(options, old.handle));
    it->SeekToFirst();
    std::string changed;
    std::string rocks_key;
    std::string rocks_value;
    PENSTOCK_RETURN_NOT_OK(
        visit_canonical(meta.kind, it.get(),
                        [&](int32_t group, std::string_view key, std::string_view name_space,
                            std::string_view value) -> Status {
                          changed.clear();
                          PENSTOCK_RETURN_NOT_OK(change(value, &changed));
                          PENSTOCK_RETURN_NOT_OK(from_canonical(meta.kind, group, key, name_space,
                                                                changed, &rocks_key, &rocks_value));
                          return files.add(rocks_key, rocks_value);
                        }));
    PENSTOCK_RETURN_NOT_OK(store->check(it->status(), meta.name));
  }
  PENSTOCK_RETURN_NOT_OK(store->drop_family(meta.name));
  PENSTOCK_ASSIGN_OR_RETURN(const RocksFamily* family, store->add_family(meta));
  return files.ingest_into(*family);
}

}  // namespace penstock
