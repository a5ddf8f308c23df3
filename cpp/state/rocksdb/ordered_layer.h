// OrderedLayers: sorted entries (those of maps, timers) in front of a column family.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "state/rocksdb/write_back_tier.h"

namespace penstock {

// One layer: what it knows of each key, in order.
class OrderedLayer {
 public:
  struct Slot {
    std::string value;
    bool is_absent = false;
    bool is_dirty = false;
  };
  using Slots = std::map<std::string, Slot, std::less<>>;

  [[nodiscard]] size_t size() const { return slots_.size(); }
  [[nodiscard]] size_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] bool is_dirty() const { return is_dirty_; }
  void reserve(size_t) {}
  [[nodiscard]] const Slots& slots() const { return slots_; }

  // nullopt as value: there is none.
  const Slot& set(std::string_view key, std::optional<std::string_view> value, bool dirty);

  static Status write(const OrderedLayer& layer, RocksStore* store, RocksFamily* family);
  void absorb(const OrderedLayer& newer);

 private:
  Slots slots_;
  size_t used_bytes_ = 0;
  bool is_dirty_ = false;
};

class OrderedLayers {
 public:
  OrderedLayers(WriteBackTier* tier, RocksFamily* family) : layers_(tier, family) {}

  // Good until the next call.
  Result<std::optional<std::string_view>> get(std::string_view key);
  // nullopt: removes.
  Status set(std::string_view key, std::optional<std::string_view> value);

  // Visits what there is from `from` (included) to `end` (excluded), in order, until the visitor says
  // false. Nothing may be changed meanwhile.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;
  Status scan(std::string_view from, std::string_view end, const Visitor& visit);

  [[nodiscard]] Layers<OrderedLayer>& layers() { return layers_; }
  [[nodiscard]] const std::string& state() const { return layers_.family()->meta.name; }

 private:
  Layers<OrderedLayer> layers_;
};

}  // namespace penstock
