#include "state/heap/heap_backend.h"

#include <utility>

#include "record/key_encoding.h"
#include "snapshot/bytes.h"
#include "state/heap/heap_snapshot.h"
#include "state/state_checks.h"

namespace penstock {

// One name: a table of one of the kinds, or a queue of timers.
struct HeapKeyedStateBackend::State {
  StateMeta meta;
  TtlConfig ttl;
  bool opened = false;  // false: restored, and nobody has asked for it yet
  std::unique_ptr<HeapTable> table;
  std::unique_ptr<HeapTimerQueue> timers;
};

namespace {

const Clock* system_clock() {
  static const SystemClock clock;
  return &clock;
}

// nullptr for kinds that no table holds.
std::unique_ptr<HeapTable> make_table(StateKind kind) {
  switch (kind) {
    case StateKind::kValue:
    case StateKind::kReducing:
    case StateKind::kAggregating:
      return std::make_unique<HeapValueTable>();
    case StateKind::kList:
      return std::make_unique<HeapListTable>();
    case StateKind::kMap:
      return std::make_unique<HeapMapTable>();
    default:
      return nullptr;
  }
}

}  // namespace

HeapKeyedStateBackend::HeapKeyedStateBackend(const BackendContext& context) : context_(context) {
  if (context_.clock == nullptr) context_.clock = system_clock();
}

HeapKeyedStateBackend::~HeapKeyedStateBackend() = default;

Result<HeapKeyedStateBackend::State*> HeapKeyedStateBackend::open(
    const StateDescriptor& descriptor) {
  const StateMeta asked = meta_of(descriptor);
  std::unique_ptr<State>& state = states_[descriptor.name];
  if (state == nullptr) {
    state = std::make_unique<State>();
    state->table = make_table(descriptor.kind);
  } else if (state->opened) {
    PENSTOCK_RETURN_NOT_OK(check_same(state->meta, state->ttl, asked, descriptor.ttl));
    return state.get();
  } else {
    PENSTOCK_RETURN_NOT_OK(check_restored(state->meta, asked));
  }
  state->meta = asked;
  state->ttl = descriptor.ttl;
  state->opened = true;
  return state.get();
}

Result<ValueTable*> HeapKeyedStateBackend::value_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kValue));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open(descriptor));
  return static_cast<ValueTable*>(static_cast<HeapValueTable*>(state->table.get()));
}

Result<ListTable*> HeapKeyedStateBackend::list_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kList));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open(descriptor));
  return static_cast<ListTable*>(static_cast<HeapListTable*>(state->table.get()));
}

Result<MapTable*> HeapKeyedStateBackend::map_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kMap));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open(descriptor));
  return static_cast<MapTable*>(static_cast<HeapMapTable*>(state->table.get()));
}

Result<TimerQueue*> HeapKeyedStateBackend::timer_queue(const std::string& name) {
  const StateMeta asked{name, StateKind::kTimers, "encoded", "", ""};
  std::unique_ptr<State>& state = states_[name];
  if (state == nullptr) {
    state = std::make_unique<State>();
    state->meta = asked;
    state->timers = std::make_unique<HeapTimerQueue>();
  } else if (state->timers == nullptr) {
    return check_same(state->meta, {}, asked, {});
  }
  state->opened = true;
  return static_cast<TimerQueue*>(state->timers.get());
}

Status HeapKeyedStateBackend::snapshot(const SnapshotRequest&, OperatorState* out) {
  for (const auto& [name, state] : states_) {
    if (state->timers != nullptr) {
      out->deferred.push_back(
          defer_timers(state->meta, state->timers->snapshot(), context_.max_parallelism));
      continue;
    }
    std::optional<TtlCutoff> cutoff;
    if (state->ttl.enabled() && state->ttl.cleanup_in_full_snapshot) {
      cutoff = TtlCutoff{state->ttl.ttl_millis, context_.clock->now_millis()};
    }
    out->deferred.push_back(defer_entries(state->meta, state->table->entries().snapshot(),
                                          context_.max_parallelism, cutoff));
  }
  return Status::ok();
}

Status HeapKeyedStateBackend::restore(const OperatorState& state) {
  if (!states_.empty()) return Status::internal("restore() after states have been asked for");
  if (!state.native.empty()) {
    return Status::not_supported(
        "operator '" + context_.operator_name + "' (uid '" + context_.uid +
        "'): its state is files of the backend '" + state.native.front().backend +
        "', which 'hashmap' cannot read; start from a savepoint in canonical form");
  }
  restored_at_ = context_.clock->now_millis();
  for (const KeyedStateData& data : state.keyed) {
    const Status status = restore_state(data);
    if (!status.is_ok()) {
      return status.with_context("operator '" + context_.operator_name + "' (uid '" + context_.uid +
                                 "'), state '" + data.meta.name + "'");
    }
  }
  return Status::ok();
}

Status HeapKeyedStateBackend::restore_state(const KeyedStateData& data) {
  auto state = std::make_unique<State>();
  state->meta = data.meta;
  if (data.meta.kind == StateKind::kTimers) {
    state->timers = std::make_unique<HeapTimerQueue>();
  } else {
    state->table = make_table(data.meta.kind);
    if (state->table == nullptr) return Status::ok();
  }
  PENSTOCK_RETURN_NOT_OK(data.for_each([&](int32_t group, std::string_view key,
                                           std::string_view name_space, std::string_view value) {
    return restore_entry(state.get(), group, key, name_space, value);
  }));
  if (!states_.emplace(data.meta.name, std::move(state)).second) {
    return Status::corruption("it is there twice");
  }
  return Status::ok();
}

Status HeapKeyedStateBackend::restore_entry(State* state, int32_t group, std::string_view key,
                                            std::string_view name_space, std::string_view value) {
  const EntryKey entry{key, key.empty() ? 0 : murmur3_32(key.data(), key.size()), name_space};
  if (entry.key_group(context_.max_parallelism) != group) {
    return Status::corruption("key group " + std::to_string(group) + " has a key of group " +
                              std::to_string(entry.key_group(context_.max_parallelism)));
  }
  if (!context_.key_groups.contains(group)) {
    return Status::internal("key group " + std::to_string(group) + " is not among those from " +
                            std::to_string(context_.key_groups.start) + " to " +
                            std::to_string(context_.key_groups.end));
  }
  if (state->timers == nullptr) return state->table->restore_entry(entry, value);
  uint64_t timestamp = 0;
  ByteReader reader(value);
  if (!reader.get_u64(&timestamp) || !reader.at_end()) {
    return Status::corruption("a timer's value has " + std::to_string(value.size()) +
                              " bytes instead of 8");
  }
  return state->timers->add({static_cast<Timestamp>(timestamp), key, entry.hash, name_space});
}

Status HeapKeyedStateBackend::close() {
  states_.clear();
  return Status::ok();
}

std::unique_ptr<KeyedStateBackend> make_heap_backend(const BackendContext& context) {
  return std::make_unique<HeapKeyedStateBackend>(context);
}

}  // namespace penstock
