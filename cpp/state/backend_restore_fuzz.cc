// The hashmap backend restored from any entries of a snapshot: refused, or it has what its next
// snapshot says, which restores to the same.
#include <map>
#include <memory>
#include <set>

#include "common/clock.h"
#include "common/fuzzing.h"
#include "record/key_encoding.h"
#include "state/keyed_state_backend.h"

namespace penstock {
namespace {

constexpr StateKind kKinds[] = {StateKind::kValue, StateKind::kList, StateKind::kMap,
                                StateKind::kAggregating, StateKind::kTimers};

std::unique_ptr<KeyedStateBackend> make_backend() {
  static const ManualClock clock(1'000'000);
  BackendContext context;
  context.operator_name = "Fuzz";
  context.uid = "fuzz";
  context.clock = &clock;
  return std::move(make_keyed_state_backend(context)).value();
}

// Every entry in the group that its key belongs to, as a reader of snapshots makes sure.
bool regroup(const KeyedStateData& from, KeyedStateData* to) {
  return from
      .for_each(
          [&](int32_t, std::string_view key, std::string_view name_space, std::string_view value) {
            const uint32_t hash = key.empty() ? 0 : murmur3_32(key.data(), key.size());
            to->add(EntryKey{key, hash, name_space}.key_group(kDefaultMaxParallelism), key,
                    name_space, value);
            return Status::ok();
          })
      .is_ok();
}

using Entries = std::multiset<std::string>;

Entries entries_of(const KeyedStateData& data) {
  Entries entries;
  (void)data.for_each([&](int32_t group, std::string_view key, std::string_view name_space,
                          std::string_view value) {
    KeyedStateData one;
    one.add(group, key, name_space, value);
    entries.insert(one.groups[group]);
    return Status::ok();
  });
  return entries;
}

// Nothing: refused.
std::unique_ptr<OperatorState> restore_and_snapshot(const OperatorState& state) {
  const std::unique_ptr<KeyedStateBackend> backend = make_backend();
  if (!backend->restore(state).is_ok()) return nullptr;
  auto out = std::make_unique<OperatorState>();
  must_hold(backend->snapshot({CheckpointId(1), true}, out.get()).is_ok(), "it can be snapshot");
  must_hold(out->materialise().is_ok(), "a snapshot can be read out");
  return out;
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  if (size == 0) return 0;
  KeyedStateData raw;
  raw.meta.name = "state";
  raw.meta.kind = kKinds[data[0] % std::size(kKinds)];
  raw.meta.key_type = "encoded";
  raw.meta.value_type = raw.meta.kind == StateKind::kMap ? "MAP<STRING, STRING>" : "STRING";
  raw.groups[0] = std::string(as_bytes(data + 1, size - 1));
  OperatorState state;
  state.keyed.emplace_back().meta = raw.meta;
  if (!regroup(raw, &state.keyed.front())) return 0;
  const auto first = restore_and_snapshot(state);
  if (first == nullptr) return 0;
  const KeyedStateData* const kept = first->find_keyed("state");
  must_hold(kept != nullptr, "a state stays that nobody asks for");
  const auto second = restore_and_snapshot(*first);
  must_hold(second != nullptr, "what a backend wrote can be restored");
  must_hold(entries_of(*kept) == entries_of(*second->find_keyed("state")),
            "a snapshot restores to what it says");
  return 0;
}
