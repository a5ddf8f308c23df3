// A list as it stands in the database: per element a u32 little endian length and the bytes, with a
// comma between elements. The comma is what RocksDB's append operator puts between operands; it
// makes lists that have not been compacted readable for everybody who has that operator.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "snapshot/bytes.h"

namespace penstock {

inline constexpr char kListSeparator = ',';

inline void append_list_element(std::string_view element, std::string* list) {
  if (!list->empty()) list->push_back(kListSeparator);
  put_bytes(list, element);
}

// Visits the elements, oldest first; false: the bytes are no list.
template <typename Visit>
bool for_each_list_element(std::string_view list, Visit&& visit) {
  ByteReader reader(list);
  while (!reader.at_end()) {
    std::string_view element;
    std::string_view separator;
    if (!reader.get_bytes(&element)) return false;
    visit(element);
    if (reader.at_end()) return true;
    if (!reader.get_raw(1, &separator) || separator[0] != kListSeparator || reader.at_end()) {
      return false;
    }
  }
  return true;
}

}  // namespace penstock
