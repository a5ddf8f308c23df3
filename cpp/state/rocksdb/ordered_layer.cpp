#include "state/rocksdb/ordered_layer.h"

#include <rocksdb/write_batch.h>

#include <memory>
#include <vector>

#include "state/rocksdb/rocks_keys.h"

namespace penstock {

namespace {

constexpr size_t kBatchBytes = size_t{256} << 10;
// About what a node of a std::map costs.
constexpr size_t kSlotBytes = sizeof(OrderedLayer::Slot) + sizeof(std::string) + 48;

// One of the sorted sequences that a scan puts together: a layer.
struct Cursor {
  OrderedLayer::Slots::const_iterator at;
  OrderedLayer::Slots::const_iterator end;
};

}  // namespace

const OrderedLayer::Slot& OrderedLayer::set(std::string_view key,
                                            std::optional<std::string_view> value, bool dirty) {
  auto found = slots_.lower_bound(key);
  if (found == slots_.end() || found->first != key) {
    found = slots_.emplace_hint(found, std::string(key), Slot());
    used_bytes_ += kSlotBytes + key.size();
  }
  Slot& slot = found->second;
  const size_t before = slot.value.size();
  slot.is_absent = !value.has_value();
  slot.is_dirty = dirty;
  is_dirty_ = is_dirty_ || dirty;
  slot.value.assign(value.value_or(std::string_view()));
  // A value that shrinks keeps its memory, most of the time.
  if (slot.value.size() > before) used_bytes_ += slot.value.size() - before;
  return slot;
}

Status OrderedLayer::write(const OrderedLayer& layer, RocksStore* store, RocksFamily* family) {
  rocksdb::WriteBatch batch(kBatchBytes + kBatchBytes / 4);
  const std::string& state = family->meta.name;
  for (const auto& [key, slot] : layer.slots_) {
    if (!slot.is_dirty) continue;
    const rocksdb::Status added = slot.is_absent
                                      ? batch.Delete(family->handle, to_slice(key))
                                      : batch.Put(family->handle, to_slice(key), slot.value);
    PENSTOCK_RETURN_NOT_OK(store->check(added, state));
    if (batch.GetDataSize() < kBatchBytes) continue;
    PENSTOCK_RETURN_NOT_OK(store->write(&batch, state));
    batch.Clear();
  }
  return batch.Count() == 0 ? Status::ok() : store->write(&batch, state);
}

void OrderedLayer::absorb(const OrderedLayer& newer) {
  for (const auto& [key, slot] : newer.slots_) {
    set(key, slot.is_absent ? std::nullopt : std::optional<std::string_view>(slot.value), false);
  }
  is_dirty_ = false;
}

Result<std::optional<std::string_view>> OrderedLayers::get(std::string_view key) {
  const auto view = [](const OrderedLayer::Slot& slot) {
    return slot.is_absent ? std::nullopt : std::optional<std::string_view>(slot.value);
  };
  OrderedLayer& young = layers_.young();
  if (const auto found = young.slots().find(key); found != young.slots().end()) {
    return view(found->second);
  }
  for (size_t i = 0; i < layers_.frozen(); ++i) {
    const OrderedLayer::Slots& slots = layers_.frozen(i).slots();
    if (const auto found = slots.find(key); found != slots.end()) {
      const auto value = view(young.set(key, view(found->second), false));
      PENSTOCK_RETURN_NOT_OK(layers_.changed());
      return value;
    }
  }
  rocksdb::PinnableSlice read;
  RocksStore* const store = layers_.store();
  const rocksdb::Status status =
      store->db()->Get(rocksdb::ReadOptions(), layers_.family()->handle, to_slice(key), &read);
  if (!status.IsNotFound()) PENSTOCK_RETURN_NOT_OK(store->check(status, state()));
  const auto stored = status.ok() ? std::optional(to_view(read)) : std::nullopt;
  const auto value = view(young.set(key, stored, false));
  PENSTOCK_RETURN_NOT_OK(layers_.changed());
  return value;
}

Status OrderedLayers::set(std::string_view key, std::optional<std::string_view> value) {
  layers_.young().set(key, value, true);
  return layers_.changed();
}

Status OrderedLayers::scan(std::string_view from, std::string_view end, const Visitor& visit) {
  // The newest first: of two that know a key the first counts. Which layers are written is asked
  // before the iterator sees the database, so that none is in neither.
  std::vector<Cursor> cursors;
  const auto add = [&](const OrderedLayer::Slots& slots) {
    cursors.push_back({slots.lower_bound(from), slots.lower_bound(end)});
  };
  add(layers_.young().slots());
  for (size_t i = 0; i < layers_.frozen(); ++i) {
    if (!layers_.is_written(i)) add(layers_.frozen(i).slots());
  }
  rocksdb::ReadOptions options;
  const rocksdb::Slice upper = to_slice(end);
  options.iterate_upper_bound = &upper;
  RocksStore* const store = layers_.store();
  const std::unique_ptr<rocksdb::Iterator> stored(
      store->db()->NewIterator(options, layers_.family()->handle));
  stored->Seek(to_slice(from));

  while (true) {
    const std::string_view* least = nullptr;
    std::string_view candidate = stored->Valid() ? to_view(stored->key()) : std::string_view();
    if (stored->Valid()) least = &candidate;
    const OrderedLayer::Slot* slot = nullptr;
    for (const Cursor& cursor : cursors) {
      if (cursor.at == cursor.end) continue;
      const std::string_view key = cursor.at->first;
      // On a tie with the database the layer counts, on one with a newer layer that one.
      const int order = least == nullptr ? -1 : key.compare(*least);
      if (order < 0 || (order == 0 && slot == nullptr)) {
        candidate = key;
        least = &candidate;
        slot = &cursor.at->second;
      }
    }
    if (least == nullptr) return store->check(stored->status(), state());
    PENSTOCK_RETURN_NOT_OK(store->check(stored->status(), state()));
    const bool is_absent = slot != nullptr && slot->is_absent;
    const std::string_view value = slot != nullptr ? slot->value : to_view(stored->value());
    if (!is_absent && !visit(candidate, value)) return Status::ok();
    // `candidate` may be the iterator's, which goes last.
    for (Cursor& cursor : cursors) {
      if (cursor.at != cursor.end && cursor.at->first == candidate) ++cursor.at;
    }
    if (stored->Valid() && to_view(stored->key()) == candidate) stored->Next();
  }
}

}  // namespace penstock
