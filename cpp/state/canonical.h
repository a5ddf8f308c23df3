// Lists and map entries as they stand in snapshots, whichever backend wrote them
// (snapshot/operator_state.h, docs/snapshot-format.md).
//
// Thread safety: functions without state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "snapshot/bytes.h"

namespace penstock {

// Calls `visit` with each element; what it returns ends the walk when it is a failure. kCorruption
// when the lengths do not add up.
template <typename Visit>
Status for_each_element(std::string_view list, Visit&& visit) {
  ByteReader reader(list);
  while (!reader.at_end()) {
    std::string_view element;
    if (!reader.get_bytes(&element)) {
      return Status::corruption("the lengths of a list's elements do not add up");
    }
    PENSTOCK_RETURN_NOT_OK(visit(element));
  }
  return Status::ok();
}

// Appends the elements to `out`; they point into `list`.
inline Status split_list(std::string_view list, std::vector<std::string_view>* out) {
  return for_each_element(list, [out](std::string_view element) {
    out->push_back(element);
    return Status::ok();
  });
}

inline Status check_list(std::string_view list) {
  return for_each_element(list, [](std::string_view) { return Status::ok(); });
}

inline void append_user_entry(std::string_view user_key, std::string_view value, std::string* out) {
  put_bytes(out, user_key);
  out->append(value);
}

// The parts point into `entry`. `value` may be `entry` itself.
inline Status split_user_entry(std::string_view entry, std::string_view* user_key,
                               std::string_view* value) {
  ByteReader reader(entry);
  if (!reader.get_bytes(user_key)) {
    return Status::corruption("the length of a map's user key is greater than the entry");
  }
  *value = reader.rest();
  return Status::ok();
}

}  // namespace penstock
