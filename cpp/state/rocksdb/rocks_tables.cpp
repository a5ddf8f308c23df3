#include "state/rocksdb/rocks_tables.h"

#include "state/rocksdb/list_bytes.h"
#include "state/state_checks.h"

namespace penstock {

namespace {
using Sample = LatencyTracker::Scope;
// To add to a list of which a frozen layer has the whole, up to this size the whole is copied; so
// that what follows finds it in one place.
constexpr size_t kCopiedList = 1024;
// An element's length and the separator.
constexpr uint64_t kElementOverhead = 5;

Status check_parts(const EntryKey& entry) {
  return check_size(uint64_t{entry.key.size()} + entry.name_space.size());
}
}  // namespace

Result<std::optional<std::string_view>> RocksValueTable::get(const EntryKey& entry) {
  const Sample sample(&latency_, "get");
  PENSTOCK_RETURN_NOT_OK(access_.layers().failure());
  was_read_ = true;
  const EntryPlace place = access_.place_of(entry);
  TierRecord* record = access_.young()->find(place.hash, place.key);
  if (record == nullptr) {
    record = access_.find(place);
    if (record == nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(record, access_.load(place));
    }
    access_.remember(record);  // first: the young layer may be frozen now
    PENSTOCK_RETURN_NOT_OK(access_.layers().changed());
  } else {
    access_.remember(record);
  }
  if (record->has(TierRecord::kAbsent)) return std::optional<std::string_view>();
  return std::optional(record->value());
}

Status RocksValueTable::put(const EntryKey& entry, std::string_view value) {
  const Sample sample(&latency_, "put");
  PENSTOCK_RETURN_NOT_OK(access_.layers().failure());
  PENSTOCK_RETURN_NOT_OK(check_size(value.size()));
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  if (TierRecord* record = access_.remembered(entry)) return access_.put(record, value);
  return access_.put(access_.place_of(entry), value);
}

Status RocksValueTable::remove(const EntryKey& entry) {
  const Sample sample(&latency_, "remove");
  PENSTOCK_RETURN_NOT_OK(access_.layers().failure());
  return access_.remove(access_.place_of(entry));
}

Status RocksValueTable::prepare(const EncodedKeys& keys) {
  if (!was_read_) return Status::ok();
  was_read_ = false;
  const Sample sample(&latency_, "prepare");
  return access_.prepare(keys);
}

Result<TierRecord*> RocksListTable::whole(const EntryPlace& place) {
  TierRecord* record = access_.find(place);
  if (record != nullptr && !record->has(TierRecord::kPartial)) return record;
  if (record != nullptr) return access_.complete(place, record);
  PENSTOCK_ASSIGN_OR_RETURN(const bool found, access_.read_written(place, &list_));
  record = access_.young()->set_value(access_.insert(place, list_.size()), list_);
  record->flags = found ? 0 : TierRecord::kAbsent;
  record->clean_size = record->value_size;
  return record;
}

Status RocksListTable::get(const EntryKey& entry, std::vector<std::string_view>* out) {
  const Sample sample(&latency_, "get");
  PENSTOCK_RETURN_NOT_OK(access_.layers().failure());
  out->clear();
  PENSTOCK_ASSIGN_OR_RETURN(const TierRecord* record, whole(access_.place_of(entry)));
  if (!record->has(TierRecord::kAbsent)) {
    const auto add = [out](std::string_view element) { out->push_back(element); };
    if (!for_each_list_element(record->value(), add)) return access_.damaged("a list");
  }
  return access_.layers().changed();
}

Status RocksListTable::add(const EntryKey& entry, std::string_view element) {
  const Sample sample(&latency_, "add");
  PENSTOCK_RETURN_NOT_OK(access_.layers().failure());
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  PENSTOCK_RETURN_NOT_OK(check_size(element.size() + kElementOverhead));
  list_.clear();
  append_list_element(element, &list_);
  const EntryPlace place = access_.place_of(entry);
  TierRecord* record = access_.find_small(place, kCopiedList);
  if (record != nullptr) {
    PENSTOCK_RETURN_NOT_OK(check_size(uint64_t{record->value_size} + list_.size() + 1));
  }
  access_.layers().young().set_dirty();
  if (record == nullptr) {
    record = access_.insert(place, list_.size());
    record = access_.young()->set_value(record, list_);
    record->flags = TierRecord::kDirty | TierRecord::kPartial;
  } else if (record->has(TierRecord::kAbsent)) {
    record = access_.young()->set_value(record, list_);
    record->flags = TierRecord::kDirty;
    record->clean_size = 0;
  } else {
    list_.insert(list_.begin(), kListSeparator);
    record = access_.young()->append(record, list_);
    record->flags |= TierRecord::kDirty;
  }
  return access_.layers().changed();
}

Status RocksListTable::update(const EntryKey& entry,
                              const std::vector<std::string_view>& elements) {
  const Sample sample(&latency_, "update");
  PENSTOCK_RETURN_NOT_OK(access_.layers().failure());
  if (elements.empty()) return access_.remove(access_.place_of(entry));
  uint64_t size = 0;
  for (const std::string_view element : elements) size += element.size() + kElementOverhead;
  PENSTOCK_RETURN_NOT_OK(check_size(size));
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  list_.clear();
  for (const std::string_view element : elements) append_list_element(element, &list_);
  return access_.put(access_.place_of(entry), list_);
}

Status RocksListTable::clear(const EntryKey& entry) {
  const Sample sample(&latency_, "clear");
  PENSTOCK_RETURN_NOT_OK(access_.layers().failure());
  return access_.remove(access_.place_of(entry));
}

Status RocksListTable::for_each(const EntryVisitor& visit) {
  return access_.for_each(
      [&](std::string_view key, std::string_view name_space, std::string_view list) -> Status {
        std::string plain;
        const auto add = [&](std::string_view element) { put_bytes(&plain, element); };
        if (!for_each_list_element(list, add)) return access_.damaged("a list");
        return visit(key, name_space, plain);
      });
}

void RocksMapTable::start_key(const EntryKey& entry) {
  key_.clear();
  append_entry_key(entry.key_group(max_parallelism_), entry.key, entry.name_space, &key_);
}

Result<std::optional<std::string_view>> RocksMapTable::get(const EntryKey& entry,
                                                           std::string_view user_key) {
  const Sample sample(&latency_, "get");
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  start_key(entry);
  key_.append(user_key);
  return layers_.get(key_);
}

Status RocksMapTable::put(const EntryKey& entry, std::string_view user_key,
                          std::string_view value) {
  const Sample sample(&latency_, "put");
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  // Together, since they are one entry of a snapshot.
  PENSTOCK_RETURN_NOT_OK(check_size(uint64_t{user_key.size()} + value.size()));
  start_key(entry);
  key_.append(user_key);
  return layers_.set(key_, value);
}

Status RocksMapTable::remove(const EntryKey& entry, std::string_view user_key) {
  const Sample sample(&latency_, "remove");
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  start_key(entry);
  key_.append(user_key);
  return layers_.set(key_, std::nullopt);
}

Result<bool> RocksMapTable::is_empty(const EntryKey& entry) {
  const Sample sample(&latency_, "is_empty");
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  start_key(entry);
  bool empty = true;
  const auto found = [&](std::string_view, std::string_view) { return empty = false; };
  PENSTOCK_RETURN_NOT_OK(layers_.scan(key_, prefix_end(key_), found));
  return empty;
}

Status RocksMapTable::clear(const EntryKey& entry) {
  const Sample sample(&latency_, "clear");
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  start_key(entry);
  std::vector<std::string> keys;
  PENSTOCK_RETURN_NOT_OK(layers_.scan(key_, prefix_end(key_), [&](std::string_view key, auto) {
    keys.emplace_back(key);
    return true;
  }));
  for (const std::string& key : keys) PENSTOCK_RETURN_NOT_OK(layers_.set(key, std::nullopt));
  return Status::ok();
}

Status RocksMapTable::scan(const EntryKey& entry, std::optional<std::string_view> after,
                           size_t limit, std::vector<UserEntry>* out) {
  const Sample sample(&latency_, "scan");
  PENSTOCK_RETURN_NOT_OK(layers_.layers().failure());
  out->clear();
  start_key(entry);
  const size_t prefix = key_.size();
  const std::string end = prefix_end(key_);
  // The least key behind `after` is `after` and a zero byte.
  if (after) key_.append(*after).push_back('\0');
  // `after` may have been given out by the scan before.
  scanned_.clear();
  if (limit == 0) return Status::ok();
  return layers_.scan(key_, end, [&](std::string_view key, std::string_view value) {
    const std::string& copy = scanned_.emplace_back(std::string(key.substr(prefix)).append(value));
    const size_t size = key.size() - prefix;
    out->emplace_back(std::string_view(copy).substr(0, size), std::string_view(copy).substr(size));
    return out->size() < limit;
  });
}

Status RocksMapTable::for_each(const EntryVisitor& visit) {
  std::string entry;
  Status status;
  PENSTOCK_RETURN_NOT_OK(
      layers_.scan(group_prefix(0), "\xff\xff", [&](std::string_view key, std::string_view value) {
        EntryKeyParts parts;
        if (!split_entry_key(key, &parts)) {
          status = layers_.layers().store()->check(
              rocksdb::Status::Corruption("a key that is none"), layers_.state());
          return false;
        }
        entry.clear();
        put_bytes(&entry, parts.user_key);
        entry.append(value);
        status = visit(parts.key, parts.name_space, entry);
        return status.is_ok();
      }));
  return status;
}

}  // namespace penstock
