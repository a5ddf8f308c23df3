// MapTree: the entries of one map state of one (key, namespace), by the bytes of their user keys.
//
// Thread safety: as CowTree.
#pragma once

#include <string_view>

#include "common/cell.h"
#include "common/cow_tree.h"

namespace penstock {

struct MapEntry {
  uint8_t key_tag;
  uint8_t value_tag;
  Cell key;
  Cell value;

  [[nodiscard]] std::string_view user_key() const { return cell_view(key, key_tag); }
  [[nodiscard]] std::string_view user_value() const { return cell_view(value, value_tag); }
};

struct MapTreeTraits {
  using Entry = MapEntry;
  using Probe = std::string_view;
  static constexpr uint16_t kFirstLeaf = 2;

  static void retain(const Entry& entry) {
    cell_retain(entry.key, entry.key_tag);
    cell_retain(entry.value, entry.value_tag);
  }
  static void release(const Entry& entry) {
    cell_release(entry.key, entry.key_tag);
    cell_release(entry.value, entry.value_tag);
  }
  static Entry separator(const Entry& entry) {
    Entry copy = entry;
    copy.value_tag = 0;
    retain(copy);
    return copy;
  }
  static int compare(std::string_view user_key, const Entry& entry) {
    return user_key.compare(entry.user_key());
  }
};

using MapTree = CowTree<MapTreeTraits>;

}  // namespace penstock
