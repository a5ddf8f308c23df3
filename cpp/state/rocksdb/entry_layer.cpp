#include "state/rocksdb/entry_layer.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <vector>

#include "state/rocksdb/rocks_keys.h"
#include "state/rocksdb/sorted_files.h"

namespace penstock {

namespace {

constexpr size_t kBatchBytes = size_t{256} << 10;
// From so many entries on a file of their own is worth it.
constexpr size_t kRunEntries = size_t{1} << 16;

// A dirty record and the beginning of its key, so that sorting seldom has to look at the record.
struct SortEntry {
  uint64_t first;
  uint64_t second;
  const TierRecord* record;

  friend bool operator<(const SortEntry& a, const SortEntry& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    return a.record->key() < b.record->key();
  }
};

uint64_t word_at(std::string_view key, size_t from) {
  uint64_t word = 0;
  if (from < key.size())
    std::memcpy(&word, key.data() + from, std::min<size_t>(8, key.size() - from));
  return __builtin_bswap64(word);
}

std::vector<SortEntry> sorted_dirty(const TierRecords& records) {
  std::vector<SortEntry> sorted;
  sorted.reserve(records.size());
  records.for_each([&](const TierRecord& record) {
    if (!record.has(TierRecord::kDirty)) return;
    sorted.push_back({word_at(record.key(), 0), word_at(record.key(), 8), &record});
  });
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

rocksdb::Status add_to_batch(const TierRecord& record, rocksdb::ColumnFamilyHandle* handle,
                             rocksdb::WriteBatch* batch) {
  const rocksdb::Slice key = to_slice(record.key());
  if (record.has(TierRecord::kAbsent)) return batch->Delete(handle, key);
  if (record.has(TierRecord::kPartial)) return batch->Merge(handle, key, to_slice(record.value()));
  if (record.clean_size == 0) return batch->Put(handle, key, to_slice(record.value()));
  // Behind what the database has comes the comma that the merge operator will put there.
  return batch->Merge(handle, key, to_slice(record.value().substr(record.clean_size + 1)));
}

// In one sorted run, past the memtables. Measured with 5 M uniform keys and a tier of 64 MiB, counting
// the processor time of all threads: 0.47 us an operand, against 1.06 us through the memtables.
Status write_run(const std::vector<SortEntry>& sorted, RocksStore* store, RocksFamily* family) {
  SortedFiles files(store, family->meta);
  for (const SortEntry& entry : sorted) {
    const TierRecord& record = *entry.record;
    if (record.has(TierRecord::kAbsent)) {
      PENSTOCK_RETURN_NOT_OK(files.remove(record.key()));
    } else if (record.has(TierRecord::kPartial)) {
      PENSTOCK_RETURN_NOT_OK(files.add_operand(record.key(), record.value()));
    } else if (record.clean_size == 0) {
      PENSTOCK_RETURN_NOT_OK(files.add(record.key(), record.value()));
    } else {
      PENSTOCK_RETURN_NOT_OK(
          files.add_operand(record.key(), record.value().substr(record.clean_size + 1)));
    }
  }
  return files.ingest_into(*family);
}

Status write_batches(const std::vector<SortEntry>& sorted, RocksStore* store, RocksFamily* family) {
  rocksdb::WriteBatch batch(kBatchBytes + kBatchBytes / 4);
  const std::string& state = family->meta.name;
  for (const SortEntry& entry : sorted) {
    PENSTOCK_RETURN_NOT_OK(
        store->check(add_to_batch(*entry.record, family->handle, &batch), state));
    if (batch.GetDataSize() < kBatchBytes) continue;
    PENSTOCK_RETURN_NOT_OK(store->write(&batch, state));
    batch.Clear();
  }
  return batch.Count() == 0 ? Status::ok() : store->write(&batch, state);
}

}  // namespace

Status EntryLayer::write(const EntryLayer& layer, RocksStore* store, RocksFamily* family) {
  const std::vector<SortEntry> sorted = sorted_dirty(layer.records());
  return sorted.size() >= kRunEntries ? write_run(sorted, store, family)
                                      : write_batches(sorted, store, family);
}

void EntryLayer::absorb(const EntryLayer& newer) {
  newer.records().for_each([&](const TierRecord& from) {
    TierRecord* record = records_->find(from.hash, from.key());
    if (record == nullptr) {
      // What is only part of a list says nothing once it has been written.
      if (from.has(TierRecord::kPartial)) return;
      record = records_->insert(from.hash, from.key(), from.value_size);
    } else if (from.has(TierRecord::kPartial)) {
      if (!record->has(TierRecord::kPartial)) {
        // The whole list, as the newer layer has made it.
        if (record->has(TierRecord::kAbsent)) record->value_size = 0;
        if (record->value_size > 0) record = records_->append(record, ",");
        record = records_->append(record, from.value());
        record->flags = 0;
        record->clean_size = record->value_size;
      }
      return;
    }
    record = records_->set_value(record, from.value());
    record->flags = from.flags & TierRecord::kAbsent;
    record->clean_size = record->value_size;
  });
  dirty_ = false;
}

}  // namespace penstock
