// EntryAccess: what value and list state have in common: finding the record of an entry in the
// layers, and reading it from the database when no layer has it.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "columnar/batch.h"
#include "state/keyed_state.h"
#include "state/rocksdb/entry_layer.h"
#include "state/rocksdb/rocks_keys.h"
#include "state/rocksdb/write_back_tier.h"

namespace penstock {

// An entry's place: its key in the database and its hash in the layers. Borrows the bytes.
struct EntryPlace {
  uint32_t hash = 0;
  std::string_view key;
};

class EntryAccess {
 public:
  EntryAccess(WriteBackTier* tier, RocksFamily* family, int32_t max_parallelism)
      : layers_(tier, family), max_parallelism_(max_parallelism) {}

  // Good until the next call.
  EntryPlace place_of(const EntryKey& entry) {
    key_.clear();
    append_key(entry, &key_);
    return {hash_of(entry), key_};
  }

  // What is read is often written next: the record of the entry that was remembered, if it is still
  // in the young layer.
  [[nodiscard]] TierRecord* remembered(const EntryKey& entry) const;
  void remember(TierRecord* record) {
    last_ = record;
    last_epoch_ = layers_.epoch();
  }

  [[nodiscard]] Layers<EntryLayer>& layers() { return layers_; }
  TierRecords* young() { return layers_.young().mutable_records(); }

  // The record in the young layer; of frozen ones a copy of the newest is made there, clean, unless
  // it is partial. nullptr: no layer knows more than a part.
  TierRecord* find(const EntryPlace& place) { return find_small(place, SIZE_MAX); }
  // The same, but what is longer than `limit` is not copied.
  TierRecord* find_small(const EntryPlace& place, size_t limit);
  // A new record in the young layer. REQUIRES: there is none.
  TierRecord* insert(const EntryPlace& place, size_t capacity) {
    return young()->insert(place.hash, place.key, capacity);
  }
  // Reads from the database into the young layer. REQUIRES: no record in the young layer.
  Result<TierRecord*> load(const EntryPlace& place);
  // What the database has once everything on its way to it has arrived; false: nothing.
  Result<bool> read_written(const EntryPlace& place, std::string* value);
  // Puts what the database has before a part of a list.
  Result<TierRecord*> complete(const EntryPlace& place, TierRecord* part);
  // The entry has this value now, or none. The record in the young layer.
  Status put(const EntryPlace& place, std::string_view value);
  Status put(TierRecord* record, std::string_view value);
  Status remove(const EntryPlace& place);

  // Reads what no layer has of `keys`, without namespace, with one sorted read. While nothing was
  // missing in the batch before only a sample is looked at.
  Status prepare(const EncodedKeys& keys);
  [[nodiscard]] Status damaged(const char* what);
  // Everything the database has once all is written: (key parts, value).
  Status for_each(const EntryVisitor& visit) {
    return for_each(group_prefix(0), "\xff\xff", visit);
  }
  Status for_each(const std::string& from, const std::string& end, const EntryVisitor& visit);

 private:
  static uint32_t hash_of(const EntryKey& entry) { return mix_hash(entry.hash, entry.name_space); }
  void append_key(const EntryKey& entry, std::string* out) const {
    append_entry_key(entry.key_group(max_parallelism_), entry.key, entry.name_space, out);
  }
  [[nodiscard]] bool is_known(const EntryPlace& place);
  [[nodiscard]] bool misses_some(const EncodedKeys& keys);
  Status store_loaded(const EntryPlace& place, const rocksdb::Status& status,
                      std::string_view value);

  Layers<EntryLayer> layers_;
  const int32_t max_parallelism_;
  std::string key_;
  TierRecord* last_ = nullptr;
  uint64_t last_epoch_ = 0;
  bool had_misses_ = true;  // in the last batch that was read ahead
};

}  // namespace penstock
