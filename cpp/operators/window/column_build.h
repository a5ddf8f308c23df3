// Small builders of result columns, from plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

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

// A column of `count` byte strings, copied; `value(i)` is a std::string_view. kInvalidArgument when
// they are more than the type's offsets can count.
template <typename Value>
Result<Column> binary_column(DataTypePtr type, size_t count, Value value) {
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) total += value(i).size();
  const bool large = type->has_large_offsets();
  if (!large && total > static_cast<size_t>(INT32_MAX)) {
    return Status::invalid("more than 2 GiB in one batch of a column; use a column of type large_" +
                           type->to_string());
  }
  const size_t width = large ? sizeof(int64_t) : sizeof(int32_t);
  const MutableBuffer offsets = MutableBuffer::allocate(static_cast<int64_t>((count + 1) * width));
  const MutableBuffer values = MutableBuffer::allocate(static_cast<int64_t>(total));
  const auto set_offset = [&](size_t i, size_t end) {
    if (large) {
      reinterpret_cast<int64_t*>(offsets.data.get())[i] = static_cast<int64_t>(end);
    } else {
      reinterpret_cast<int32_t*>(offsets.data.get())[i] = static_cast<int32_t>(end);
    }
  };
  size_t end = 0;
  set_offset(0, 0);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view bytes = value(i);
    if (!bytes.empty()) std::memcpy(values.data.get() + end, bytes.data(), bytes.size());
    end += bytes.size();
    set_offset(i + 1, end);
  }
  Column column;
  column.type = std::move(type);
  column.length = static_cast<int64_t>(count);
  column.null_count = 0;
  column.offsets = offsets.freeze();
  column.values = values.freeze();
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
