// Export by the Arrow C Data Interface: structs whose private data keeps our buffers alive.

#include <string>
#include <utility>
#include <vector>

#include "columnar/arrow_import.h"

namespace penstock {

namespace {

// What an exported ArrowSchema points into.
struct SchemaData {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
};

// What an exported ArrowArray points into. `column` holds the buffers' owners.
struct ArrayData {
  Column column;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
};

// A consumer may have moved a child out and set its release to null; it then owns that child.
template <typename Struct, typename Data>
void release(Struct* exported) {
  auto* data = static_cast<Data*>(exported->private_data);
  for (Struct& child : data->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete data;
  exported->release = nullptr;
  exported->private_data = nullptr;
}

template <typename Struct>
std::vector<Struct*> pointers_to(std::vector<Struct>& children) {
  std::vector<Struct*> pointers;
  for (Struct& child : children) pointers.push_back(&child);
  return pointers;
}

void fill_schema(ArrowSchema* out, std::unique_ptr<SchemaData> data, int64_t flags) {
  data->child_pointers = pointers_to(data->children);
  *out = ArrowSchema{};
  out->format = data->format.c_str();
  out->name = data->name.c_str();
  out->metadata = data->metadata.empty() ? nullptr : data->metadata.data();
  out->flags = flags;
  out->n_children = static_cast<int64_t>(data->children.size());
  out->children = data->child_pointers.empty() ? nullptr : data->child_pointers.data();
  out->release = &release<ArrowSchema, SchemaData>;
  out->private_data = data.release();
}

void fill_array(ArrowArray* out, std::unique_ptr<ArrayData> data) {
  data->child_pointers = pointers_to(data->children);
  *out = ArrowArray{};
  out->length = data->column.length;
  out->null_count = data->column.null_count;
  out->offset = data->column.offset;
  out->n_buffers = static_cast<int64_t>(data->buffers.size());
  out->buffers = data->buffers.empty() ? nullptr : data->buffers.data();
  out->n_children = static_cast<int64_t>(data->children.size());
  out->children = data->child_pointers.empty() ? nullptr : data->child_pointers.data();
  out->release = &release<ArrowArray, ArrayData>;
  out->private_data = data.release();
}

void export_field(const Field& field, ArrowSchema* out);

void export_node(const DataType& type, const std::string& name, const std::string& metadata,
                 int64_t flags, ArrowSchema* out) {
  auto data = std::make_unique<SchemaData>();
  data->format = type.format;
  data->name = name;
  data->metadata = metadata;
  data->children.resize(type.children.size());
  for (size_t i = 0; i < type.children.size(); ++i) {
    export_field(*type.children[i], &data->children[i]);
  }
  fill_schema(out, std::move(data), flags);
}

void export_field(const Field& field, ArrowSchema* out) {
  const int64_t flags = field.flags | (field.nullable ? ARROW_FLAG_NULLABLE : 0);
  export_node(*field.type, field.name, field.metadata, flags, out);
}

std::vector<const void*> buffers_of(const Column& column) {
  const DataType& type = *column.type;
  if (type.id == TypeId::kNull) return {};
  if (type.is_binary_like()) {
    return {column.validity.data, column.offsets.data, column.values.data};
  }
  switch (type.nested) {
    case NestedKind::kNone:
      return {column.validity.data, column.values.data};
    case NestedKind::kList:
    case NestedKind::kLargeList:
    case NestedKind::kMap:
      return {column.validity.data, column.offsets.data};
    case NestedKind::kStruct:
    case NestedKind::kFixedSizeList:
      return {column.validity.data};
    case NestedKind::kSparseUnion:
      return {column.values.data};
    case NestedKind::kDenseUnion:
      return {column.values.data, column.offsets.data};
  }
  return {};
}

void export_node(const Column& column, ArrowArray* out) {
  auto data = std::make_unique<ArrayData>();
  data->column = column;
  data->buffers = buffers_of(column);
  data->children.resize(column.children.size());
  for (size_t i = 0; i < column.children.size(); ++i) {
    export_node(column.children[i], &data->children[i]);
  }
  fill_array(out, std::move(data));
}

}  // namespace

Status export_type(const DataType& type, const std::string& name, ArrowSchema* out) {
  export_node(type, name, {}, ARROW_FLAG_NULLABLE, out);
  return Status::ok();
}

Status export_schema(const Schema& schema, ArrowSchema* out) {
  auto data = std::make_unique<SchemaData>();
  data->format = "+s";
  data->metadata = schema.metadata();
  data->children.resize(schema.fields().size());
  for (size_t i = 0; i < data->children.size(); ++i) {
    export_field(*schema.fields()[i], &data->children[i]);
  }
  fill_schema(out, std::move(data), 0);
  return Status::ok();
}

Status export_column(const Column& column, ArrowArray* out) {
  export_node(column, out);
  return Status::ok();
}

Status export_batch(const Batch& batch, ArrowArray* out) {
  if (!batch.is_columnar()) {
    return Status::invalid("a batch of rows has no Arrow form; convert it to columns first");
  }
  auto data = std::make_unique<ArrayData>();
  data->column.length = batch.num_rows;
  data->column.null_count = 0;
  data->buffers = {nullptr};
  data->children.resize(batch.columns.size());
  for (size_t i = 0; i < batch.columns.size(); ++i) {
    export_node(batch.columns[i], &data->children[i]);
  }
  fill_array(out, std::move(data));
  return Status::ok();
}

}  // namespace penstock
