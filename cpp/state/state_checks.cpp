#include "state/state_checks.h"

namespace penstock {

namespace {

constexpr std::string_view kTtlOpen = "TTL<";

std::string describe(const StateMeta& meta) {
  std::string text = std::string(to_string(meta.kind)) + " state of type '" + meta.value_type + "'";
  if (!meta.namespace_type.empty()) text += " with namespace '" + meta.namespace_type + "'";
  return text;
}

Status differ(const StateMeta& known, const char* then, const StateMeta& asked, const char* now) {
  return Status::type_error("state '" + asked.name + "' " + then + " " + describe(known) + ", " +
                            now + " " + describe(asked));
}

bool same(const TtlConfig& one, const TtlConfig& other) {
  if (!one.enabled() || !other.enabled()) return one.enabled() == other.enabled();
  return one.ttl_millis == other.ttl_millis && one.update == other.update &&
         one.visibility == other.visibility &&
         one.cleanup_in_full_snapshot == other.cleanup_in_full_snapshot &&
         one.incremental_cleanup_entries == other.incremental_cleanup_entries &&
         one.incremental_cleanup_per_record == other.incremental_cleanup_per_record &&
         one.cleanup_in_compaction == other.cleanup_in_compaction &&
         one.compaction_query_time_after == other.compaction_query_time_after;
}

}  // namespace

Status too_large(uint64_t size) {
  return Status::not_supported("a keyed state of " + std::to_string(size) +
                               " bytes under one key; at most 4 GiB are possible");
}

StateMeta meta_of(const StateDescriptor& descriptor) {
  std::string type = descriptor.value_type;
  if (descriptor.kind == StateKind::kMap) {
    type = "MAP<" + descriptor.user_key_type + ", " + type + ">";
  }
  if (descriptor.ttl.enabled()) type = std::string(kTtlOpen) + type + ">";
  return {descriptor.name, descriptor.kind, "encoded", descriptor.namespace_type, type};
}

Status check_table_kind(const StateDescriptor& descriptor, TableKind table) {
  const StateKind kind = descriptor.kind;
  switch (table) {
    case TableKind::kValue:
      if (kind == StateKind::kValue || kind == StateKind::kReducing ||
          kind == StateKind::kAggregating) {
        return Status::ok();
      }
      break;
    case TableKind::kList:
      if (kind == StateKind::kList) return Status::ok();
      break;
    case TableKind::kMap:
      if (kind == StateKind::kMap) return Status::ok();
      break;
  }
  const char* const names[] = {"value", "list", "map"};
  return Status::type_error("state '" + descriptor.name + "' is " + to_string(kind) + " state; a " +
                            names[static_cast<size_t>(table)] + " table cannot hold it");
}

bool has_ttl(const StateMeta& meta) { return meta.value_type.starts_with(kTtlOpen); }

std::string type_without_ttl(const StateMeta& meta) {
  if (!has_ttl(meta)) return meta.value_type;
  return meta.value_type.substr(kTtlOpen.size(), meta.value_type.size() - kTtlOpen.size() - 1);
}

Status check_same(const StateMeta& known, const TtlConfig& known_ttl, const StateMeta& asked,
                  const TtlConfig& asked_ttl) {
  if (known.kind != asked.kind || known.namespace_type != asked.namespace_type ||
      known.value_type != asked.value_type) {
    return differ(known, "is known as", asked, "and was asked for as");
  }
  if (!same(known_ttl, asked_ttl)) {
    return Status::type_error(
        "state '" + asked.name + "' was asked for twice with different times to live (" +
        std::to_string(known_ttl.ttl_millis) + " ms and " + std::to_string(asked_ttl.ttl_millis) +
        " ms, or other settings of theirs)");
  }
  return Status::ok();
}

std::optional<TypeMigration> migration_of(const StateMeta& written, const StateMeta& asked) {
  return TypeMigration::between(asked.kind, type_without_ttl(written), type_without_ttl(asked));
}

Status check_restored(const StateMeta& written, const StateMeta& asked) {
  const bool same_place =
      written.kind == asked.kind && written.namespace_type == asked.namespace_type;
  const bool readable = same_place && (type_without_ttl(written) == type_without_ttl(asked) ||
                                       migration_of(written, asked).has_value());
  return readable ? Status::ok() : differ(written, "was written as", asked, "now it is");
}

}  // namespace penstock
