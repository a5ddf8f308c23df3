#include "state/rocksdb/entry_access.h"

#include <algorithm>
#include <memory>

#include "state/rocksdb/list_bytes.h"
#include "state/state_checks.h"

namespace penstock {

namespace {

// What has to be read of a batch: keys one behind the other, and where each ends.
struct Misses {
  std::string bytes;
  std::vector<uint32_t> hashes;
  std::vector<size_t> ends;
  [[nodiscard]] std::string_view key(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::string_view(bytes).substr(begin, ends[i] - begin);
  }
};

}  // namespace

TierRecord* EntryAccess::find_small(const EntryPlace& place, size_t limit) {
  if (TierRecord* record = young()->find(place.hash, place.key)) return record;
  for (size_t i = 0; i < layers_.frozen(); ++i) {
    const TierRecord* const found = layers_.frozen(i).records().find(place.hash, place.key);
    if (found == nullptr) continue;
    if (found->has(TierRecord::kPartial) || found->value_size > limit) return nullptr;
    TierRecord* record = young()->insert(place.hash, place.key, found->value_size);
    record = young()->set_value(record, found->value());
    record->flags = found->flags & TierRecord::kAbsent;
    record->clean_size = record->value_size;
    return record;
  }
  return nullptr;
}

Result<TierRecord*> EntryAccess::load(const EntryPlace& place) {
  rocksdb::PinnableSlice value;
  RocksStore* const store = layers_.store();
  const rocksdb::Status status = store->db()->Get(rocksdb::ReadOptions(), layers_.family()->handle,
                                                  to_slice(place.key), &value);
  PENSTOCK_RETURN_NOT_OK(store_loaded(place, status, to_view(value)));
  return young()->find(place.hash, place.key);
}

Status EntryAccess::store_loaded(const EntryPlace& place, const rocksdb::Status& status,
                                 std::string_view value) {
  if (!status.ok() && !status.IsNotFound()) {
    return layers_.store()->check(status, layers_.family()->meta.name);
  }
  TierRecord* record = young()->insert(place.hash, place.key, status.ok() ? value.size() : 0);
  if (status.ok()) {
    record = young()->set_value(record, value);
  } else {
    record->flags = TierRecord::kAbsent;
  }
  record->clean_size = record->value_size;
  return Status::ok();
}

Result<bool> EntryAccess::read_written(const EntryPlace& place, std::string* value) {
  // An older layer that is on its way may be hidden behind a newer one that is not.
  for (size_t i = 0; i < layers_.frozen(); ++i) {
    if (layers_.frozen(i).records().find(place.hash, place.key) == nullptr) continue;
    PENSTOCK_RETURN_NOT_OK(layers_.finish(i));
  }
  value->clear();
  RocksStore* const store = layers_.store();
  const rocksdb::Status status = store->db()->Get(rocksdb::ReadOptions(), layers_.family()->handle,
                                                  to_slice(place.key), value);
  if (status.IsNotFound()) return false;
  PENSTOCK_RETURN_NOT_OK(store->check(status, layers_.family()->meta.name));
  return true;
}

Result<TierRecord*> EntryAccess::complete(const EntryPlace& place, TierRecord* part) {
  std::string value;
  PENSTOCK_RETURN_NOT_OK(read_written(place, &value).status());
  const size_t clean = value.size();
  if (clean > 0) value.push_back(kListSeparator);
  PENSTOCK_RETURN_NOT_OK(check_size(uint64_t{value.size()} + part->value_size));
  value.append(part->value());
  part = young()->set_value(part, value);
  part->flags = TierRecord::kDirty;
  part->clean_size = static_cast<uint32_t>(clean);
  return part;
}

Status EntryAccess::damaged(const char* what) {
  return layers_.store()->check(rocksdb::Status::Corruption(std::string(what) + " that is none"),
                                layers_.family()->meta.name);
}

Status EntryAccess::put(const EntryPlace& place, std::string_view value) {
  TierRecord* record = young()->find(place.hash, place.key);
  if (record != nullptr) return put(record, value);
  record = young()->set_value(young()->insert(place.hash, place.key, value.size()), value);
  record->flags = TierRecord::kDirty;
  layers_.young().set_dirty();
  return layers_.changed();
}

Status EntryAccess::put(TierRecord* record, std::string_view value) {
  const bool in_place = value.size() <= record->value_capacity;
  record = young()->set_value(record, value);
  record->flags = TierRecord::kDirty;
  record->clean_size = 0;
  layers_.young().set_dirty();
  last_ = nullptr;
  return in_place ? Status::ok() : layers_.changed();
}

// Without making the key of the database; keys and namespaces of 128 bytes and more are left out.
TierRecord* EntryAccess::remembered(const EntryKey& entry) const {
  if (last_ == nullptr || last_epoch_ != layers_.epoch()) return nullptr;
  const size_t key_size = entry.key.size();
  const size_t space_size = entry.name_space.size();
  if (key_size >= 0x80 || space_size >= 0x80) return nullptr;
  const std::string_view known = last_->key();
  if (known.size() != kGroupBytes + 2 + key_size + space_size) return nullptr;
  const std::string_view rest = known.substr(kGroupBytes);
  const bool same = static_cast<uint8_t>(rest[0]) == key_size &&
                    static_cast<uint8_t>(rest[key_size + 1]) == space_size &&
                    rest.substr(1, key_size) == entry.key &&
                    rest.substr(key_size + 2) == entry.name_space;
  return same ? last_ : nullptr;
}

Status EntryAccess::remove(const EntryPlace& place) {
  TierRecord* record = young()->find(place.hash, place.key);
  const bool known = record != nullptr;
  if (known && record->flags == TierRecord::kAbsent) return Status::ok();
  if (!known) record = young()->insert(place.hash, place.key, 0);
  record->value_size = 0;
  record->clean_size = 0;
  record->flags = TierRecord::kDirty | TierRecord::kAbsent;
  layers_.young().set_dirty();
  return known ? Status::ok() : layers_.changed();
}

bool EntryAccess::is_known(const EntryPlace& place) {
  if (young()->find(place.hash, place.key) != nullptr) return true;
  for (size_t i = 0; i < layers_.frozen(); ++i) {
    if (layers_.frozen(i).records().find(place.hash, place.key) != nullptr) return true;
  }
  return false;
}

bool EntryAccess::misses_some(const EncodedKeys& keys) {
  constexpr size_t kStep = 16;
  for (size_t i = 0; i < keys.hashes.size(); i += kStep) {
    const EntryKey entry{keys.bytes.bytes_at(static_cast<int64_t>(i)), keys.hashes[i], {}};
    if (!is_known(place_of(entry))) return true;
  }
  return false;
}

Status EntryAccess::prepare(const EncodedKeys& keys) {
  if (!had_misses_ && !misses_some(keys)) return Status::ok();
  Misses misses;
  for (size_t i = 0; i < keys.hashes.size(); ++i) {
    const EntryKey entry{keys.bytes.bytes_at(static_cast<int64_t>(i)), keys.hashes[i], {}};
    const EntryPlace place = place_of(entry);
    if (is_known(place)) continue;
    misses.bytes.append(place.key);
    misses.ends.push_back(misses.bytes.size());
    misses.hashes.push_back(place.hash);
  }
  had_misses_ = !misses.ends.empty();
  if (!had_misses_) return Status::ok();
  std::vector<std::pair<rocksdb::Slice, uint32_t>> sorted;
  sorted.reserve(misses.ends.size());
  for (size_t i = 0; i < misses.ends.size(); ++i) {
    sorted.emplace_back(to_slice(misses.key(i)), misses.hashes[i]);
  }
  const auto less = [](const auto& a, const auto& b) { return a.first.compare(b.first) < 0; };
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  std::sort(sorted.begin(), sorted.end(), less);
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());

  std::vector<rocksdb::Slice> slices;
  slices.reserve(sorted.size());
  for (const auto& [slice, hash] : sorted) slices.push_back(slice);
  const auto values = std::make_unique<rocksdb::PinnableSlice[]>(slices.size());
  std::vector<rocksdb::Status> statuses(slices.size());
  layers_.store()->db()->MultiGet(rocksdb::ReadOptions(), layers_.family()->handle, slices.size(),
                                  slices.data(), values.get(), statuses.data(), true);
  for (size_t i = 0; i < slices.size(); ++i) {
    const EntryPlace place{sorted[i].second, to_view(slices[i])};
    PENSTOCK_RETURN_NOT_OK(store_loaded(place, statuses[i], to_view(values[i])));
  }
  return layers_.changed();
}

Status EntryAccess::for_each(const std::string& from, const std::string& end,
                             const EntryVisitor& visit) {
  PENSTOCK_RETURN_NOT_OK(layers_.tier()->flush());
  RocksStore* const store = layers_.store();
  const std::string& state = layers_.family()->meta.name;
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(
      store->db()->NewIterator(options, layers_.family()->handle));
  for (it->Seek(from); it->Valid(); it->Next()) {
    EntryKeyParts parts;
    if (!split_entry_key(to_view(it->key()), &parts)) {
      return damaged("a key");
    }
    PENSTOCK_RETURN_NOT_OK(visit(parts.key, parts.name_space, to_view(it->value())));
  }
  return store->check(it->status(), state);
}

}  // namespace penstock
