// Column: one Arrow array in the core's hands. A view (offset, length) on shared, immutable
// buffers.
//
// Ownership: each Buffer keeps its `owner` alive (an imported ArrowArray or our own allocation);
// copying or slicing a Column copies pointers only. Imported fixed-width data is never copied.
// Invariants: 1. buffers cover [0, offset + length); 2. `validity` may be absent (data null): no
// nulls;
// 3. null_count is exact or -1 (not yet counted); 4. dictionary columns do not exist here (decoded
// at import). Thread safety: immutable once built; safe to share.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "columnar/data_type.h"

namespace penstock {

struct Buffer {
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;

  [[nodiscard]] explicit operator bool() const { return data != nullptr; }
};

// A fresh, 64-byte aligned, writable allocation of `size` bytes (zeroed when asked); the Buffer
// shares it.
struct MutableBuffer {
  std::shared_ptr<uint8_t> data;
  static MutableBuffer allocate(int64_t size, bool zeroed = false);
  [[nodiscard]] Buffer freeze() const { return Buffer{data, data.get()}; }
};

struct Column {
  DataTypePtr type;
  int64_t length = 0;
  int64_t offset = 0;  // in values; applies to validity, values and (int32/int64) offsets alike
  int64_t null_count = -1;  // -1: unknown
  Buffer validity;          // bitmap, 1 = valid; absent: no nulls
  Buffer offsets;           // binary-like and list-like
  Buffer values;            // fixed width data, bool bitmap, or binary-like bytes; union type ids
  std::vector<Column> children;

  // Pointer to value 0 of this view. REQUIRES: fixed width, sizeof(T) == byte_width.
  template <typename T>
  [[nodiscard]] const T* data() const {
    return reinterpret_cast<const T*>(values.data) + offset;
  }
  [[nodiscard]] bool has_validity() const { return static_cast<bool>(validity) && null_count != 0; }
  [[nodiscard]] bool is_valid(int64_t i) const {
    if (type->id == TypeId::kNull) return false;
    if (!validity) return true;
    const int64_t bit = offset + i;
    return ((validity.data[bit >> 3] >> (bit & 7)) & 1) != 0;
  }
  [[nodiscard]] bool bool_at(int64_t i) const {
    const int64_t bit = offset + i;
    return ((values.data[bit >> 3] >> (bit & 7)) & 1) != 0;
  }
  // REQUIRES: type->is_binary_like().
  [[nodiscard]] std::string_view bytes_at(int64_t i) const {
    int64_t begin = 0;
    int64_t end = 0;
    if (type->has_large_offsets()) {
      const auto* o = reinterpret_cast<const int64_t*>(offsets.data) + offset + i;
      begin = o[0];
      end = o[1];
    } else {
      const auto* o = reinterpret_cast<const int32_t*>(offsets.data) + offset + i;
      begin = o[0];
      end = o[1];
    }
    return {reinterpret_cast<const char*>(values.data) + begin, static_cast<size_t>(end - begin)};
  }
  // Counts and remembers nothing: O(length/64) when unknown.
  [[nodiscard]] int64_t count_nulls() const;
  [[nodiscard]] Column slice(int64_t from, int64_t count) const;
};

// The rows of `column` at `indices`, copied (any type; nested types recursively; unions:
// kNotSupported).
Result<Column> take(const Column& column, const int32_t* indices, int64_t count);

// `count` nulls of any type but unions (kNotSupported).
Result<Column> make_nulls(const DataTypePtr& type, int64_t count);

// All columns end to end. REQUIRES: same type, at least one.
Result<Column> concatenate(const std::vector<Column>& columns);

}  // namespace penstock
