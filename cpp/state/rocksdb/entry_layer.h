// EntryLayer: a layer of the write-back tier for value and list state, and how it goes down.
//
// Thread safety: as TierRecords.
#pragma once

#include "common/status.h"
#include "state/rocksdb/rocks_store.h"
#include "state/rocksdb/tier_records.h"

namespace penstock {

class EntryLayer {
 public:
  [[nodiscard]] size_t size() const { return records_->size(); }
  [[nodiscard]] size_t used_bytes() const { return records_->used_bytes(); }
  [[nodiscard]] bool is_dirty() const { return dirty_; }
  void reserve(size_t size) { records_ = std::make_unique<TierRecords>(size); }

  [[nodiscard]] const TierRecords& records() const { return *records_; }
  TierRecords* mutable_records() { return records_.get(); }
  // Something in it has to be written.
  void set_dirty() { dirty_ = true; }

  // Writes what is dirty, in the order of the keys.
  static Status write(const EntryLayer& layer, RocksStore* store, RocksFamily* family);
  void absorb(const EntryLayer& newer);

 private:
  std::unique_ptr<TierRecords> records_ = std::make_unique<TierRecords>();
  bool dirty_ = false;
};

}  // namespace penstock
