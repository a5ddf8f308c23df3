#include "columnar/column.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "columnar/bitmap.h"

namespace penstock {

MutableBuffer MutableBuffer::allocate(int64_t size, bool zeroed) {
  constexpr size_t kAlignment = 64;
  // At least one unit, so that the pointer is never null.
  const size_t bytes = (static_cast<size_t>(size) / kAlignment + 1) * kAlignment;
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, bytes));
  if (data == nullptr) throw std::bad_alloc();
  if (zeroed) std::memset(data, 0, bytes);
  return {std::shared_ptr<uint8_t>(data, [](uint8_t* p) { std::free(p); })};
}

int64_t Column::count_nulls() const {
  if (type->id == TypeId::kNull) return length;
  if (null_count >= 0) return null_count;
  if (!validity) return 0;
  return length - count_set_bits(validity.data, offset, length);
}

Column Column::slice(int64_t from, int64_t count) const {
  Column out = *this;
  out.offset = offset + from;
  out.length = count;
  if (type->id == TypeId::kNull) {
    out.null_count = count;
  } else if (!validity || null_count == 0) {
    out.null_count = 0;
  } else if (count != length) {
    out.null_count = -1;
  }
  return out;
}

namespace {

Buffer zeroed(int64_t size) { return MutableBuffer::allocate(size, true).freeze(); }

// Fills the buffers and children that `count` nulls of a nested type need.
Status fill_nested_nulls(const DataType& type, int64_t count, Column* out) {
  int64_t child_count = 0;
  switch (type.nested) {
    case NestedKind::kList:
    case NestedKind::kMap:
      out->offsets = zeroed((count + 1) * 4);
      break;
    case NestedKind::kLargeList:
      out->offsets = zeroed((count + 1) * 8);
      break;
    case NestedKind::kFixedSizeList:
      child_count = count * type.list_size;
      break;
    case NestedKind::kStruct:
      child_count = count;
      break;
    default:
      return Status::not_supported("nulls of type " + type.to_string());
  }
  for (const FieldPtr& child : type.children) {
    PENSTOCK_ASSIGN_OR_RETURN(Column column, make_nulls(child->type, child_count));
    out->children.push_back(std::move(column));
  }
  return Status::ok();
}

}  // namespace

Result<Column> make_nulls(const DataTypePtr& type, int64_t count) {
  Column out;
  out.type = type;
  out.length = count;
  out.null_count = count;
  if (type->id == TypeId::kNull) return out;
  out.validity = zeroed(bitmap_bytes(count));
  if (type->is_binary_like()) {
    out.offsets = zeroed((count + 1) * (type->has_large_offsets() ? 8 : 4));
    out.values = zeroed(0);
  } else if (type->id == TypeId::kBool) {
    out.values = zeroed(bitmap_bytes(count));
  } else if (type->is_fixed_width()) {
    out.values = zeroed(count * type->byte_width);
  } else {
    PENSTOCK_RETURN_NOT_OK(fill_nested_nulls(*type, count, &out));
  }
  return out;
}

}  // namespace penstock
