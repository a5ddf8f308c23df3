// What every backend says about states that are asked for twice, or that were written as something
// else.
//
// Thread safety: functions without state.
#pragma once

#include <optional>
#include <string>

#include "common/status.h"
#include "state/state_descriptor.h"
#include "state/type_migration.h"

namespace penstock {

// Lengths are 32 bits, in memory as in snapshots; a little is left for what goes with the bytes.
inline constexpr uint64_t kMostStateBytes = UINT32_MAX - 64;
Status too_large(uint64_t size);
// kNotSupported for what is too long.
inline Status check_size(uint64_t size) {
  return size <= kMostStateBytes ? Status::ok() : too_large(size);
}

enum class TableKind : uint8_t { kValue, kList, kMap };

// kTypeError when a table of that kind cannot hold the described state.
Status check_table_kind(const StateDescriptor& descriptor, TableKind table);

// Does a value of this type carry a timestamp, that is, does the type read "TTL<...>"?
bool has_ttl(const StateMeta& meta);
// The value type without that.
std::string type_without_ttl(const StateMeta& meta);

// kTypeError naming both when `asked` is not what is known as `known` in this run.
Status check_same(const StateMeta& known, const TtlConfig& known_ttl, const StateMeta& asked,
                  const TtlConfig& asked_ttl);
// How values of a state that was `written` become those that are `asked` for; nullopt when the types
// are equal, or too different.
std::optional<TypeMigration> migration_of(const StateMeta& written, const StateMeta& asked);
// kTypeError naming both when `asked` cannot go on with what was `written`. A time to live may have
// been switched on or off in between, and rows may have grown: then the values have to be migrated.
Status check_restored(const StateMeta& written, const StateMeta& asked);

}  // namespace penstock
