// take(): gathers rows by index. The type is looked at once per column, never once per row.

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "columnar/bitmap.h"
#include "columnar/column.h"

namespace penstock {

namespace {

struct Indices {
  const int32_t* data;
  int64_t count;
};

template <typename T>
void gather(const uint8_t* source, int64_t offset, Indices indices, uint8_t* target) {
  const T* from = reinterpret_cast<const T*>(source) + offset;
  T* to = reinterpret_cast<T*>(target);
  const int32_t* at = indices.data;
  for (int64_t i = 0; i < indices.count; ++i) to[i] = from[at[i]];
}

// Constant `width` after inlining makes the copy a pair of moves. Decimals need only 8-byte
// alignment.
inline void gather_wide(const uint8_t* source, int64_t offset, size_t width, Indices indices,
                        uint8_t* target) {
  const uint8_t* from = source + static_cast<size_t>(offset) * width;
  for (int64_t i = 0; i < indices.count; ++i) {
    std::memcpy(target + static_cast<size_t>(i) * width,
                from + static_cast<size_t>(indices.data[i]) * width, width);
  }
}

Buffer take_fixed_width(const Column& column, Indices indices) {
  const int32_t width = column.type->byte_width;
  const MutableBuffer out = MutableBuffer::allocate(indices.count * width);
  const uint8_t* source = column.values.data;
  uint8_t* target = out.data.get();
  // Bytes that are no numbers need not be aligned like numbers.
  const bool unaligned = column.type->is_plain_fixed_size_binary() && width < 16;
  switch (unaligned ? 0 : width) {
    case 1:
      gather<uint8_t>(source, column.offset, indices, target);
      break;
    case 2:
      gather<uint16_t>(source, column.offset, indices, target);
      break;
    case 4:
      gather<uint32_t>(source, column.offset, indices, target);
      break;
    case 8:
      gather<uint64_t>(source, column.offset, indices, target);
      break;
    case 16:
      gather_wide(source, column.offset, 16, indices, target);
      break;
    default:
      gather_wide(source, column.offset, static_cast<size_t>(width), indices, target);
  }
  return out.freeze();
}

Buffer take_bitmap(const Buffer& bits, int64_t offset, Indices indices) {
  const MutableBuffer out = MutableBuffer::allocate(bitmap_bytes(indices.count));
  gather_bits(bits.data, offset, indices.data, indices.count, out.data.get());
  return out.freeze();
}

void take_validity(const Column& column, Indices indices, Column* out) {
  if (!column.has_validity()) {
    out->null_count = 0;
    return;
  }
  out->validity = take_bitmap(column.validity, column.offset, indices);
  out->null_count = indices.count - count_set_bits(out->validity.data, 0, indices.count);
}

// Copies up to 16 bytes by two overlapping moves: strings are mostly short, and a call to memcpy
// costs more than they do.
inline void copy_string(char* to, const char* from, size_t size) {
  if (size > 16) {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

template <typename Offset>
Status offsets_overflow(int64_t total) {
  if (total <= std::numeric_limits<Offset>::max()) return Status::ok();
  return Status::overflow("a column of 32-bit offsets cannot hold " + std::to_string(total) +
                          " bytes or elements; use the large type or smaller batches");
}

// Where each gathered row begins and ends: the first of the two passes over offset-based types.
template <typename Offset>
Result<int64_t> gather_offsets(const Column& column, Indices indices, Column* out) {
  const auto* from = reinterpret_cast<const Offset*>(column.offsets.data) + column.offset;
  const MutableBuffer buffer =
      MutableBuffer::allocate((indices.count + 1) * int64_t{sizeof(Offset)});
  auto* to = reinterpret_cast<Offset*>(buffer.data.get());
  int64_t total = 0;
  to[0] = 0;
  for (int64_t i = 0; i < indices.count; ++i) {
    const Offset* row = from + indices.data[i];
    total += static_cast<int64_t>(row[1]) - static_cast<int64_t>(row[0]);
    to[i + 1] = static_cast<Offset>(total);
  }
  PENSTOCK_RETURN_NOT_OK(offsets_overflow<Offset>(total));
  out->offsets = buffer.freeze();
  return total;
}

template <typename Offset>
Status take_binary(const Column& column, Indices indices, Column* out) {
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t total, gather_offsets<Offset>(column, indices, out));
  const auto* from = reinterpret_cast<const Offset*>(column.offsets.data) + column.offset;
  const auto* source = reinterpret_cast<const char*>(column.values.data);
  const MutableBuffer bytes = MutableBuffer::allocate(total);
  auto* target = reinterpret_cast<char*>(bytes.data.get());
  for (int64_t i = 0; i < indices.count; ++i) {
    const Offset* row = from + indices.data[i];
    const auto size = static_cast<size_t>(row[1] - row[0]);
    copy_string(target, source + row[0], size);
    target += size;
  }
  out->values = bytes.freeze();
  return Status::ok();
}

// Indices are 32 bit: a child reached through a list must not be longer than that.
Status check_child_length(const Column& child) {
  if (child.offset + child.length <= std::numeric_limits<int32_t>::max()) return Status::ok();
  return Status::overflow("a nested column with more than 2^31 elements cannot be gathered");
}

Status take_child(const Column& child, const std::vector<int32_t>& indices, Column* out) {
  PENSTOCK_ASSIGN_OR_RETURN(Column taken,
                            take(child, indices.data(), static_cast<int64_t>(indices.size())));
  out->children.push_back(std::move(taken));
  return Status::ok();
}

template <typename Offset>
Status take_list(const Column& column, Indices indices, Column* out) {
  const Column& child = column.children[0];
  PENSTOCK_RETURN_NOT_OK(check_child_length(child));
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t total, gather_offsets<Offset>(column, indices, out));
  const auto* from = reinterpret_cast<const Offset*>(column.offsets.data) + column.offset;
  std::vector<int32_t> elements;
  elements.reserve(static_cast<size_t>(total));
  for (int64_t i = 0; i < indices.count; ++i) {
    const Offset* row = from + indices.data[i];
    for (Offset k = row[0]; k < row[1]; ++k) elements.push_back(static_cast<int32_t>(k));
  }
  return take_child(child, elements, out);
}

Status take_fixed_size_list(const Column& column, Indices indices, Column* out) {
  const Column& child = column.children[0];
  PENSTOCK_RETURN_NOT_OK(check_child_length(child));
  const int64_t size = column.type->list_size;
  std::vector<int32_t> elements;
  elements.reserve(static_cast<size_t>(indices.count * size));
  for (int64_t i = 0; i < indices.count; ++i) {
    const int64_t begin = (column.offset + indices.data[i]) * size;
    for (int64_t k = 0; k < size; ++k) elements.push_back(static_cast<int32_t>(begin + k));
  }
  return take_child(child, elements, out);
}

Status take_struct(const Column& column, Indices indices, Column* out) {
  for (const Column& child : column.children) {
    // A struct's offset applies to its children on top of their own.
    const Column view = child.slice(column.offset, column.length);
    PENSTOCK_ASSIGN_OR_RETURN(Column taken, take(view, indices.data, indices.count));
    out->children.push_back(std::move(taken));
  }
  return Status::ok();
}

Status take_nested(const Column& column, Indices indices, Column* out) {
  switch (column.type->nested) {
    case NestedKind::kList:
    case NestedKind::kMap:
      return take_list<int32_t>(column, indices, out);
    case NestedKind::kLargeList:
      return take_list<int64_t>(column, indices, out);
    case NestedKind::kFixedSizeList:
      return take_fixed_size_list(column, indices, out);
    case NestedKind::kStruct:
      return take_struct(column, indices, out);
    default:
      return Status::not_supported("rows of type " + column.type->to_string() +
                                   " cannot be gathered");
  }
}

}  // namespace

Result<Column> take(const Column& column, const int32_t* indices, int64_t count) {
  const Indices wanted{indices, count};
  Column out;
  out.type = column.type;
  out.length = count;
  const DataType& type = *column.type;
  if (type.id == TypeId::kNull) {
    out.null_count = count;
    return out;
  }
  take_validity(column, wanted, &out);
  if (type.is_fixed_width()) {
    out.values = take_fixed_width(column, wanted);
  } else if (type.id == TypeId::kBool) {
    out.values = take_bitmap(column.values, column.offset, wanted);
  } else if (type.is_binary_like()) {
    PENSTOCK_RETURN_NOT_OK(type.has_large_offsets() ? take_binary<int64_t>(column, wanted, &out)
                                                    : take_binary<int32_t>(column, wanted, &out));
  } else {
    PENSTOCK_RETURN_NOT_OK(take_nested(column, wanted, &out));
  }
  return out;
}

}  // namespace penstock
