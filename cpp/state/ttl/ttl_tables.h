// Tables whose values have a time to live, over tables of either backend: Flink's TtlValueState,
// TtlListState and TtlMapState.
//
// A value is stored with the time when it was last touched (ttl_format.h). What has expired is
// removed when it is come across; kReturnExpiredIfNotCleanedUp gives it out that one last time.
// kOnReadAndWrite: a read that finds a value gives it a new time. Details that are Flink's:
//   * Of a list, reading removes expired elements when all have expired, or when the others get a
//     new time anyway; else it passes over them.
//   * A map is empty when nothing is stored, not when all that is stored has expired.
// for_each gives values without their timestamps, passes over what must not be returned, and changes
// nothing.
//
// Incremental cleanup: each access looks at the next few keys of the table, wherever those are, and
// removes what has expired. It runs after a write and before a read, so that what a read gives out
// stays valid; arguments may still point into the table.
//
// Switching the time to live on or off between runs: what was restored without timestamps gets the
// time of the restore; where there is no time to live any more timestamps are dropped, also those of
// what had expired and was still there (add_timestamps, strip_timestamps in ttl_format.h).
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "state/key_walk.h"
#include "state/keyed_state.h"
#include "state/state_descriptor.h"
#include "state/ttl/ttl_format.h"

namespace penstock {

// What the three have in common.
class TtlTable {
 public:
  // `walk` is over the table below; nullptr: no incremental cleanup. Both outlive this.
  TtlTable(const TtlConfig& config, const Clock* clock, KeyWalk* walk)
      : config_(config), clock_(clock), walk_(walk) {}
  virtual ~TtlTable() = default;
  TtlTable(const TtlTable&) = delete;
  TtlTable& operator=(const TtlTable&) = delete;

  // `count` records are about to be processed: incremental cleanup that was asked for each record.
  Status clean_for_records(size_t count);

 protected:
  // Removes what has expired under one key.
  virtual Status clean(const EntryKey& entry) = 0;

  // After each access.
  Status clean_for_access();
  [[nodiscard]] bool cleans_incrementally() const {
    return walk_ != nullptr && config_.incremental_cleanup_entries > 0;
  }
  [[nodiscard]] int64_t now() const { return clock_->now_millis(); }
  [[nodiscard]] bool expired(int64_t timestamp, int64_t at) const {
    return is_expired(timestamp, config_.ttl_millis, at);
  }
  [[nodiscard]] bool updates_on_read() const {
    return config_.update == TtlUpdateType::kOnReadAndWrite;
  }
  [[nodiscard]] bool returns_expired() const {
    return config_.visibility == TtlVisibility::kReturnExpiredIfNotCleanedUp;
  }
  // `value` with the present time, in a buffer of this table's.
  std::string_view stamped(std::string_view value);

  // What a read of one stored value comes to.
  struct Verdict {
    std::optional<std::string_view>
        value;            // without its timestamp; nullopt: there is none any more
    bool remove = false;  // it has expired
    bool touch = false;   // it gets a new timestamp
  };
  Result<Verdict> judge(std::string_view stored, int64_t at) const;

 private:
  Status clean_keys(size_t count);

  const TtlConfig config_;
  const Clock* const clock_;
  KeyWalk* const walk_;
  std::string stamped_;
  std::vector<OwnedKey> keys_;
};

class TtlValueTable final : public ValueTable, public TtlTable {
 public:
  TtlValueTable(ValueTable* inner, const TtlConfig& config, const Clock* clock, KeyWalk* walk)
      : TtlTable(config, clock, walk), inner_(inner) {}
  Result<std::optional<std::string_view>> get(const EntryKey& entry) override;
  Status put(const EntryKey& entry, std::string_view value) override;
  Status remove(const EntryKey& entry) override { return inner_->remove(entry); }
  Status for_each(const EntryVisitor& visit) override;

 protected:
  Status clean(const EntryKey& entry) override;

 private:
  ValueTable* const inner_;
  std::string read_;  // what get() gave out, when the table could not
};

class TtlListTable final : public ListTable, public TtlTable {
 public:
  TtlListTable(ListTable* inner, const TtlConfig& config, const Clock* clock, KeyWalk* walk)
      : TtlTable(config, clock, walk), inner_(inner) {}
  Status get(const EntryKey& entry, std::vector<std::string_view>* out) override;
  Status add(const EntryKey& entry, std::string_view element) override;
  Status update(const EntryKey& entry, const std::vector<std::string_view>& elements) override;
  Status clear(const EntryKey& entry) override { return inner_->clear(entry); }
  Status for_each(const EntryVisitor& visit) override;

 protected:
  Status clean(const EntryKey& entry) override;

 private:
  // Reads the list and tells apart what of it has expired.
  struct Read {
    std::vector<std::string_view> stored;     // as it is below
    std::vector<std::string_view> unexpired;  // of those, the ones that live; with timestamps
    std::vector<std::string_view> to_return;  // without
  };
  Status read(const EntryKey& entry, Read* out);
  // `elements` with new timestamps in `buffer`, which the views in `out` point into.
  static void stamp_all(const std::vector<std::string_view>& elements, int64_t timestamp,
                        std::string* buffer, std::vector<std::string_view>* out);

  ListTable* const inner_;
  std::string buffer_;
  std::vector<std::string_view> views_;
};

class TtlMapTable final : public MapTable, public TtlTable {
 public:
  TtlMapTable(MapTable* inner, const TtlConfig& config, const Clock* clock, KeyWalk* walk)
      : TtlTable(config, clock, walk), inner_(inner) {}
  Result<std::optional<std::string_view>> get(const EntryKey& entry,
                                              std::string_view user_key) override;
  Status put(const EntryKey& entry, std::string_view user_key, std::string_view value) override;
  Status remove(const EntryKey& entry, std::string_view user_key) override;
  Result<bool> is_empty(const EntryKey& entry) override;
  Status clear(const EntryKey& entry) override { return inner_->clear(entry); }
  Status scan(const EntryKey& entry, std::optional<std::string_view> after, size_t limit,
              std::vector<UserEntry>* out) override;
  Status for_each(const EntryVisitor& visit) override;

 protected:
  Status clean(const EntryKey& entry) override;

 private:
  struct Found {
    std::string user_key;
    std::string value;
  };
  // Reads up to `limit` entries after `*after`, which moves on; `*at_end`: there are no more.
  Status scan_some(const EntryKey& entry, std::optional<std::string>* after, size_t limit,
                   bool* at_end);

  MapTable* const inner_;
  std::string key_;           // a user key, kept from what changes below
  std::string read_;          // what get() gave out, when the table could not
  std::vector<Found> found_;  // what scan() gave out
};

}  // namespace penstock
