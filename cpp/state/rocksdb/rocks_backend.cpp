#include "state/rocksdb/rocks_backend.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "state/heap/heap_snapshot.h"
#include "state/rocksdb/rocks_metrics.h"
#include "state/rocksdb/rocks_restore.h"
#include "state/rocksdb/rocks_snapshot.h"
#include "state/rocksdb/rocks_tables.h"
#include "state/rocksdb/rocks_timer_queue.h"
#include "state/state_checks.h"
#include "state/ttl/ttl_tables.h"
#include "timers/heap_timer_queue.h"

namespace penstock {

// One state that was asked for: one of the tables, with a decorator if it has a time to live, or a
// queue of timers.
struct RocksKeyedStateBackend::State {
  StateMeta meta;
  TtlConfig ttl;
  RocksFamily* family = nullptr;  // nullptr: timers in memory
  std::unique_ptr<RocksValueTable> value;
  std::unique_ptr<RocksListTable> list;
  std::unique_ptr<RocksMapTable> map;
  std::unique_ptr<TtlValueTable> ttl_value;
  std::unique_ptr<TtlListTable> ttl_list;
  std::unique_ptr<TtlMapTable> ttl_map;
  std::unique_ptr<RocksTimerQueue> timers;
  std::unique_ptr<HeapTimerQueue> heap_timers;

  [[nodiscard]] const LatencyTracker* latency() const {
    if (value != nullptr) return &value->latency();
    if (list != nullptr) return &list->latency();
    return map != nullptr ? &map->latency() : nullptr;
  }
};

namespace {

const Clock* system_clock() {
  static const SystemClock clock;
  return &clock;
}

// The table that users get: `made` itself, or one around it that knows the time to live.
template <typename Interface, typename Table, typename Ttl>
Interface* for_users(const TtlConfig& config, const Clock* clock, Table* made,
                     std::unique_ptr<Ttl>* decorator) {
  if (!config.enabled()) return made;
  if (*decorator == nullptr) *decorator = std::make_unique<Ttl>(made, config, clock, nullptr);
  return decorator->get();
}

// None of the key groups of `data` may have its state in the files, too.
Status check_apart(const KeyedStateData& data, const std::vector<NativeState>& natives) {
  for (const NativeState& native : natives) {
    const bool has_state =
        std::any_of(native.states.begin(), native.states.end(),
                    [&](const StateMeta& meta) { return meta.name == data.meta.name; });
    const auto group = data.groups.lower_bound(native.key_groups.start);
    if (!has_state || group == data.groups.end() || group->first > native.key_groups.end) continue;
    return Status::corruption("key group " + std::to_string(group->first) + " is there twice");
  }
  return Status::ok();
}

}  // namespace

RocksKeyedStateBackend::RocksKeyedStateBackend(const BackendContext& context,
                                               RocksSettings settings,
                                               std::shared_ptr<RocksMemory> memory,
                                               rocksdb::Env* env)
    : context_(context),
      settings_(std::move(settings)),
      memory_(std::move(memory)),
      env_(env),
      owner_("operator '" + context.operator_name + "' (uid '" + context.uid + "', subtask " +
             std::to_string(context.subtask) + ")") {
  if (context_.clock == nullptr) context_.clock = system_clock();
  clock_ = std::make_shared<DetachableClock>(context_.clock);
}

// A destructor has nobody to tell.
RocksKeyedStateBackend::~RocksKeyedStateBackend() { static_cast<void>(close()); }

Result<RocksKeyedStateBackend::State*> RocksKeyedStateBackend::open_state(
    const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(open_if_needed());
  const StateMeta asked = meta_of(descriptor);
  if (const auto found = states_.find(descriptor.name); found != states_.end()) {
    PENSTOCK_RETURN_NOT_OK(
        check_same(found->second->meta, found->second->ttl, asked, descriptor.ttl));
    return found->second.get();
  }
  auto state = std::make_unique<State>();
  state->meta = asked;
  state->ttl = descriptor.ttl;
  state->family = store_->find_family(descriptor.name);
  if (state->family == nullptr) {
    PENSTOCK_ASSIGN_OR_RETURN(state->family, store_->add_family(asked));
  } else {
    PENSTOCK_RETURN_NOT_OK(check_restored(state->family->meta, asked));
    if (const ValueChange change = change_of(state->family->meta, asked, restored_at_)) {
      // A snapshot that is not made yet describes what is there now.
      PENSTOCK_RETURN_NOT_OK(store_->queue()->finish_all());
      PENSTOCK_RETURN_NOT_OK(change_values(store_.get(), asked, change));
      state->family = store_->find_family(descriptor.name);
    }
  }
  if (descriptor.ttl.enabled() && descriptor.ttl.cleanup_in_compaction) {
    state->family->ttl->query_time_after =
        std::max<int64_t>(descriptor.ttl.compaction_query_time_after, 1);
    state->family->ttl->ttl_millis = descriptor.ttl.ttl_millis;
  }
  return states_.emplace(descriptor.name, std::move(state)).first->second.get();
}

Result<ValueTable*> RocksKeyedStateBackend::value_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kValue));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open_state(descriptor));
  if (state->value == nullptr) {
    state->value = std::make_unique<RocksValueTable>(
        tier_.get(), state->family, context_.max_parallelism, settings_.latency_sample_interval);
  }
  return for_users<ValueTable>(state->ttl, context_.clock, state->value.get(), &state->ttl_value);
}

Result<ListTable*> RocksKeyedStateBackend::list_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kList));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open_state(descriptor));
  if (state->list == nullptr) {
    state->list = std::make_unique<RocksListTable>(
        tier_.get(), state->family, context_.max_parallelism, settings_.latency_sample_interval);
  }
  return for_users<ListTable>(state->ttl, context_.clock, state->list.get(), &state->ttl_list);
}

Result<MapTable*> RocksKeyedStateBackend::map_table(const StateDescriptor& descriptor) {
  PENSTOCK_RETURN_NOT_OK(check_table_kind(descriptor, TableKind::kMap));
  PENSTOCK_ASSIGN_OR_RETURN(State * state, open_state(descriptor));
  if (state->map == nullptr) {
    state->map = std::make_unique<RocksMapTable>(
        tier_.get(), state->family, context_.max_parallelism, settings_.latency_sample_interval);
  }
  return for_users<MapTable>(state->ttl, context_.clock, state->map.get(), &state->ttl_map);
}

Result<TimerQueue*> RocksKeyedStateBackend::timer_queue(const std::string& name) {
  PENSTOCK_RETURN_NOT_OK(open_if_needed());
  const StateMeta asked{name, StateKind::kTimers, "encoded", "", ""};
  const auto as_queue = [](State* state) -> TimerQueue* {
    if (state->timers != nullptr) return state->timers.get();
    return state->heap_timers.get();
  };
  if (const auto found = states_.find(name); found != states_.end()) {
    PENSTOCK_RETURN_NOT_OK(check_same(found->second->meta, found->second->ttl, asked, {}));
    return as_queue(found->second.get());
  }
  auto state = std::make_unique<State>();
  state->meta = asked;
  RocksFamily* family = store_->find_family(name);
  if (family != nullptr) PENSTOCK_RETURN_NOT_OK(check_restored(family->meta, asked));
  if (family == nullptr && !settings_.heap_timers) {
    PENSTOCK_ASSIGN_OR_RETURN(family, store_->add_family(asked));
  }
  if (family != nullptr) {
    PENSTOCK_ASSIGN_OR_RETURN(
        state->timers,
        RocksTimerQueue::open(tier_.get(), family, context_.key_groups, context_.max_parallelism));
    state->family = family;
  }
  if (settings_.heap_timers) {
    state->heap_timers = std::make_unique<HeapTimerQueue>();
    if (family != nullptr) PENSTOCK_RETURN_NOT_OK(move_timers_to_memory(state.get()));
  }
  return as_queue(states_.emplace(name, std::move(state)).first->second.get());
}

// Restored timers go where the job wants its timers now.
Status RocksKeyedStateBackend::move_timers_to_memory(State* state) {
  PENSTOCK_RETURN_NOT_OK(state->timers->for_each(
      [state](const TimerView& timer) { return state->heap_timers->add(timer); }));
  PENSTOCK_RETURN_NOT_OK(store_->queue()->finish_all());
  state->timers.reset();
  state->family = nullptr;
  return store_->drop_family(state->meta.name);
}

Status RocksKeyedStateBackend::prepare(const EncodedKeys& keys) {
  for (const auto& [name, state] : states_) {
    if (state->value == nullptr || !state->meta.namespace_type.empty()) continue;
    PENSTOCK_RETURN_NOT_OK(state->value->prepare(keys));
  }
  return Status::ok();
}

Status RocksKeyedStateBackend::snapshot(const SnapshotRequest& request, OperatorState* out) {
  if (store_ == nullptr) return Status::ok();
  PENSTOCK_RETURN_NOT_OK(tier_->freeze().status());
  for (const auto& [name, state] : states_) {
    if (state->heap_timers == nullptr) continue;
    out->deferred.push_back(
        defer_timers(state->meta, state->heap_timers->snapshot(), context_.max_parallelism));
  }
  if (!request.canonical) {
    std::vector<StateMeta> states;
    for (const auto& [name, family] : store_->families()) states.push_back(family->meta);
    out->native.push_back(cut_native(store_, context_.key_groups, std::move(states)));
    return Status::ok();
  }
  const std::shared_ptr<RocksCut> cut = cut_contents(store_);
  for (const auto& [name, family] : store_->families()) {
    std::optional<TtlCutoff> cutoff;
    const auto state = states_.find(name);
    if (state != states_.end() && state->second->ttl.enabled() &&
        state->second->ttl.cleanup_in_full_snapshot) {
      cutoff = TtlCutoff{state->second->ttl.ttl_millis, context_.clock->now_millis()};
    }
    out->deferred.push_back(defer_family(cut, family.get(), cutoff));
  }
  return Status::ok();
}

Status RocksKeyedStateBackend::restore(const OperatorState& state) {
  if (store_ != nullptr) {
    return Status::internal(owner_ + ": restore() after states have been asked for");
  }
  restored_at_ = context_.clock->now_millis();
  for (const NativeState& native : state.native) {
    if (native.backend == "rocksdb") continue;
    return Status::not_supported(owner_ + ": its state is files of the backend '" + native.backend +
                                 "', which 'rocksdb' cannot read; start from a savepoint in "
                                 "canonical form");
  }
  PENSTOCK_RETURN_NOT_OK(restore_native(state.native));
  std::set<std::string> names;
  for (const KeyedStateData& data : state.keyed) {
    // Window contents belong to the window operators.
    if (data.meta.kind == StateKind::kWindowContents) continue;
    const Status restored = names.insert(data.meta.name).second
                                ? restore_keyed(data, state.native)
                                : Status::corruption("it is there twice");
    PENSTOCK_RETURN_NOT_OK(restored.with_context(owner_ + ", state '" + data.meta.name + "'"));
  }
  return Status::ok();
}

Status RocksKeyedStateBackend::restore_native(const std::vector<NativeState>& natives) {
  RocksSetup setup{settings_, memory_, nullptr, owner_, clock_, env_, nullptr};
  PENSTOCK_ASSIGN_OR_RETURN(
      store_, open_restored(std::move(setup), natives, context_.key_groups, context_.subtask));
  tier_ = std::make_unique<WriteBackTier>(store_.get(), settings_.tier_bytes);
  return Status::ok();
}

// Next to files there is canonical state when some subtasks had ended before the barrier: that of
// other key groups.
Status RocksKeyedStateBackend::restore_keyed(const KeyedStateData& data,
                                             const std::vector<NativeState>& natives) {
  const RocksFamily* const family = store_->find_family(data.meta.name);
  if (family == nullptr) {
    PENSTOCK_RETURN_NOT_OK(store_->add_family(data.meta).status());
  } else {
    PENSTOCK_RETURN_NOT_OK(check_same(family->meta, {}, data.meta, {}));
    PENSTOCK_RETURN_NOT_OK(check_apart(data, natives));
  }
  return ingest_canonical(store_.get(), data, context_.key_groups, context_.max_parallelism);
}

Status RocksKeyedStateBackend::flush() { return store_ == nullptr ? Status::ok() : tier_->flush(); }

std::map<std::string, int64_t> RocksKeyedStateBackend::metrics() const {
  std::map<std::string, int64_t> out;
  if (store_ == nullptr) return out;
  add_store_metrics(*store_, &out);
  out["tier.used-bytes"] = static_cast<int64_t>(tier_->used_bytes());
  out["tier.budget-bytes"] = static_cast<int64_t>(tier_->budget());
  for (const auto& [name, state] : states_) {
    if (const LatencyTracker* latency = state->latency()) add_latencies(name, *latency, &out);
  }
  return out;
}

// What is not written down yet is needed by nobody, unless a snapshot waits for it: then the store
// lives on, and its queue with it.
Status RocksKeyedStateBackend::close() {
  clock_->detach();
  Status status = store_ == nullptr ? Status::ok() : store_->queue()->failure();
  states_.clear();
  tier_.reset();
  store_.reset();
  return status;
}

Result<std::unique_ptr<KeyedStateBackend>> make_rocksdb_backend(const BackendContext& context,
                                                                rocksdb::Env* env) {
  PENSTOCK_ASSIGN_OR_RETURN(RocksSettings settings, RocksSettings::parse(context.config.get()));
  std::shared_ptr<RocksMemory> memory =
      shared_rocks_memory(context.config, settings, context.subtask);
  return std::unique_ptr<KeyedStateBackend>(std::make_unique<RocksKeyedStateBackend>(
      context, std::move(settings), std::move(memory), env));
}

}  // namespace penstock
