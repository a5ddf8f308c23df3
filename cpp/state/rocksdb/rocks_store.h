// RocksStore: the open database of one backend, its column families (one per state), and the queue
// through which everything is written to it.
//
// A family is called "state/" and the name of its state; "default" is empty. The write-ahead log is
// off: what is not in a checkpoint is lost with the process, as it is in Flink.
//
// Shared between the backend and the snapshots that it handed over, which may outlive it. Whoever
// lets go last closes the database and removes its directory.
//
// Thread safety: add_family, drop_family and families belong to the task's thread; the others may be
// called from any.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "snapshot/operator_state.h"
#include "state/rocksdb/database.h"
#include "state/rocksdb/rocks_directory.h"
#include "state/rocksdb/rocks_settings.h"
#include "state/rocksdb/write_queue.h"

namespace penstock {

// The backend's clock, until the backend is gone: the database may go on working after it.
class DetachableClock {
 public:
  explicit DetachableClock(const Clock* clock) : clock_(clock) {}
  void detach() {
    const std::lock_guard lock(mutex_);
    clock_ = nullptr;
  }
  // nullopt: detached.
  [[nodiscard]] std::optional<int64_t> now_millis() const {
    const std::lock_guard lock(mutex_);
    return clock_ == nullptr ? std::nullopt : std::optional(clock_->now_millis());
  }

 private:
  mutable std::mutex mutex_;
  const Clock* clock_;  // guarded by mutex_
};

// What compactions are told of a state's time to live, once it is known. Any thread.
struct TtlFilterSettings {
  std::atomic<int64_t> ttl_millis{0};  // 0: nothing expires
  std::atomic<int64_t> query_time_after{1000};
};

struct RocksFamily {
  StateMeta meta;
  rocksdb::ColumnFamilyHandle* handle = nullptr;  // belongs to the store
  std::shared_ptr<TtlFilterSettings> ttl;
};

// What a store is opened with.
struct RocksSetup {
  RocksSettings settings;
  std::shared_ptr<RocksMemory> memory;
  std::shared_ptr<RocksDirectory> directory;
  std::string owner;                       // "operator 'Sum' (subtask 0)": for messages
  std::shared_ptr<DetachableClock> clock;  // for the expiry of entries in compactions
  rocksdb::Env* env = nullptr;             // null: RocksDB's own
  // Of the contents of windows; null: merging puts operands one behind the other.
  std::shared_ptr<rocksdb::MergeOperator> merge_operator;
};

class RocksStore {
 public:
  // Opens what is in the directory's database path, or makes it. `states`: what its families hold;
  // families that nobody describes are dropped.
  static Result<std::shared_ptr<RocksStore>> open(RocksSetup setup,
                                                  const std::vector<StateMeta>& states);
  ~RocksStore();
  RocksStore(const RocksStore&) = delete;
  RocksStore& operator=(const RocksStore&) = delete;

  [[nodiscard]] rocksdb::DB* db() const { return db_.get(); }
  // Of the SST files in the last native snapshot: name -> what its content is for ever.
  [[nodiscard]] std::map<std::string, std::string>& content_ids() { return content_ids_; }
  [[nodiscard]] WriteQueue* queue() { return queue_.get(); }
  [[nodiscard]] const RocksSetup& setup() const { return setup_; }
  [[nodiscard]] rocksdb::Statistics* statistics() const { return statistics_.get(); }

  // REQUIRES: there is none of that name.
  Result<RocksFamily*> add_family(const StateMeta& meta);
  // nullptr when there is none.
  [[nodiscard]] RocksFamily* find_family(const std::string& state);
  [[nodiscard]] const std::map<std::string, std::unique_ptr<RocksFamily>>& families() const {
    return families_;
  }
  Status drop_family(const std::string& state);

  // Options for a family that holds `meta`; also for files made to be ingested into it.
  [[nodiscard]] rocksdb::ColumnFamilyOptions options_for(const StateMeta& meta) const;
  [[nodiscard]] rocksdb::Env* env() const { return env_.get(); }
  // Our Status for RocksDB's: names operator and state, and says what to do.
  [[nodiscard]] Status check(const rocksdb::Status& status, std::string_view state) const;
  // Writes without the log.
  Status write(rocksdb::WriteBatch* batch, std::string_view state);

 private:
  explicit RocksStore(RocksSetup setup) : setup_(std::move(setup)) {}
  Status open_database(const std::vector<StateMeta>& states);
  [[nodiscard]] rocksdb::ColumnFamilyOptions family_options(
      const StateMeta& meta, const std::shared_ptr<TtlFilterSettings>& ttl) const;

  RocksSetup setup_;
  std::unique_ptr<rocksdb::Env> env_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_family_ = nullptr;
  std::map<std::string, std::unique_ptr<RocksFamily>> families_;  // by state
  // Snapshots may still read them.
  std::vector<std::unique_ptr<RocksFamily>> dropped_;
  std::map<std::string, std::string> content_ids_;  // of the queue's thread
  std::unique_ptr<WriteQueue> queue_;               // last: its jobs use the database
};

std::string family_name(std::string_view state);

}  // namespace penstock
