#include "columnar/arrow_import.h"

#include <string>
#include <string_view>
#include <utility>

#include "columnar/arrow_decode.h"
#include "columnar/bitmap.h"

namespace penstock {

namespace {

// Owns a foreign array: every imported Buffer holds one of these, and the last one releases it.
struct ImportedArray {
  explicit ImportedArray(ArrowArray* source) : array(*source) { source->release = nullptr; }
  ~ImportedArray() {
    if (array.release != nullptr) array.release(&array);
  }
  ImportedArray(const ImportedArray&) = delete;
  ImportedArray& operator=(const ImportedArray&) = delete;
  ArrowArray array;
};

using Owner = std::shared_ptr<const void>;

// Arrow lets empty buffers be null pointers; this stands in for them.
alignas(64) constexpr uint8_t kEmptyBuffer[64] = {};

std::string_view format_of(const ArrowSchema& schema) {
  return schema.format == nullptr ? std::string_view() : std::string_view(schema.format);
}

// The bytes of Arrow metadata: a count, then length-prefixed keys and values in turn.
std::string copy_metadata(const char* metadata) {
  if (metadata == nullptr) return {};
  auto read = [](const char* at) {
    int32_t value = 0;
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  const int32_t pairs = read(metadata);
  const char* at = metadata + 4;
  for (int32_t i = 0; i < pairs * 2; ++i) at += 4 + read(at);
  return {metadata, static_cast<size_t>(at - metadata)};
}

Result<FieldPtr> import_field(const ArrowSchema& schema) {
  auto field = std::make_shared<Field>();
  field->name = schema.name == nullptr ? "" : schema.name;
  auto type = import_type(schema);
  if (!type.is_ok()) return type.status().with_context("column '" + field->name + "'");
  field->type = std::move(type).value();
  field->nullable = (schema.flags & ARROW_FLAG_NULLABLE) != 0;
  field->flags = schema.flags & ARROW_FLAG_MAP_KEYS_SORTED;
  field->metadata = copy_metadata(schema.metadata);
  return FieldPtr(std::move(field));
}

Result<std::vector<FieldPtr>> import_children(const ArrowSchema& schema) {
  std::vector<FieldPtr> fields;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    PENSTOCK_ASSIGN_OR_RETURN(FieldPtr field, import_field(*schema.children[i]));
    fields.push_back(std::move(field));
  }
  return fields;
}

Status check_shape(const ArrowArray& array, const ArrowSchema& schema, int64_t buffers) {
  if (array.length < 0 || array.offset < 0) return Status::invalid("negative length or offset");
  if (array.n_children != schema.n_children) {
    return Status::invalid("the Arrow array has " + std::to_string(array.n_children) +
                           " children, its schema " + std::to_string(schema.n_children));
  }
  if (array.n_buffers < buffers) {
    return Status::invalid("an Arrow array of format '" + std::string(format_of(schema)) +
                           "' needs " + std::to_string(buffers) + " buffers, not " +
                           std::to_string(array.n_buffers));
  }
  return Status::ok();
}

// Shares buffer `index`, which holds `size` bytes; copies it only when it is not aligned for its
// values.
Result<Buffer> share_buffer(const ArrowArray& array, int64_t index, int64_t size, uintptr_t align,
                            const Owner& owner) {
  const auto* data = static_cast<const uint8_t*>(array.buffers[index]);
  if (data == nullptr) {
    if (size > static_cast<int64_t>(sizeof(kEmptyBuffer))) {
      return Status::invalid("buffer " + std::to_string(index) + " of the Arrow array is missing");
    }
    return Buffer{nullptr, kEmptyBuffer};
  }
  if (reinterpret_cast<uintptr_t>(data) % align == 0) return Buffer{owner, data};
  const MutableBuffer copy = MutableBuffer::allocate(size);
  std::memcpy(copy.data.get(), data, static_cast<size_t>(size));
  return copy.freeze();
}

Status import_offsets(const ArrowArray& array, bool large, const Owner& owner, Column* out) {
  const uintptr_t width = large ? 8 : 4;
  // An empty array may come without offsets; its own offset then has nothing to point into.
  if (array.buffers[1] == nullptr) {
    if (array.length > 0) return Status::invalid("the Arrow array has no offsets buffer");
    out->offset = 0;
  }
  const int64_t size = (out->offset + array.length + 1) * static_cast<int64_t>(width);
  PENSTOCK_ASSIGN_OR_RETURN(out->offsets, share_buffer(array, 1, size, width, owner));
  return Status::ok();
}

uintptr_t alignment_of(const DataType& type) {
  if (type.is_plain_fixed_size_binary()) return 1;
  return type.byte_width >= 8 ? 8 : static_cast<uintptr_t>(type.byte_width);
}

Status import_flat(const ArrowArray& array, const Owner& owner, Column* out) {
  const DataType& type = *out->type;
  const int64_t end = array.offset + array.length;
  if (type.is_binary_like()) {
    PENSTOCK_RETURN_NOT_OK(import_offsets(array, type.has_large_offsets(), owner, out));
    PENSTOCK_ASSIGN_OR_RETURN(out->values, share_buffer(array, 2, 0, 1, owner));
    return Status::ok();
  }
  const bool bits = type.id == TypeId::kBool;
  const int64_t size = bits ? (end + 7) / 8 : end * type.byte_width;
  const uintptr_t align = bits ? 1 : alignment_of(type);
  if (array.buffers[1] == nullptr && array.length > 0) {
    return Status::invalid("the Arrow array has no values buffer");
  }
  if (array.buffers[1] == nullptr) out->offset = 0;
  PENSTOCK_ASSIGN_OR_RETURN(out->values,
                            share_buffer(array, 1, array.length == 0 ? 0 : size, align, owner));
  return Status::ok();
}

Status import_union(const ArrowArray& array, bool dense, const Owner& owner, Column* out) {
  const int64_t end = array.offset + array.length;
  PENSTOCK_ASSIGN_OR_RETURN(out->values, share_buffer(array, 0, end, 1, owner));
  if (!dense) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(out->offsets, share_buffer(array, 1, end * 4, 4, owner));
  return Status::ok();
}

bool is_union(const DataType& type) {
  return type.nested == NestedKind::kSparseUnion || type.nested == NestedKind::kDenseUnion;
}

int64_t buffer_count(const DataType& type) {
  if (type.id == TypeId::kNull) return 0;
  if (type.is_binary_like()) return 3;
  switch (type.nested) {
    case NestedKind::kStruct:
    case NestedKind::kFixedSizeList:
    case NestedKind::kSparseUnion:
      return 1;
    default:
      return 2;
  }
}

Status import_buffers(const ArrowArray& array, const Owner& owner, Column* out) {
  const DataType& type = *out->type;
  if (type.id == TypeId::kNull) return Status::ok();
  if (is_union(type)) {
    return import_union(array, type.nested == NestedKind::kDenseUnion, owner, out);
  }
  if (array.buffers[0] != nullptr && array.null_count != 0) {
    out->validity = Buffer{owner, static_cast<const uint8_t*>(array.buffers[0])};
  }
  switch (type.nested) {
    case NestedKind::kNone:
      return import_flat(array, owner, out);
    case NestedKind::kList:
    case NestedKind::kMap:
      return import_offsets(array, false, owner, out);
    case NestedKind::kLargeList:
      return import_offsets(array, true, owner, out);
    default:
      return Status::ok();
  }
}

// The array as it lies: no dictionary, no views.
Result<Column> import_plain(const ArrowArray& array, const ArrowSchema& schema, DataTypePtr type,
                            const Owner& owner);

Result<Column> import_node(const ArrowArray& array, const ArrowSchema& schema, const Owner& owner) {
  if (schema.dictionary != nullptr) {
    if (array.dictionary == nullptr) return Status::invalid("the Arrow array has no dictionary");
    PENSTOCK_ASSIGN_OR_RETURN(DataTypePtr index_type, DataType::from_format(schema.format));
    PENSTOCK_ASSIGN_OR_RETURN(Column indices, import_plain(array, schema, index_type, owner));
    PENSTOCK_ASSIGN_OR_RETURN(Column values,
                              import_node(*array.dictionary, *schema.dictionary, owner));
    return decode_dictionary(indices, values);
  }
  PENSTOCK_ASSIGN_OR_RETURN(DataTypePtr type, import_type(schema));
  if (is_view_format(format_of(schema))) return decode_views(array, type);
  return import_plain(array, schema, std::move(type), owner);
}

Result<Column> import_plain(const ArrowArray& array, const ArrowSchema& schema, DataTypePtr type,
                            const Owner& owner) {
  PENSTOCK_RETURN_NOT_OK(check_shape(array, schema, buffer_count(*type)));
  Column column;
  column.type = std::move(type);
  column.length = array.length;
  column.offset = array.offset;
  PENSTOCK_RETURN_NOT_OK(import_buffers(array, owner, &column));
  column.null_count = column.validity ? array.null_count : 0;
  if (column.type->id == TypeId::kNull) column.null_count = array.length;
  for (int64_t i = 0; i < array.n_children; ++i) {
    PENSTOCK_ASSIGN_OR_RETURN(Column child,
                              import_node(*array.children[i], *schema.children[i], owner));
    column.children.push_back(std::move(child));
  }
  return column;
}

}  // namespace

Result<DataTypePtr> import_type(const ArrowSchema& schema) {
  if (schema.dictionary != nullptr) return import_type(*schema.dictionary);
  const std::string format(format_of(schema));
  if (is_view_format(format)) return DataType::from_format(decoded_view_format(format));
  if (!format.starts_with('+')) return DataType::from_format(format);
  PENSTOCK_ASSIGN_OR_RETURN(std::vector<FieldPtr> children, import_children(schema));
  return DataType::from_format(format, std::move(children));
}

Result<SchemaPtr> import_schema(const ArrowSchema& schema) {
  if (format_of(schema) != "+s") {
    PENSTOCK_ASSIGN_OR_RETURN(DataTypePtr type, import_type(schema));
    return Status::type_error("expected a record batch or struct array, got " + type->to_string());
  }
  PENSTOCK_ASSIGN_OR_RETURN(std::vector<FieldPtr> fields, import_children(schema));
  return std::make_shared<const Schema>(std::move(fields), copy_metadata(schema.metadata));
}

Result<Column> import_column(ArrowArray* array, const ArrowSchema& schema) {
  const auto owner = std::make_shared<const ImportedArray>(array);
  return import_node(owner->array, schema, owner);
}

Result<Batch> import_batch(ArrowArray* array, const ArrowSchema& schema) {
  const auto owner = std::make_shared<const ImportedArray>(array);
  const ArrowArray& root = owner->array;
  PENSTOCK_ASSIGN_OR_RETURN(SchemaPtr imported, import_schema(schema));
  PENSTOCK_RETURN_NOT_OK(check_shape(root, schema, 1));
  std::vector<Column> columns;
  for (int64_t i = 0; i < root.n_children; ++i) {
    auto column = import_node(*root.children[i], *schema.children[i], owner);
    if (!column.is_ok()) {
      return column.status().with_context("column '" + imported->field(static_cast<int>(i)).name +
                                          "'");
    }
    // A struct's offset applies to its children on top of their own.
    columns.push_back(column.value().slice(root.offset, root.length));
  }
  if (root.buffers[0] != nullptr && root.null_count != 0) {
    const auto* bits = static_cast<const uint8_t*>(root.buffers[0]);
    if (count_set_bits(bits, root.offset, root.length) != root.length) {
      return Status::invalid("a struct array with null rows cannot be a record batch");
    }
  }
  return make_batch(std::move(imported), std::move(columns), root.length);
}

}  // namespace penstock
