// Entries of the database in the form that all backends share, and back.

#include "record/key_encoding.h"
#include "snapshot/bytes.h"
#include "state/canonical.h"
#include "state/rocksdb/list_bytes.h"
#include "state/rocksdb/rocks_keys.h"
#include "state/rocksdb/rocks_snapshot.h"
#include "state/rocksdb/slice_keys.h"

namespace penstock {

namespace {

Status visit_timer(std::string_view bytes, std::string* value, const CanonicalVisitor& visit) {
  TimerKeyParts parts;
  if (!split_timer_key(bytes, &parts)) return Status::corruption("a timer that is none");
  value->clear();
  put_u64(value, static_cast<uint64_t>(parts.timestamp));
  return visit(parts.group, parts.key, parts.name_space, *value);
}

// `name_space` is used for its memory.
Status visit_slice(const rocksdb::Iterator& it, std::string* name_space,
                   const CanonicalVisitor& visit) {
  SliceKeyParts parts;
  if (!split_slice_key(to_view(it.key()), &parts)) {
    return Status::corruption("a key of a window that is none");
  }
  name_space->clear();
  put_u64(name_space, static_cast<uint64_t>(parts.end));
  return visit(parts.group, parts.key, *name_space, to_view(it.value()));
}

Status plain_list(std::string_view list, std::string* out) {
  out->clear();
  const auto add = [out](std::string_view element) { put_bytes(out, element); };
  if (for_each_list_element(list, add)) return Status::ok();
  return Status::corruption("a list that is none");
}

Status timer_from_canonical(int32_t group, std::string_view key, std::string_view name_space,
                            std::string_view value, std::string* rocks_key) {
  uint64_t timestamp = 0;
  ByteReader reader(value);
  if (!reader.get_u64(&timestamp) || !reader.at_end()) {
    return Status::corruption("a timer's value has " + std::to_string(value.size()) +
                              " bytes instead of 8");
  }
  append_timer_key(group, {static_cast<Timestamp>(timestamp), key, 0, name_space}, rocks_key);
  return Status::ok();
}

}  // namespace

Status visit_canonical(StateKind kind, rocksdb::Iterator* it, const CanonicalVisitor& visit) {
  std::string value;
  for (; it->Valid(); it->Next()) {
    if (kind == StateKind::kTimers) {
      PENSTOCK_RETURN_NOT_OK(visit_timer(to_view(it->key()), &value, visit));
      continue;
    }
    if (kind == StateKind::kWindowContents) {
      PENSTOCK_RETURN_NOT_OK(visit_slice(*it, &value, visit));
      continue;
    }
    EntryKeyParts parts;
    if (!split_entry_key(to_view(it->key()), &parts)) {
      return Status::corruption("a key that is none");
    }
    std::string_view stored = to_view(it->value());
    if (kind == StateKind::kList) {
      PENSTOCK_RETURN_NOT_OK(plain_list(stored, &value));
      stored = value;
    } else if (kind == StateKind::kMap) {
      value.clear();
      append_user_entry(parts.user_key, stored, &value);
      stored = value;
    }
    PENSTOCK_RETURN_NOT_OK(visit(parts.group, parts.key, parts.name_space, stored));
  }
  return Status::ok();
}

Status from_canonical(StateKind kind, int32_t group, std::string_view key,
                      std::string_view name_space, std::string_view value, std::string* rocks_key,
                      std::string* rocks_value) {
  rocks_key->clear();
  rocks_value->clear();
  if (kind == StateKind::kTimers) {
    return timer_from_canonical(group, key, name_space, value, rocks_key);
  }
  append_entry_key(group, key, name_space, rocks_key);
  if (kind == StateKind::kList) {
    return for_each_element(value, [&](std::string_view element) {
      append_list_element(element, rocks_value);
      return Status::ok();
    });
  }
  if (kind == StateKind::kMap) {
    std::string_view user_key;
    PENSTOCK_RETURN_NOT_OK(split_user_entry(value, &user_key, &value));
    rocks_key->append(user_key);
  }
  rocks_value->assign(value);
  return Status::ok();
}

}  // namespace penstock
