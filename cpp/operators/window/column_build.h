// Small builders of result columns, from plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "columnar/column.h"

namespace penstock::window {

// A column of `count` fixed-width values, copied. REQUIRES: sizeof(T) is the type's width.
template <typename T>
Column copy_column(DataTypePtr type, const T* values, size_t count) {
  const auto bytes = static_cast<int64_t>(count * sizeof(T));
  const MutableBuffer buffer = MutableBuffer::allocate(bytes);
  if (count != 0) std::memcpy(buffer.data.get(), values, count * sizeof(T));
  Column column;
  column.type = std::move(type);
  column.length = static_cast<int64_t>(count);
  column.null_count = 0;
  column.values = buffer.freeze();
  return column;
}

// The same value `count` times.
inline Column constant_column(DataTypePtr type, int64_t value, size_t count) {
  const MutableBuffer buffer =
      MutableBuffer::allocate(static_cast<int64_t>(count * sizeof(int64_t)));
  auto* out = reinterpret_cast<int64_t*>(buffer.data.get());
  for (size_t i = 0; i < count; ++i) out[i] = value;
  Column column;
  column.type = std::move(type);
  column.length = static_cast<int64_t>(count);
  column.null_count = 0;
  column.values = buffer.freeze();
  return column;
}

// Packs one byte per flag (0 or 1) into a bitmap.
inline Buffer pack_bits(const uint8_t* flags, size_t count) {
  const MutableBuffer buffer =
      MutableBuffer::allocate(static_cast<int64_t>((count + 7) / 8), /*zeroed=*/true);
  uint8_t* out = buffer.data.get();
  for (size_t i = 0; i < count; ++i) {
    out[i >> 3] = static_cast<uint8_t>(out[i >> 3] | ((flags[i] & 1U) << (i & 7)));
  }
  return buffer.freeze();
}

// Puts a validity bitmap on `column` when one of `valid` is 0.
inline void set_validity(const uint8_t* valid, size_t count, Column* column) {
  int64_t nulls = 0;
  for (size_t i = 0; i < count; ++i) nulls += valid[i] == 0 ? 1 : 0;
  column->null_count = nulls;
  if (nulls != 0) column->validity = pack_bits(valid, count);
}

// May rows of `column` be null?
inline bool may_have_nulls(const Column& column) {
  return column.type->id == TypeId::kNull || column.has_validity();
}

}  // namespace penstock::window
