#include "state/heap/heap_tables.h"

#include <cstring>

#include "snapshot/bytes.h"
#include "state/canonical.h"
#include "state/heap/map_tree.h"
#include "state/state_checks.h"

namespace penstock {

namespace {

// Bytes that stay where they are, whatever happens to the cell they came from.
class StableView {
 public:
  explicit StableView(std::string_view bytes) : view_(bytes) {
    if (bytes.size() > kInlineBytes || bytes.empty()) return;
    std::memcpy(copy_, bytes.data(), bytes.size());
    view_ = {copy_, bytes.size()};
  }
  StableView(const StableView&) = delete;
  StableView& operator=(const StableView&) = delete;
  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  char copy_[kInlineBytes];
  std::string_view view_;
};

// Runs `use` on the tree in the value cell of `entry`, which it must not change.
template <typename Use>
auto read_tree(const Entry* entry, Use&& use) {
  MapTree tree = MapTree::adopt(entry->value_tag == kTreeTag ? entry->value.out.pointer : nullptr);
  auto result = use(static_cast<const MapTree&>(tree));
  (void)tree.detach();
  return result;
}

template <typename Use>
void change_tree(Entry* entry, Use&& use) {
  MapTree tree = MapTree::adopt(entry->value_tag == kTreeTag ? entry->value.out.pointer : nullptr);
  use(&tree);
  entry->value_tag = tree.empty() ? 0 : kTreeTag;
  entry->value.out = {tree.detach(), 0, 0};
}

Status check_parts(const EntryKey& entry) {
  return check_size(entry.key.size() + entry.name_space.size());
}

}  // namespace

Result<std::optional<std::string_view>> HeapValueTable::get(const EntryKey& entry) {
  const Entry* const found = entries_.find(EntryTable::probe_of(entry));
  if (found == nullptr) return std::optional<std::string_view>();
  return std::optional<std::string_view>(found->value_view());
}

Status HeapValueTable::put(const EntryKey& entry, std::string_view value) {
  PENSTOCK_RETURN_NOT_OK(check_size(value.size()));
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  const StableView stable(value);
  bool inserted = false;
  PENSTOCK_ASSIGN_OR_RETURN(Entry * place,
                            entries_.find_or_insert(EntryTable::probe_of(entry), &inserted));
  cell_assign(stable.view(), &place->value, &place->value_tag);
  return Status::ok();
}

Status HeapValueTable::remove(const EntryKey& entry) {
  entries_.erase(EntryTable::probe_of(entry));
  return Status::ok();
}

Status HeapValueTable::for_each(const EntryVisitor& visit) {
  return entries_.for_each([&visit](const Entry& entry) {
    return visit(entry.key_view(), entry.name_space(), entry.value_view());
  });
}

Status HeapListTable::get(const EntryKey& entry, std::vector<std::string_view>* out) {
  out->clear();
  const Entry* const found = entries_.find(EntryTable::probe_of(entry));
  return found == nullptr ? Status::ok() : split_list(found->value_view(), out);
}

Status HeapListTable::add(const EntryKey& entry, std::string_view element) {
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  PENSTOCK_RETURN_NOT_OK(check_size(element.size()));
  const StableView stable(element);
  bool inserted = false;
  PENSTOCK_ASSIGN_OR_RETURN(Entry * place,
                            entries_.find_or_insert(EntryTable::probe_of(entry), &inserted));
  PENSTOCK_RETURN_NOT_OK(check_size(uint64_t{place->value_view().size()} + 4 + element.size()));
  const auto size = static_cast<uint32_t>(element.size());
  char length[4];
  for (int i = 0; i < 4; ++i) length[i] = static_cast<char>(size >> (8 * i));
  cell_append({length, 4}, stable.view(), &place->value, &place->value_tag);
  return Status::ok();
}

Status HeapListTable::update(const EntryKey& entry, const std::vector<std::string_view>& elements) {
  uint64_t size = 0;
  for (const std::string_view element : elements) size += element.size() + 4;
  PENSTOCK_RETURN_NOT_OK(check_size(size));
  std::string joined;
  for (const std::string_view element : elements) put_bytes(&joined, element);
  return restore_entry(entry, joined);
}

Status HeapListTable::clear(const EntryKey& entry) {
  entries_.erase(EntryTable::probe_of(entry));
  return Status::ok();
}

Status HeapListTable::for_each(const EntryVisitor& visit) {
  return entries_.for_each([&visit](const Entry& entry) {
    return visit(entry.key_view(), entry.name_space(), entry.value_view());
  });
}

Status HeapListTable::restore_entry(const EntryKey& entry, std::string_view value) {
  if (value.empty()) return clear(entry);
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  PENSTOCK_RETURN_NOT_OK(check_size(value.size()));
  PENSTOCK_RETURN_NOT_OK(check_list(value));
  bool inserted = false;
  PENSTOCK_ASSIGN_OR_RETURN(Entry * place,
                            entries_.find_or_insert(EntryTable::probe_of(entry), &inserted));
  cell_assign(value, &place->value, &place->value_tag);
  return Status::ok();
}

Result<std::optional<std::string_view>> HeapMapTable::get(const EntryKey& entry,
                                                          std::string_view user_key) {
  const Entry* const found = entries_.find(EntryTable::probe_of(entry));
  std::optional<std::string_view> value;
  if (found == nullptr) return value;
  const MapEntry* const in_map =
      read_tree(found, [user_key](const MapTree& tree) { return tree.find(user_key); });
  if (in_map != nullptr) value = in_map->user_value();
  return value;
}

Status HeapMapTable::put(const EntryKey& entry, std::string_view user_key, std::string_view value) {
  PENSTOCK_RETURN_NOT_OK(check_parts(entry));
  // Together, since they are one entry of a snapshot.
  PENSTOCK_RETURN_NOT_OK(check_size(uint64_t{user_key.size()} + value.size()));
  const StableView stable_key(user_key);
  const StableView stable_value(value);
  bool inserted = false;
  PENSTOCK_ASSIGN_OR_RETURN(Entry * place,
                            entries_.find_or_insert(EntryTable::probe_of(entry), &inserted));
  change_tree(place, [&](MapTree* tree) {
    bool fresh = false;
    MapEntry* const in_map = tree->find_or_insert(stable_key.view(), &fresh);
    if (fresh) in_map->key_tag = cell_fill(stable_key.view(), {}, &in_map->key);
    cell_assign(stable_value.view(), &in_map->value, &in_map->value_tag);
  });
  return Status::ok();
}

Status HeapMapTable::remove(const EntryKey& entry, std::string_view user_key) {
  const EntryTable::Probe probe = EntryTable::probe_of(entry);
  const StableView stable_key(user_key);
  Entry* const place = entries_.find_to_change(probe);
  if (place == nullptr) return Status::ok();
  MapEntry removed{};
  change_tree(place, [&](MapTree* tree) { tree->take(stable_key.view(), &removed); });
  if (place->value_tag == 0) entries_.erase(probe);
  MapTreeTraits::release(removed);
  return Status::ok();
}

Result<bool> HeapMapTable::is_empty(const EntryKey& entry) {
  return entries_.find(EntryTable::probe_of(entry)) == nullptr;
}

Status HeapMapTable::clear(const EntryKey& entry) {
  entries_.erase(EntryTable::probe_of(entry));
  return Status::ok();
}

Status HeapMapTable::scan(const EntryKey& entry, std::optional<std::string_view> after,
                          size_t limit, std::vector<UserEntry>* out) {
  // `after` may come from `out`'s last filling: the views are gone with clear(), their bytes are not.
  out->clear();
  const Entry* const found = entries_.find(EntryTable::probe_of(entry));
  if (found == nullptr || limit == 0) return Status::ok();
  read_tree(found, [&](const MapTree& tree) {
    return tree.visit_after(after ? &*after : nullptr, [&](const MapEntry& in_map) {
      out->emplace_back(in_map.user_key(), in_map.user_value());
      return out->size() < limit;
    });
  });
  return Status::ok();
}

Status HeapMapTable::for_each(const EntryVisitor& visit) {
  std::string value;
  return entries_.for_each([&](const Entry& entry) {
    Status status;
    read_tree(&entry, [&](const MapTree& tree) {
      return tree.visit([&](const MapEntry& in_map) {
        value.clear();
        append_user_entry(in_map.user_key(), in_map.user_value(), &value);
        status = visit(entry.key_view(), entry.name_space(), value);
        return status.is_ok();
      });
    });
    return status;
  });
}

Status HeapMapTable::restore_entry(const EntryKey& entry, std::string_view value) {
  std::string_view user_key;
  PENSTOCK_RETURN_NOT_OK(split_user_entry(value, &user_key, &value));
  return put(entry, user_key, value);
}

}  // namespace penstock
