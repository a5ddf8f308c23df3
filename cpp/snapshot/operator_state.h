// What one operator of one subtask puts into a checkpoint, and what it gets back from one.
//
// Filled on the task thread at the barrier (the cheap, synchronous step), written to storage off
// it. Keyed state is cut by key group, so that any parallelism can read it back; operator state is
// a list of items.
//
// Thread safety: none; handed over by move from the task thread to the writer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "record/key_group.h"

namespace penstock {

// Values reach disk: never renumber.
enum class StateKind : uint8_t {
  kWindowContents = 1,    // keyed: (key, window end) -> accumulators
  kOperatorList = 2,      // items are split among subtasks when the parallelism changes
  kOperatorUnionList = 3  // every subtask gets all items
};
// False: written by a newer release.
inline bool is_known(StateKind kind) {
  return kind >= StateKind::kWindowContents && kind <= StateKind::kOperatorUnionList;
}

// Describes a state to whoever reads it later, from outside too. All strings are free text in
// Arrow's words.
struct StateMeta {
  std::string name;
  StateKind kind = StateKind::kOperatorList;
  std::string key_type;        // "int64", "encoded" (record/key_encoding.h) ...
  std::string namespace_type;  // "window_end:int64" ...
  std::string value_type;      // "count:int64,sum(price):float64", "pickle", "json" ...
};

// One keyed state: per key group the concatenation of entries (key, namespace, value), each part
// with a u32 little-endian length before it.
class KeyedStateData {
 public:
  StateMeta meta;
  std::map<int32_t, std::string> groups;  // key group -> entries; groups without entries are absent

  void add(int32_t group, std::string_view key, std::string_view name_space,
           std::string_view value);
  // Calls `visit(group, key, namespace, value)` for each entry. kCorruption when lengths do not add
  // up.
  Status for_each(const std::function<Status(int32_t, std::string_view, std::string_view,
                                             std::string_view)>& visit) const;
};

struct ListStateData {
  StateMeta meta;
  std::vector<std::string> items;
};

struct OperatorState {
  std::vector<KeyedStateData> keyed;
  std::vector<ListStateData> lists;
  [[nodiscard]] bool empty() const { return keyed.empty() && lists.empty(); }
  // nullptr when there is none of that name.
  [[nodiscard]] const KeyedStateData* find_keyed(std::string_view name) const;
  [[nodiscard]] const ListStateData* find_list(std::string_view name) const;
};

// State for subtask `subtask` of `parallelism`, out of the states that the subtasks of a checkpoint
// (in order) wrote: key groups in its range, lists split round-robin, union lists whole.
Result<OperatorState> reassign(const std::vector<OperatorState>& written, int32_t subtask,
                               int32_t parallelism, int32_t max_parallelism);

}  // namespace penstock
