#include "state/heap/heap_backend.h"

#include <utility>

#include "record/key_encoding.h"
#include "snapshot/bytes.h"
#include "state/heap/heap_snapshot.h"
#include "state/state_checks.h"
#include "state/ttl/ttl_tables.h"
#include "state/value_change.h"

namespace penstock {

// One name: a table of one of the kinds, or a queue of timers.
struct HeapKeyedStateBackend::State {
  StateMeta meta;
  TtlConfig ttl;
  bool opened = false;  // false: restored, and nobody has asked for it yet
  std::unique_ptr<HeapTable> table;
  std::unique_ptr<TtlTable> ttl_table;  // over `table`, when there is a time to live
  std::unique_ptr<HeapTimerQueue> timers;

  // What users get: a Table, over which there is a WithTtl or not.
  template <typename Interface, typename Table, typename WithTtl>
  Interface* table_for_users(const Clock* clock) {
    auto* const inner = static_cast<Table*>(table.get());
    if (!ttl.enabled()) return inner;
    if (ttl_table == nullptr) {
      ttl_table = std::make_unique<WithTtl>(inner, ttl, clock, table.get());
    }
    return static_cast<WithTtl*>(ttl_table.get());
  }
};

namespace {

const Clock* system_clock() {
  static const SystemClock clock;
  return &clock;
}

uint32_t hash_of(std::string_view key) {
  return key.empty() ? 0 : murmur3_32(key.data(), key.size());
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

// What `table` holds, each value as `change` makes it.
Result<std::unique_ptr<HeapTable>> changed_table(HeapTable* table, StateKind kind,
                                                 const ValueChange& change) {
  std::unique_ptr<HeapTable> made = make_table(kind);
  std::string changed;
  PENSTOCK_RETURN_NOT_OK(table->visit_canonical(
      [&](std::string_view key, std::string_view name_space, std::string_view value) {
        changed.clear();
        PENSTOCK_RETURN_NOT_OK(change(value, &changed));
        return made->restore_entry({key, hash_of(key), name_space}, changed);
      }));
  return made;
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
    if (const ValueChange change = change_of(state->meta, asked, restored_at_)) {
      PENSTOCK_ASSIGN_OR_RETURN(state->table,
                                changed_table(state->table.get(), asked.kind, change));
    }
  }
  state->meta = asked;
  state->ttl = descriptor.ttl;
  state->opened = true;
  return state.get();
}

Result<ValueTable*> HeapKeyedStateBackend::value_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kValue));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open(descriptor));
  return state->table_for_users<ValueTable, HeapValueTable, TtlValueTable>(context_.clock);
}

Result<ListTable*> HeapKeyedStateBackend::list_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kList));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open(descriptor));
  return state->table_for_users<ListTable, HeapListTable, TtlListTable>(context_.clock);
}

Result<MapTable*> HeapKeyedStateBackend::map_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kMap));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open(descriptor));
  return state->table_for_users<MapTable, HeapMapTable, TtlMapTable>(context_.clock);
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

Status HeapKeyedStateBackend::prepare(const EncodedKeys& keys) {
  for (const auto& [name, state] : states_) {
    if (state->ttl_table == nullptr) continue;
    PENSTOCK_RETURN_NOT_OK(state->ttl_table->clean_for_records(keys.hashes.size()));
  }
  return Status::ok();
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
  const EntryKey entry{key, hash_of(key), name_space};
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
