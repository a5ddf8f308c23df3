// The sections of a task state file, as its writer and its reader share them.
// docs/snapshot-format.md describes them byte by byte; all numbers here reach disk, never to change.
#pragma once

#include <cstdint>
#include <string>

#include "snapshot/bytes.h"
#include "snapshot/operator_state.h"

namespace penstock {

enum TaskSection : uint32_t {
  kTaskSection = 1,
  kOperatorSection = 2,
  kCountedKeyedStateSection = 3,  // version 1 only: the number of key groups stands in front
  kKeyGroupSection = 4,           // belongs to the keyed state before it
  kListStateSection = 5,
  kKeyedStateSection = 6,
  kEndOfKeyedStateSection = 7,
  kNativeStateSection = 8,
  kFileSection = 9,  // belongs to the native state before it
};

// A key group with more bytes of entries goes on in another section, at the next entry.
inline constexpr size_t kKeyGroupSectionBytes = 4u << 20;

inline void put_meta(std::string* out, const StateMeta& meta) {
  put_bytes(out, meta.name);
  out->push_back(static_cast<char>(meta.kind));
  put_bytes(out, meta.key_type);
  put_bytes(out, meta.namespace_type);
  put_bytes(out, meta.value_type);
}

[[nodiscard]] inline bool get_meta(ByteReader* in, StateMeta* meta) {
  uint8_t kind = 0;
  if (!in->get_string(&meta->name) || !in->get_u8(&kind)) return false;
  meta->kind = static_cast<StateKind>(kind);
  return in->get_string(&meta->key_type) && in->get_string(&meta->namespace_type) &&
         in->get_string(&meta->value_type);
}

}  // namespace penstock
