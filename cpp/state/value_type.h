// ValueType: what the type texts of state descriptors mean, as a tree.
//
//   type := basic | "ROW<" name " " type {", " name " " type} ">" | "TUPLE<" type {", " type} ">"
//         | "LIST<" type ">" | "MAP<" type ", " type ">" | "PICKLED_BYTE_ARRAY"
//
// The texts are the reprs of penstock.common.typeinfo and stand in snapshots. How values of each
// type are encoded is described in docs/snapshot-format.md ("Values").
//
// Thread safety: immutable after parse().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace penstock {

enum class ValueKind : uint8_t {
  kBoolean,
  kByte,
  kShort,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kString,  // CHAR too
  kBinary,
  kBigInt,
  kBigDec,
  kTimestamp,  // INSTANT and SQL_TIMESTAMP
  kDate,
  kTime,
  kRow,
  kTuple,
  kList,
  kMap,
  kPickled
};

struct ValueType {
  ValueKind kind = ValueKind::kPickled;
  std::string text;                 // as it was written
  std::vector<std::string> names;   // of a row's fields
  std::vector<ValueType> children;  // fields; the element; key and value

  // kInvalidArgument naming what is not understood.
  static Result<ValueType> parse(std::string_view text);
};

}  // namespace penstock
