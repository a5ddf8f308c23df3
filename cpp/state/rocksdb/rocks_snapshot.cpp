#include "state/rocksdb/rocks_snapshot.h"

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "snapshot/bytes.h"

namespace penstock {

namespace {

namespace fs = std::filesystem;

// A group's entries come in pieces of about this size.
constexpr size_t kPieceBytes = size_t{1} << 20;

// What the job that makes the files leaves. Written before the job is done, read after.
struct NativeResult {
  Status status;
  std::vector<StateFile> files;
};

using ContentIds = std::map<std::string, std::string>;

// The id that RocksDB gave the file when it was first written, wherever it has been linked since.
Result<std::string> content_id_of(RocksStore* store, const std::string& path) {
  rocksdb::Options options;
  options.env = store->env();
  rocksdb::SstFileReader reader(options);
  PENSTOCK_RETURN_NOT_OK(store->check(reader.Open(path), ""));
  const std::shared_ptr<const rocksdb::TableProperties> properties = reader.GetTableProperties();
  if (properties->db_session_id.empty()) return std::string();
  return properties->db_session_id + "-" + std::to_string(properties->orig_file_number);
}

Status add_file(RocksStore* store, const fs::path& path, ContentIds* ids,
                std::vector<StateFile>* files) {
  StateFile file;
  file.name = path.filename().string();
  file.path = path.string();
  std::error_code error;
  file.size = fs::file_size(path, error);
  if (error) return Status::io_error("'" + file.path + "': " + error.message());
  if (path.extension() == ".sst") {
    const auto known = store->content_ids().find(file.name);
    if (known != store->content_ids().end()) {
      file.content_id = known->second;
    } else {
      PENSTOCK_ASSIGN_OR_RETURN(file.content_id, content_id_of(store, file.path));
    }
    ids->emplace(file.name, file.content_id);
  }
  files->push_back(std::move(file));
  return Status::ok();
}

Status make_links(RocksStore* store, const std::string& path, std::vector<StateFile>* files) {
  rocksdb::Checkpoint* made = nullptr;
  PENSTOCK_RETURN_NOT_OK(store->check(rocksdb::Checkpoint::Create(store->db(), &made), ""));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  // Writes the memtables down first.
  PENSTOCK_RETURN_NOT_OK(store->check(checkpoint->CreateCheckpoint(path), ""));
  ContentIds ids;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    PENSTOCK_RETURN_NOT_OK(add_file(store, entry.path(), &ids, files));
  }
  if (error) return Status::io_error("'" + path + "': " + error.message());
  // What is not in this one has been compacted away: its name never comes back.
  store->content_ids() = std::move(ids);
  std::sort(files->begin(), files->end(),
            [](const StateFile& a, const StateFile& b) { return a.name < b.name; });
  return Status::ok();
}

}  // namespace

NativeState cut_native(const std::shared_ptr<RocksStore>& store, KeyGroupRange key_groups,
                       std::vector<StateMeta> states) {
  const std::shared_ptr<RocksDirectory>& home = store->setup().directory;
  const auto links = std::make_shared<SubDirectory>(home, home->unused_path("chk-"));
  const auto result = std::make_shared<NativeResult>();
  const uint64_t job = store->queue()->push([owner = store.get(), links, result] {
    // Nobody waits for it any more: the checkpoint was given up.
    if (result.use_count() == 1) return Status::ok();
    result->status = make_links(owner, links->path(), &result->files);
    // That this snapshot fails says nothing about what is written next; if the disk is full, that
    // will say so itself.
    return Status::ok();
  });

  NativeState native;
  native.backend = "rocksdb";
  native.description = "layout=1";
  native.key_groups = key_groups;
  native.states = std::move(states);
  native.owner = links;
  native.make_files = [store, result, job](NativeState* self) {
    PENSTOCK_RETURN_NOT_OK(store->queue()->finish(job));
    PENSTOCK_RETURN_NOT_OK(result->status);
    self->files = result->files;
    return Status::ok();
  };
  return native;
}

// The RocksDB snapshot is taken by the job and given back by whichever of the two sides goes last.
class RocksCut {
 public:
  explicit RocksCut(std::shared_ptr<RocksStore> store) : store_(std::move(store)) {
    job_ = store_->queue()->push([owner = store_.get(), shared = shared_] {
      const std::lock_guard lock(shared->mutex);
      if (!shared->unwanted) shared->snapshot = owner->db()->GetSnapshot();
      return Status::ok();
    });
  }
  ~RocksCut() {
    const std::lock_guard lock(shared_->mutex);
    shared_->unwanted = true;
    if (shared_->snapshot != nullptr) store_->db()->ReleaseSnapshot(shared_->snapshot);
  }
  RocksCut(const RocksCut&) = delete;
  RocksCut& operator=(const RocksCut&) = delete;

  [[nodiscard]] RocksStore* store() const { return store_.get(); }
  Result<const rocksdb::Snapshot*> wait() const {
    PENSTOCK_RETURN_NOT_OK(store_->queue()->finish(job_));
    const std::lock_guard lock(shared_->mutex);
    return shared_->snapshot;
  }

 private:
  struct Shared {
    std::mutex mutex;
    const rocksdb::Snapshot* snapshot = nullptr;
    bool unwanted = false;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::shared_ptr<RocksStore> store_;
  uint64_t job_ = 0;
};

std::shared_ptr<RocksCut> cut_contents(const std::shared_ptr<RocksStore>& store) {
  return std::make_shared<RocksCut>(store);
}

namespace {

class DeferredFamily final : public DeferredKeyedState {
 public:
  DeferredFamily(std::shared_ptr<RocksCut> cut, const RocksFamily* family,
                 std::optional<TtlCutoff> cutoff)
      : cut_(std::move(cut)), meta_(family->meta), handle_(family->handle), cutoff_(cutoff) {}

  [[nodiscard]] const StateMeta& meta() const override { return meta_; }

  Status for_each_group(
      const std::function<Status(int32_t, std::string_view)>& visit) const override {
    RocksStore* const store = cut_->store();
    rocksdb::ReadOptions options;
    PENSTOCK_ASSIGN_OR_RETURN(options.snapshot, cut_->wait());
    options.fill_cache = false;
    options.readahead_size = size_t{2} << 20;
    const std::unique_ptr<rocksdb::Iterator> it(store->db()->NewIterator(options, handle_));
    it->SeekToFirst();

    int32_t current = -1;
    std::string piece;
    std::string unexpired;
    const auto emit = [&] {
      const Status status = piece.empty() ? Status::ok() : visit(current, piece);
      piece.clear();
      return status;
    };
    const Status visited = visit_canonical(
        meta_.kind, it.get(),
        [&](int32_t group, std::string_view key, std::string_view name_space,
            std::string_view value) -> Status {
          if (group != current || piece.size() >= kPieceBytes) PENSTOCK_RETURN_NOT_OK(emit());
          current = group;
          bool left = true;
          if (cutoff_) {
            unexpired.clear();
            PENSTOCK_RETURN_NOT_OK(drop_expired(meta_.kind, *cutoff_, value, &unexpired, &left));
            value = unexpired;
          }
          if (!left) return Status::ok();
          put_bytes(&piece, key);
          put_bytes(&piece, name_space);
          put_bytes(&piece, value);
          return Status::ok();
        });
    PENSTOCK_RETURN_NOT_OK(
        visited.with_context(store->setup().owner + ", state '" + meta_.name + "'"));
    PENSTOCK_RETURN_NOT_OK(store->check(it->status(), meta_.name));
    return emit();
  }

 private:
  std::shared_ptr<RocksCut> cut_;
  StateMeta meta_;
  rocksdb::ColumnFamilyHandle* handle_;
  std::optional<TtlCutoff> cutoff_;
};

}  // namespace

std::shared_ptr<const DeferredKeyedState> defer_family(std::shared_ptr<RocksCut> cut,
                                                       const RocksFamily* family,
                                                       std::optional<TtlCutoff> cutoff) {
  return std::make_shared<DeferredFamily>(std::move(cut), family, cutoff);
}

}  // namespace penstock
