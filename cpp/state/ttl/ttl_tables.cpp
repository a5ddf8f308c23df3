#include "state/ttl/ttl_tables.h"

#include <algorithm>

#include "state/canonical.h"

namespace penstock {

Status TtlTable::clean_for_records(size_t count) {
  if (!cleans_incrementally() || !config_.incremental_cleanup_per_record) return Status::ok();
  return clean_keys(count * static_cast<size_t>(config_.incremental_cleanup_entries));
}

Status TtlTable::clean_for_access() {
  if (!cleans_incrementally()) return Status::ok();
  return clean_keys(static_cast<size_t>(config_.incremental_cleanup_entries));
}

Status TtlTable::clean_keys(size_t count) {
  walk_->next_keys(count, &keys_);
  for (const OwnedKey& key : keys_) PENSTOCK_RETURN_NOT_OK(clean(key.view()));
  return Status::ok();
}

std::string_view TtlTable::stamped(std::string_view value) {
  stamped_.clear();
  append_ttl_value(now(), value, &stamped_);
  return stamped_;
}

Result<TtlTable::Verdict> TtlTable::judge(std::string_view stored, int64_t at) const {
  int64_t timestamp = 0;
  std::string_view value;
  PENSTOCK_RETURN_NOT_OK(split_ttl_value(stored, &timestamp, &value));
  Verdict verdict;
  verdict.remove = expired(timestamp, at);
  verdict.touch = !verdict.remove && updates_on_read() && timestamp != at;
  if (!verdict.remove || returns_expired()) verdict.value = value;
  return verdict;
}

// Value.

Result<std::optional<std::string_view>> TtlValueTable::get(const EntryKey& entry) {
  PENSTOCK_RETURN_NOT_OK(clean_for_access());
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string_view> stored, inner_->get(entry));
  if (!stored) return stored;
  PENSTOCK_ASSIGN_OR_RETURN(Verdict verdict, judge(*stored, now()));
  if (!verdict.remove && !verdict.touch) return verdict.value;
  if (verdict.value) {
    read_.assign(*verdict.value);
    verdict.value = read_;
  }
  PENSTOCK_RETURN_NOT_OK(verdict.remove ? inner_->remove(entry)
                                        : inner_->put(entry, stamped(read_)));
  return verdict.value;
}

Status TtlValueTable::put(const EntryKey& entry, std::string_view value) {
  PENSTOCK_RETURN_NOT_OK(inner_->put(entry, stamped(value)));
  return clean_for_access();
}

Status TtlValueTable::for_each(const EntryVisitor& visit) {
  const int64_t at = now();
  return inner_->for_each(
      [&](std::string_view key, std::string_view name_space, std::string_view stored) {
        PENSTOCK_ASSIGN_OR_RETURN(const Verdict verdict, judge(stored, at));
        return verdict.value ? visit(key, name_space, *verdict.value) : Status::ok();
      });
}

Status TtlValueTable::clean(const EntryKey& entry) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string_view> stored, inner_->get(entry));
  if (!stored) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(const Verdict verdict, judge(*stored, now()));
  return verdict.remove ? inner_->remove(entry) : Status::ok();
}

// List.

Status TtlListTable::read(const EntryKey& entry, Read* out) {
  PENSTOCK_RETURN_NOT_OK(inner_->get(entry, &out->stored));
  const int64_t at = now();
  for (const std::string_view stored : out->stored) {
    PENSTOCK_ASSIGN_OR_RETURN(const Verdict verdict, judge(stored, at));
    if (!verdict.remove) out->unexpired.push_back(stored);
    if (verdict.value) out->to_return.push_back(*verdict.value);
  }
  return Status::ok();
}

void TtlListTable::stamp_all(const std::vector<std::string_view>& elements, int64_t timestamp,
                             std::string* buffer, std::vector<std::string_view>* out) {
  size_t size = 0;
  for (const std::string_view element : elements) size += kTtlPrefix + element.size();
  buffer->clear();
  buffer->reserve(size);  // so that the views stay valid
  out->clear();
  for (const std::string_view element : elements) {
    const size_t from = buffer->size();
    append_ttl_value(timestamp, element, buffer);
    out->push_back(std::string_view(*buffer).substr(from));
  }
}

Status TtlListTable::get(const EntryKey& entry, std::vector<std::string_view>* out) {
  PENSTOCK_RETURN_NOT_OK(clean_for_access());
  Read list;
  PENSTOCK_RETURN_NOT_OK(read(entry, &list));
  const bool clears = list.unexpired.empty() && !list.stored.empty();
  const bool touches = updates_on_read() && !list.unexpired.empty();
  if (clears || touches) {
    // What is given out must not be what is about to change.
    stamp_all(list.to_return, now(), &buffer_, &views_);
    list.to_return.clear();
    for (const std::string_view stamped : views_) {
      list.to_return.push_back(stamped.substr(kTtlPrefix));
    }
  }
  if (clears) PENSTOCK_RETURN_NOT_OK(inner_->clear(entry));
  if (touches) {
    std::string stamps;
    std::vector<std::string_view> unexpired;
    for (std::string_view& stored : list.unexpired) stored.remove_prefix(kTtlPrefix);
    stamp_all(list.unexpired, now(), &stamps, &unexpired);
    PENSTOCK_RETURN_NOT_OK(inner_->update(entry, unexpired));
  }
  *out = std::move(list.to_return);
  return Status::ok();
}

Status TtlListTable::add(const EntryKey& entry, std::string_view element) {
  PENSTOCK_RETURN_NOT_OK(inner_->add(entry, stamped(element)));
  return clean_for_access();
}

Status TtlListTable::update(const EntryKey& entry, const std::vector<std::string_view>& elements) {
  std::string stamps;
  std::vector<std::string_view> with_stamps;
  stamp_all(elements, now(), &stamps, &with_stamps);
  PENSTOCK_RETURN_NOT_OK(inner_->update(entry, with_stamps));
  return clean_for_access();
}

Status TtlListTable::for_each(const EntryVisitor& visit) {
  const int64_t at = now();
  std::string list;
  return inner_->for_each(
      [&](std::string_view key, std::string_view name_space, std::string_view stored_list) {
        list.clear();
        PENSTOCK_RETURN_NOT_OK(for_each_element(stored_list, [&](std::string_view stored) {
          PENSTOCK_ASSIGN_OR_RETURN(const Verdict verdict, judge(stored, at));
          if (verdict.value) put_bytes(&list, *verdict.value);
          return Status::ok();
        }));
        return list.empty() ? Status::ok() : visit(key, name_space, list);
      });
}

Status TtlListTable::clean(const EntryKey& entry) {
  Read list;
  PENSTOCK_RETURN_NOT_OK(read(entry, &list));
  if (list.unexpired.size() == list.stored.size()) return Status::ok();
  return inner_->update(entry, list.unexpired);
}

// Map.

Result<std::optional<std::string_view>> TtlMapTable::get(const EntryKey& entry,
                                                         std::string_view user_key) {
  if (cleans_incrementally()) {
    key_.assign(user_key);
    user_key = key_;
    PENSTOCK_RETURN_NOT_OK(clean_for_access());
  }
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string_view> stored,
                            inner_->get(entry, user_key));
  if (!stored) return stored;
  PENSTOCK_ASSIGN_OR_RETURN(Verdict verdict, judge(*stored, now()));
  if (!verdict.remove && !verdict.touch) return verdict.value;
  if (verdict.value) {
    read_.assign(*verdict.value);
    verdict.value = read_;
  }
  PENSTOCK_RETURN_NOT_OK(verdict.remove ? inner_->remove(entry, user_key)
                                        : inner_->put(entry, user_key, stamped(read_)));
  return verdict.value;
}

Status TtlMapTable::put(const EntryKey& entry, std::string_view user_key, std::string_view value) {
  PENSTOCK_RETURN_NOT_OK(inner_->put(entry, user_key, stamped(value)));
  return clean_for_access();
}

Status TtlMapTable::remove(const EntryKey& entry, std::string_view user_key) {
  PENSTOCK_RETURN_NOT_OK(inner_->remove(entry, user_key));
  return clean_for_access();
}

Result<bool> TtlMapTable::is_empty(const EntryKey& entry) {
  PENSTOCK_RETURN_NOT_OK(clean_for_access());
  return inner_->is_empty(entry);
}

Status TtlMapTable::scan_some(const EntryKey& entry, std::optional<std::string>* after,
                              size_t limit, bool* at_end) {
  std::vector<UserEntry> some;
  PENSTOCK_RETURN_NOT_OK(inner_->scan(entry, *after, limit, &some));
  *at_end = some.size() < limit;
  const int64_t at = now();
  std::vector<std::string> expired_keys;
  std::vector<size_t> touched;
  for (const auto& [user_key, stored] : some) {
    PENSTOCK_ASSIGN_OR_RETURN(const Verdict verdict, judge(stored, at));
    if (verdict.remove) expired_keys.emplace_back(user_key);
    if (verdict.touch) touched.push_back(found_.size());
    if (verdict.value) found_.push_back({std::string(user_key), std::string(*verdict.value)});
  }
  if (!some.empty()) *after = std::string(some.back().first);
  // Only now: changes end the life of the views.
  for (const std::string& user_key : expired_keys) {
    PENSTOCK_RETURN_NOT_OK(inner_->remove(entry, user_key));
  }
  for (const size_t i : touched) {
    PENSTOCK_RETURN_NOT_OK(inner_->put(entry, found_[i].user_key, stamped(found_[i].value)));
  }
  return Status::ok();
}

Status TtlMapTable::scan(const EntryKey& entry, std::optional<std::string_view> after, size_t limit,
                         std::vector<UserEntry>* out) {
  std::optional<std::string> from;
  if (after) from.emplace(*after);  // may point into found_
  out->clear();
  found_.clear();
  PENSTOCK_RETURN_NOT_OK(clean_for_access());
  bool at_end = limit == 0;
  while (!at_end && found_.size() < limit) {
    PENSTOCK_RETURN_NOT_OK(scan_some(entry, &from, limit - found_.size(), &at_end));
  }
  for (const Found& found : found_) out->emplace_back(found.user_key, found.value);
  return Status::ok();
}

Status TtlMapTable::for_each(const EntryVisitor& visit) {
  const int64_t at = now();
  std::string value;
  return inner_->for_each(
      [&](std::string_view key, std::string_view name_space, std::string_view stored) {
        std::string_view user_key;
        PENSTOCK_RETURN_NOT_OK(split_user_entry(stored, &user_key, &stored));
        PENSTOCK_ASSIGN_OR_RETURN(const Verdict verdict, judge(stored, at));
        if (!verdict.value) return Status::ok();
        value.clear();
        append_user_entry(user_key, *verdict.value, &value);
        return visit(key, name_space, value);
      });
}

Status TtlMapTable::clean(const EntryKey& entry) {
  constexpr size_t kAtOnce = 64;
  const int64_t at = now();
  std::vector<UserEntry> some;
  std::vector<std::string> expired_keys;
  std::optional<std::string> after;
  do {
    PENSTOCK_RETURN_NOT_OK(inner_->scan(entry, after, kAtOnce, &some));
    if (!some.empty()) after = std::string(some.back().first);
    for (const auto& [user_key, stored] : some) {
      PENSTOCK_ASSIGN_OR_RETURN(const Verdict verdict, judge(stored, at));
      if (verdict.remove) expired_keys.emplace_back(user_key);
    }
  } while (some.size() == kAtOnce);
  for (const std::string& user_key : expired_keys) {
    PENSTOCK_RETURN_NOT_OK(inner_->remove(entry, user_key));
  }
  return Status::ok();
}

}  // namespace penstock
