#include "snapshot/operator_state.h"

#include <utility>

#include "snapshot/bytes.h"

namespace penstock {

namespace {

template <typename States>
auto* find_by_name(States& states, std::string_view name) {
  for (auto& state : states) {
    if (state.meta.name == name) return &state;
  }
  return static_cast<decltype(&states.front())>(nullptr);
}

// The state of that name in `states`, made from `meta` when it is not there yet. Subtasks that
// disagree about what a state is cannot be put together.
template <typename State>
Result<State*> find_or_add(std::vector<State>* states, const StateMeta& meta) {
  State* state = find_by_name(*states, meta.name);
  if (state == nullptr) {
    states->emplace_back();
    states->back().meta = meta;
    return &states->back();
  }
  const StateMeta& known = state->meta;
  if (known.kind != meta.kind || known.key_type != meta.key_type ||
      known.namespace_type != meta.namespace_type || known.value_type != meta.value_type) {
    return Status::corruption("state '" + meta.name + "' has different types in two subtasks");
  }
  return state;
}

Status merge_keyed(const KeyedStateData& written, const KeyGroupRange& range, OperatorState* out) {
  PENSTOCK_ASSIGN_OR_RETURN(KeyedStateData * target, find_or_add(&out->keyed, written.meta));
  for (auto it = written.groups.lower_bound(range.start);
       it != written.groups.end() && it->first <= range.end; ++it) {
    if (!target->groups.emplace(it->first, it->second).second) {
      return Status::corruption("state '" + written.meta.name + "': key group " +
                                std::to_string(it->first) + " was written by two subtasks");
    }
  }
  return Status::ok();
}

// Who gets which items of a list state.
struct ListShare {
  size_t subtask;
  size_t parallelism;
  bool parallelism_unchanged;
};

// `seen` counts the items of each list over all subtasks.
Status merge_list(const ListStateData& written, size_t written_by, const ListShare& share,
                  std::map<std::string, size_t>* seen, OperatorState* out) {
  PENSTOCK_ASSIGN_OR_RETURN(ListStateData * target, find_or_add(&out->lists, written.meta));
  for (const std::string& item : written.items) {
    bool mine = true;
    if (written.meta.kind == StateKind::kOperatorList) {
      const size_t number = (*seen)[written.meta.name]++;
      mine = share.parallelism_unchanged ? written_by == share.subtask
                                         : number % share.parallelism == share.subtask;
    }
    if (mine) target->items.push_back(item);
  }
  return Status::ok();
}

bool overlap(const KeyGroupRange& a, const KeyGroupRange& b) {
  return a.start <= b.end && b.start <= a.end && a.size() > 0 && b.size() > 0;
}

// Of the subtasks that wrote a broadcast state of that name, the one whose copy `subtask` gets.
size_t broadcast_source(const std::vector<OperatorState>& written, const std::string& name,
                        size_t subtask) {
  std::vector<size_t> sources;
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i].find_list(name) != nullptr) sources.push_back(i);
  }
  return sources[subtask % sources.size()];
}

}  // namespace

const char* to_string(StateKind kind) {
  switch (kind) {
    case StateKind::kWindowContents:
      return "window contents";
    case StateKind::kOperatorList:
      return "operator list";
    case StateKind::kOperatorUnionList:
      return "operator union list";
    case StateKind::kValue:
      return "value";
    case StateKind::kList:
      return "list";
    case StateKind::kMap:
      return "map";
    case StateKind::kReducing:
      return "reducing";
    case StateKind::kAggregating:
      return "aggregating";
    case StateKind::kTimers:
      return "timers";
    case StateKind::kBroadcast:
      return "broadcast";
  }
  return "unknown";
}

Status OperatorState::materialise() {
  for (const auto& one : std::exchange(deferred, {})) {
    KeyedStateData data;
    data.meta = one->meta();
    PENSTOCK_RETURN_NOT_OK(one->for_each_group([&](int32_t group, std::string_view entries) {
      data.groups[group].append(entries);
      return Status::ok();
    }));
    keyed.push_back(std::move(data));
  }
  for (NativeState& one : native) PENSTOCK_RETURN_NOT_OK(one.complete());
  return Status::ok();
}

void KeyedStateData::add(int32_t group, std::string_view key, std::string_view name_space,
                         std::string_view value) {
  std::string& entries = groups[group];
  put_bytes(&entries, key);
  put_bytes(&entries, name_space);
  put_bytes(&entries, value);
}

Status KeyedStateData::for_each(
    const std::function<Status(int32_t, std::string_view, std::string_view, std::string_view)>&
        visit) const {
  for (const auto& [group, entries] : groups) {
    ByteReader reader(entries);
    while (!reader.at_end()) {
      std::string_view key;
      std::string_view name_space;
      std::string_view value;
      if (!reader.get_bytes(&key) || !reader.get_bytes(&name_space) || !reader.get_bytes(&value)) {
        return Status::corruption("state '" + meta.name + "', key group " + std::to_string(group) +
                                  ": the lengths of the entries do not add up");
      }
      PENSTOCK_RETURN_NOT_OK(visit(group, key, name_space, value));
    }
  }
  return Status::ok();
}

const KeyedStateData* OperatorState::find_keyed(std::string_view name) const {
  return find_by_name(keyed, name);
}

const ListStateData* OperatorState::find_list(std::string_view name) const {
  return find_by_name(lists, name);
}

// As in Flink, a split list stays where it was while the parallelism does not change.
Result<OperatorState> reassign(const std::vector<OperatorState>& written, int32_t subtask,
                               int32_t parallelism, int32_t max_parallelism) {
  if (parallelism < 1 || parallelism > max_parallelism || subtask < 0 || subtask >= parallelism) {
    return Status::invalid("subtask " + std::to_string(subtask) + " of " +
                           std::to_string(parallelism) + " with max parallelism " +
                           std::to_string(max_parallelism));
  }
  const KeyGroupRange range = key_group_range(subtask, max_parallelism, parallelism);
  const ListShare share{static_cast<size_t>(subtask), static_cast<size_t>(parallelism),
                        written.size() == static_cast<size_t>(parallelism)};
  OperatorState out;
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < written.size(); ++i) {
    for (const KeyedStateData& state : written[i].keyed) {
      PENSTOCK_RETURN_NOT_OK(merge_keyed(state, range, &out));
    }
    for (const ListStateData& state : written[i].lists) {
      const bool other_copy = state.meta.kind == StateKind::kBroadcast &&
                              broadcast_source(written, state.meta.name, share.subtask) != i;
      if (other_copy) continue;
      PENSTOCK_RETURN_NOT_OK(merge_list(state, i, share, &seen, &out));
    }
    for (const NativeState& state : written[i].native) {
      if (overlap(state.key_groups, range)) out.native.push_back(state);
    }
  }
  return out;
}

}  // namespace penstock
