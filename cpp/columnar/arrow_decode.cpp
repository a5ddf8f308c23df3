#include "columnar/arrow_decode.h"

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "columnar/bitmap.h"
#include "columnar/builder.h"

namespace penstock {

namespace {

// Indices as take() wants them; null ones become 0, which decode_dictionary masks afterwards.
template <typename T>
Status widen_indices(const Column& indices, int64_t limit, std::vector<int32_t>* out) {
  const T* data = indices.data<T>();
  for (int64_t i = 0; i < indices.length; ++i) {
    if (!indices.is_valid(i)) {
      out->push_back(0);
      continue;
    }
    const auto index = static_cast<int64_t>(data[i]);
    if (index < 0 || index >= limit) {
      return Status::invalid("dictionary index " + std::to_string(index) + " is outside [0, " +
                             std::to_string(limit) + ")");
    }
    out->push_back(static_cast<int32_t>(index));
  }
  return Status::ok();
}

Status widen_indices(const Column& indices, int64_t limit, std::vector<int32_t>* out) {
  switch (indices.type->id) {
    case TypeId::kInt8:
      return widen_indices<int8_t>(indices, limit, out);
    case TypeId::kInt16:
      return widen_indices<int16_t>(indices, limit, out);
    case TypeId::kInt32:
      return widen_indices<int32_t>(indices, limit, out);
    case TypeId::kInt64:
      return widen_indices<int64_t>(indices, limit, out);
    case TypeId::kUInt8:
      return widen_indices<uint8_t>(indices, limit, out);
    case TypeId::kUInt16:
      return widen_indices<uint16_t>(indices, limit, out);
    case TypeId::kUInt32:
      return widen_indices<uint32_t>(indices, limit, out);
    case TypeId::kUInt64:
      return widen_indices<uint64_t>(indices, limit, out);
    default:
      return Status::invalid("dictionary indices of type " + indices.type->to_string());
  }
}

// Adds the nulls of the indices to those that came from the dictionary's values.
void mask_nulls(const Column& indices, Column* decoded) {
  if (!indices.has_validity() || decoded->type->id == TypeId::kNull) return;
  const MutableBuffer bits = MutableBuffer::allocate(bitmap_bytes(indices.length), true);
  int64_t valid = 0;
  for (int64_t i = 0; i < indices.length; ++i) {
    if (!indices.is_valid(i) || !decoded->is_valid(i)) continue;
    set_bit(bits.data.get(), i);
    ++valid;
  }
  decoded->validity = bits.freeze();
  decoded->null_count = indices.length - valid;
}

// One 16-byte view: up to 12 bytes lie in it, longer ones in the data buffer it names.
std::string_view read_view(const ArrowArray& array, const char* view) {
  auto read = [view](size_t at) {
    int32_t value = 0;
    std::memcpy(&value, view + at, sizeof(value));
    return value;
  };
  const int32_t size = read(0);
  if (size <= 12) return {view + 4, static_cast<size_t>(size)};
  const auto* data = static_cast<const char*>(array.buffers[2 + read(8)]);
  return {data + read(12), static_cast<size_t>(size)};
}

}  // namespace

Result<Column> decode_dictionary(const Column& indices, const Column& values) {
  if (values.length == 0 && indices.count_nulls() == indices.length) {
    return make_nulls(values.type, indices.length);
  }
  if (values.length > std::numeric_limits<int32_t>::max()) {
    return Status::not_supported("a dictionary of more than 2^31 values");
  }
  std::vector<int32_t> positions;
  positions.reserve(static_cast<size_t>(indices.length));
  PENSTOCK_RETURN_NOT_OK(widen_indices(indices, values.length, &positions));
  PENSTOCK_ASSIGN_OR_RETURN(Column decoded, take(values, positions.data(), indices.length));
  mask_nulls(indices, &decoded);
  return decoded;
}

bool is_view_format(std::string_view format) { return format == "vu" || format == "vz"; }

std::string decoded_view_format(std::string_view format) { return format == "vu" ? "U" : "Z"; }

Result<Column> decode_views(const ArrowArray& array, const DataTypePtr& type) {
  if (array.n_buffers < 2 || (array.length > 0 && array.buffers[1] == nullptr)) {
    return Status::invalid("an Arrow array of views has no views buffer");
  }
  const auto* validity = static_cast<const uint8_t*>(array.buffers[0]);
  const auto* views = static_cast<const char*>(array.buffers[1]);
  LargeBinaryBuilder builder(type);
  builder.reserve(array.length, array.length * 8);
  for (int64_t i = array.offset; i < array.offset + array.length; ++i) {
    if (validity != nullptr && !get_bit(validity, i)) {
      builder.append_null();
    } else {
      builder.append(read_view(array, views + i * 16));
    }
  }
  return builder.finish();
}

}  // namespace penstock
