// concatenate(): columns of one type, end to end.

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "columnar/bitmap.h"
#include "columnar/column.h"

namespace penstock {

namespace {

using Columns = std::vector<Column>;

int64_t total_length(const Columns& columns) {
  int64_t total = 0;
  for (const Column& column : columns) total += column.length;
  return total;
}

void concatenate_validity(const Columns& columns, Column* out) {
  bool any = false;
  for (const Column& column : columns) any = any || column.has_validity();
  if (!any) {
    out->null_count = 0;
    return;
  }
  const MutableBuffer bits = MutableBuffer::allocate(bitmap_bytes(out->length), true);
  int64_t position = 0;
  for (const Column& column : columns) {
    if (column.has_validity()) {
      copy_bits(column.validity.data, column.offset, column.length, bits.data.get(), position);
    } else {
      for (int64_t i = 0; i < column.length; ++i) set_bit(bits.data.get(), position + i);
    }
    position += column.length;
  }
  out->validity = bits.freeze();
  out->null_count = out->length - count_set_bits(bits.data.get(), 0, out->length);
}

void concatenate_fixed_width(const Columns& columns, Column* out) {
  const auto width = static_cast<size_t>(out->type->byte_width);
  const MutableBuffer values = MutableBuffer::allocate(out->length * out->type->byte_width);
  uint8_t* target = values.data.get();
  for (const Column& column : columns) {
    const size_t bytes = static_cast<size_t>(column.length) * width;
    std::memcpy(target, column.values.data + static_cast<size_t>(column.offset) * width, bytes);
    target += bytes;
  }
  out->values = values.freeze();
}

void concatenate_bool(const Columns& columns, Column* out) {
  const MutableBuffer values = MutableBuffer::allocate(bitmap_bytes(out->length), true);
  int64_t position = 0;
  for (const Column& column : columns) {
    copy_bits(column.values.data, column.offset, column.length, values.data.get(), position);
    position += column.length;
  }
  out->values = values.freeze();
}

// The part of the bytes or of the child that a column's rows refer to.
struct Extent {
  int64_t begin;
  int64_t size;
};

template <typename Offset>
Result<std::vector<Extent>> concatenate_offsets(const Columns& columns, Column* out) {
  const MutableBuffer buffer = MutableBuffer::allocate((out->length + 1) * int64_t{sizeof(Offset)});
  auto* target = reinterpret_cast<Offset*>(buffer.data.get());
  std::vector<Extent> extents;
  int64_t total = 0;
  *target++ = 0;
  for (const Column& column : columns) {
    const auto* from = reinterpret_cast<const Offset*>(column.offsets.data) + column.offset;
    const int64_t begin = from[0];
    const int64_t size = static_cast<int64_t>(from[column.length]) - begin;
    if (total + size > std::numeric_limits<Offset>::max()) {
      return Status::overflow("concatenated columns of type " + out->type->to_string() +
                              " exceed 32-bit offsets; use the large type or smaller batches");
    }
    for (int64_t i = 1; i <= column.length; ++i) {
      *target++ = static_cast<Offset>(total + (static_cast<int64_t>(from[i]) - begin));
    }
    extents.push_back({begin, size});
    total += size;
  }
  out->offsets = buffer.freeze();
  return extents;
}

template <typename Offset>
Status concatenate_binary(const Columns& columns, Column* out) {
  PENSTOCK_ASSIGN_OR_RETURN(const auto extents, concatenate_offsets<Offset>(columns, out));
  int64_t total = 0;
  for (const Extent& extent : extents) total += extent.size;
  const MutableBuffer bytes = MutableBuffer::allocate(total);
  uint8_t* target = bytes.data.get();
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto size = static_cast<size_t>(extents[i].size);
    std::memcpy(target, columns[i].values.data + extents[i].begin, size);
    target += size;
  }
  out->values = bytes.freeze();
  return Status::ok();
}

// Child `index` of each column, cut to the rows' extent, end to end.
Status concatenate_child(const Columns& columns, size_t index, const std::vector<Extent>& extents,
                         Column* out) {
  Columns parts;
  for (size_t i = 0; i < columns.size(); ++i) {
    parts.push_back(columns[i].children[index].slice(extents[i].begin, extents[i].size));
  }
  PENSTOCK_ASSIGN_OR_RETURN(Column child, concatenate(parts));
  out->children.push_back(std::move(child));
  return Status::ok();
}

template <typename Offset>
Status concatenate_list(const Columns& columns, Column* out) {
  PENSTOCK_ASSIGN_OR_RETURN(const auto extents, concatenate_offsets<Offset>(columns, out));
  return concatenate_child(columns, 0, extents, out);
}

// Struct (`per_row` 1) and fixed-size list: children lie at a fixed multiple of the row.
Status concatenate_aligned(const Columns& columns, int64_t per_row, Column* out) {
  std::vector<Extent> extents;
  for (const Column& column : columns) {
    extents.push_back({column.offset * per_row, column.length * per_row});
  }
  for (size_t child = 0; child < out->type->children.size(); ++child) {
    PENSTOCK_RETURN_NOT_OK(concatenate_child(columns, child, extents, out));
  }
  return Status::ok();
}

Status concatenate_nested(const Columns& columns, Column* out) {
  switch (out->type->nested) {
    case NestedKind::kList:
    case NestedKind::kMap:
      return concatenate_list<int32_t>(columns, out);
    case NestedKind::kLargeList:
      return concatenate_list<int64_t>(columns, out);
    case NestedKind::kFixedSizeList:
      return concatenate_aligned(columns, out->type->list_size, out);
    case NestedKind::kStruct:
      return concatenate_aligned(columns, 1, out);
    default:
      return Status::not_supported("columns of type " + out->type->to_string() +
                                   " cannot be concatenated");
  }
}

}  // namespace

Result<Column> concatenate(const std::vector<Column>& columns) {
  if (columns.empty()) return Status::invalid("concatenate needs at least one column");
  if (columns.size() == 1) return columns[0];
  const DataType& type = *columns[0].type;
  for (const Column& column : columns) {
    if (!column.type->equals(type)) {
      return Status::type_error("cannot concatenate " + type.to_string() + " and " +
                                column.type->to_string());
    }
  }
  Column out;
  out.type = columns[0].type;
  out.length = total_length(columns);
  if (type.id == TypeId::kNull) {
    out.null_count = out.length;
    return out;
  }
  concatenate_validity(columns, &out);
  if (type.is_fixed_width()) {
    concatenate_fixed_width(columns, &out);
  } else if (type.id == TypeId::kBool) {
    concatenate_bool(columns, &out);
  } else if (type.is_binary_like()) {
    PENSTOCK_RETURN_NOT_OK(type.has_large_offsets() ? concatenate_binary<int64_t>(columns, &out)
                                                    : concatenate_binary<int32_t>(columns, &out));
  } else {
    PENSTOCK_RETURN_NOT_OK(concatenate_nested(columns, &out));
  }
  return out;
}

}  // namespace penstock
