#include "state/value_change.h"

#include <optional>

#include "state/state_checks.h"
#include "state/ttl/ttl_format.h"

namespace penstock {

namespace {

ValueChange switch_ttl(const StateMeta& written, const StateMeta& asked, int64_t restored_at) {
  const StateKind kind = asked.kind;
  if (has_ttl(written) == has_ttl(asked)) return {};
  if (!has_ttl(asked)) {
    return [kind](std::string_view value, std::string* out) {
      return strip_timestamps(kind, value, out);
    };
  }
  return [kind, restored_at](std::string_view value, std::string* out) {
    return add_timestamps(kind, restored_at, value, out);
  };
}

}  // namespace

ValueChange change_of(const StateMeta& written, const StateMeta& asked, int64_t restored_at) {
  ValueChange ttl = switch_ttl(written, asked, restored_at);
  const std::optional<TypeMigration> migration = migration_of(written, asked);
  if (!migration) return ttl;
  return [migration = *migration, kind = asked.kind, timestamps = has_ttl(written),
          ttl = std::move(ttl),
          grown = std::string()](std::string_view value, std::string* out) mutable {
    if (!ttl) return migration.apply(kind, timestamps, value, out);
    grown.clear();
    PENSTOCK_RETURN_NOT_OK(migration.apply(kind, timestamps, value, &grown));
    return ttl(grown, out);
  };
}

}  // namespace penstock
