// KeyWalk: a walk over the keys of a table that goes on for ever, a few keys at a time, while the
// table is changed: what incremental cleanup needs.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "state/keyed_state.h"

namespace penstock {

// The key of an entry, on its own.
struct OwnedKey {
  std::string joined;  // key bytes, and behind them the namespace
  uint32_t key_size = 0;
  uint32_t hash = 0;
  [[nodiscard]] EntryKey view() const {
    const std::string_view all = joined;
    return {all.substr(0, key_size), hash, all.substr(key_size)};
  }
};

class KeyWalk {
 public:
  virtual ~KeyWalk() = default;
  // The next `count` keys, fewer when the table has fewer; behind the last comes the first. An entry
  // that a change of the table moves meanwhile may be passed over for this round. `out` is cleared
  // first.
  virtual void next_keys(size_t count, std::vector<OwnedKey>* out) = 0;
};

}  // namespace penstock
