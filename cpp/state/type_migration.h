// TypeMigration: values that were written as one type, read as another that has grown.
//
// A row may have got more fields behind those it had; in what was written they are None. The row may
// be the state's value, a list's element or a map's value. Every other change of type is refused by
// whoever asks (state/state_checks.h).
//
// Thread safety: immutable.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "snapshot/operator_state.h"
#include "state/value_type.h"

namespace penstock {

class TypeMigration {
 public:
  // nullopt: values of the one are no values of the other. The types are those of the state without
  // a time to live around them; of a map "MAP<user key, value>".
  static std::optional<TypeMigration> between(StateKind kind, std::string_view written,
                                              std::string_view asked);

  // A value as it stands in snapshots (of a list: all elements; of a map: one user key and value),
  // with timestamps or without, appended to `out` as the new type has it.
  Status apply(StateKind kind, bool with_timestamps, std::string_view value,
               std::string* out) const;

 private:
  TypeMigration(size_t fields_before, size_t fields_after)
      : fields_before_(fields_before), fields_after_(fields_after) {}
  Status apply_to_row(bool with_timestamp, std::string_view row, std::string* out) const;

  size_t fields_before_;
  size_t fields_after_;
};

}  // namespace penstock
