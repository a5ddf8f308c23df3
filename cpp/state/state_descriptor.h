// What a keyed state is: its name, kind, types and time to live. Registered once per operator and
// name; the same name again must say the same.
//
// Types are texts, those of penstock.common.typeinfo ("LONG", "ROW<a LONG, b STRING>",
// "PICKLED_BYTE_ARRAY"): the core compares and stores them, bindings/ encodes and decodes by them.
#pragma once

#include <cstdint>
#include <string>

#include "snapshot/operator_state.h"

namespace penstock {

enum class TtlUpdateType : uint8_t { kOnCreateAndWrite, kOnReadAndWrite };
enum class TtlVisibility : uint8_t { kNeverReturnExpired, kReturnExpiredIfNotCleanedUp };

// Flink's StateTtlConfig. An entry (of a list: an element, of a map: a user key's value) expires
// `ttl_millis` of processing time after it was last touched.
struct TtlConfig {
  int64_t ttl_millis = 0;  // 0: for ever, and nothing else here means anything
  TtlUpdateType update = TtlUpdateType::kOnCreateAndWrite;
  TtlVisibility visibility = TtlVisibility::kNeverReturnExpired;
  bool cleanup_in_full_snapshot = false;
  // So many entries are looked at for each access; 0: no incremental cleanup. Heap only.
  int32_t incremental_cleanup_entries = 0;
  bool incremental_cleanup_per_record = false;
  // RocksDB's compaction drops what has expired; it asks for the time after so many entries.
  bool cleanup_in_compaction = true;
  int64_t compaction_query_time_after = 1000;

  [[nodiscard]] bool enabled() const { return ttl_millis > 0; }
};

struct StateDescriptor {
  std::string name;
  StateKind kind = StateKind::kValue;  // one of the keyed kinds
  std::string namespace_type;          // empty: no namespace
  std::string value_type;              // of a list: of an element
  std::string user_key_type;           // kMap only
  TtlConfig ttl;
};

// As it stands in snapshots: the value type of a map is "MAP<user key type, value type>"; with a
// time to live "TTL<...>" stands around the value type, since every value then has its timestamp.
StateMeta meta_of(const StateDescriptor& descriptor);

}  // namespace penstock
