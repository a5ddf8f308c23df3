// Batch: the unit of work. Columns in Arrow layout, or rows of foreign objects; both with event
// times.
//
// Invariants: 1. exactly one form: `schema` set (columns, one per field, each num_rows long) or
// `rows` set;
// 2. `timestamps` is absent (the records have no timestamp) or has num_rows values, milliseconds,
// no nulls;
// 3. `keys` is absent or describes the key of each row (set by a key selector, kept through the
// exchange). Copying a batch copies pointers. Immutable once handed on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "columnar/column.h"
#include "columnar/objects.h"
#include "common/ids.h"

namespace penstock {

// Canonically encoded keys of a batch's rows (record/key_encoding.h has the encoding).
struct EncodedKeys {
  Column bytes;                  // type binary(), no nulls
  std::vector<uint32_t> hashes;  // murmur of each key's bytes; same length
};

struct Batch {
  int64_t num_rows = 0;
  SchemaPtr schema;
  std::vector<Column> columns;
  ObjectColumn rows;
  Column timestamps;  // type int64() when present; type null: absent
  std::shared_ptr<const EncodedKeys> keys;

  [[nodiscard]] bool is_columnar() const { return schema != nullptr; }
  [[nodiscard]] bool has_timestamps() const { return timestamps.type != nullptr; }
  // nullptr when the records have no timestamps.
  [[nodiscard]] const Timestamp* timestamp_data() const {
    return has_timestamps() ? timestamps.data<Timestamp>() : nullptr;
  }
  // Zero copy, except for `keys` hashes (copied).
  [[nodiscard]] Batch slice(int64_t from, int64_t count) const;
  // The rows at `indices`, gathered.
  [[nodiscard]] Result<Batch> take(const int32_t* indices, int64_t count) const;
};

// A columnar batch. REQUIRES: columns match the schema.
Batch make_batch(SchemaPtr schema, std::vector<Column> columns, int64_t num_rows);
Batch make_rows(ObjectColumn rows);

// int64 column over a vector's storage (zero copy, takes it over).
Column int64_column(std::vector<int64_t> values);

}  // namespace penstock
