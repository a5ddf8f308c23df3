// Columns for tests: made at random, and compared value by value by the slowest possible reading.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "columnar/builder.h"
#include "columnar/column.h"

namespace penstock::testing {

// One row as text: "null", a number's bytes, "[...]" for lists, "{...}" for structs.
inline std::string render(const Column& column, int64_t i);

inline std::string render_range(const Column& child, int64_t begin, int64_t end) {
  std::string text = "[";
  for (int64_t k = begin; k < end; ++k) text += render(child, k) + ",";
  return text + "]";
}

template <typename Offset>
std::string render_list(const Column& column, int64_t i) {
  const auto* offsets = reinterpret_cast<const Offset*>(column.offsets.data) + column.offset + i;
  return render_range(column.children[0], offsets[0], offsets[1]);
}

inline std::string render_nested(const Column& column, int64_t i) {
  std::string text = "{";
  switch (column.type->nested) {
    case NestedKind::kList:
    case NestedKind::kMap:
      return render_list<int32_t>(column, i);
    case NestedKind::kLargeList:
      return render_list<int64_t>(column, i);
    case NestedKind::kFixedSizeList: {
      const int64_t size = column.type->list_size;
      const int64_t begin = (column.offset + i) * size;
      return render_range(column.children[0], begin, begin + size);
    }
    case NestedKind::kStruct:
      for (const Column& child : column.children) text += render(child, column.offset + i) + ",";
      return text + "}";
    default:
      return "?";
  }
}

inline std::string render(const Column& column, int64_t i) {
  if (!column.is_valid(i)) return "null";
  const DataType& type = *column.type;
  if (type.id == TypeId::kBool) return column.bool_at(i) ? "true" : "false";
  if (type.is_binary_like()) return "'" + std::string(column.bytes_at(i)) + "'";
  if (type.is_fixed_width()) {
    const auto* bytes = column.values.data + (column.offset + i) * type.byte_width;
    return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(type.byte_width)};
  }
  return render_nested(column, i);
}

inline std::vector<std::string> render_all(const Column& column) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < column.length; ++i) rows.push_back(render(column, i));
  return rows;
}

inline DataTypePtr flat_type(const std::string& format) {
  return DataType::from_format(format).value();
}

inline FieldPtr field(std::string name, DataTypePtr type) {
  return std::make_shared<const Field>(Field{std::move(name), std::move(type), true, "", 0});
}

inline DataTypePtr nested_type(const std::string& format, std::vector<FieldPtr> children) {
  return DataType::from_format(format, std::move(children)).value();
}

// Some type of each layout, nested ones included.
inline std::vector<DataTypePtr> all_layouts() {
  std::vector<DataTypePtr> types;
  for (const char* format : {"n", "b", "c", "s", "i", "l", "g", "d:20,3", "w:5", "u", "U", "z", "Z",
                             "tsu:UTC", "e", "d:50,2,256"}) {
    types.push_back(flat_type(format));
  }
  const FieldPtr item = field("item", utf8());
  const FieldPtr key = field("key", utf8());
  const FieldPtr value = field("value", int64());
  types.push_back(nested_type("+l", {item}));
  types.push_back(nested_type("+L", {value}));
  types.push_back(nested_type("+w:3", {item}));
  types.push_back(nested_type("+s", {key, value}));
  const DataTypePtr entries = nested_type("+s", {key, value});
  types.push_back(nested_type("+m", {field("entries", entries)}));
  types.push_back(nested_type("+l", {field("item", types[types.size() - 2])}));
  types.push_back(nested_type("+s", {field("a", nested_type("+w:2", {field("b", boolean())}))}));
  return types;
}

class RandomColumns {
 public:
  explicit RandomColumns(uint32_t seed) : engine_(seed) {}

  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(engine_);
  }

  // A column of `length` rows that begins at an odd place of its buffers.
  Column make(const DataTypePtr& type, int64_t length, bool nulls) {
    const int64_t before = below(11);
    return make_whole(type, before + length + below(5), nulls).slice(before, length);
  }

  std::vector<int32_t> indices(int64_t count, int64_t limit) {
    std::vector<int32_t> out;
    for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<int32_t>(below(limit)));
    return out;
  }

 private:
  Column make_whole(const DataTypePtr& type, int64_t length, bool nulls) {
    Column column = make_nulls(type, length).value();
    if (type->id == TypeId::kNull) return column;
    fill_validity(length, nulls, &column);
    if (type->is_binary_like()) {
      if (type->has_large_offsets()) {
        fill_strings<int64_t>(&column);
      } else {
        fill_strings<int32_t>(&column);
      }
    } else if (type->id == TypeId::kNested) {
      fill_nested(nulls, &column);
    } else {
      const int64_t width = type->byte_width == 0 ? 1 : type->byte_width;
      column.values = random_bytes(length * width);
      if (type->id == TypeId::kTime32) column.values = random_times<int32_t>(*type, length);
      if (type->id == TypeId::kTime64) column.values = random_times<int64_t>(*type, length);
    }
    return column;
  }

  void fill_validity(int64_t length, bool nulls, Column* column) {
    column->null_count = nulls ? -1 : 0;
    column->validity = {};
    if (nulls) column->validity = random_bytes(bitmap_bytes(length));
  }

  Buffer random_bytes(int64_t size) {
    const MutableBuffer buffer = MutableBuffer::allocate(size);
    for (int64_t i = 0; i < size; ++i) buffer.data.get()[i] = static_cast<uint8_t>(below(256));
    return buffer.freeze();
  }

  template <typename T>
  Buffer random_times(const DataType& type, int64_t length) {
    std::vector<T> times;
    for (int64_t i = 0; i < length; ++i) {
      times.push_back(static_cast<T>(below(86400 * units_per_second(type.unit))));
    }
    return builder_internal::adopt(std::move(times));
  }

  // Offsets that do not begin at 0. Returns where they end.
  template <typename Offset>
  int64_t fill_offsets(int64_t longest, Column* column) {
    const MutableBuffer buffer =
        MutableBuffer::allocate((column->length + 1) * int64_t{sizeof(Offset)});
    auto* offsets = reinterpret_cast<Offset*>(buffer.data.get());
    int64_t at = below(4);
    for (int64_t i = 0; i <= column->length; ++i) {
      offsets[i] = static_cast<Offset>(at);
      if (i < column->length) at += below(longest);
    }
    column->offsets = buffer.freeze();
    return at;
  }

  template <typename Offset>
  void fill_strings(Column* column) {
    column->values = random_bytes(fill_offsets<Offset>(40, column));
  }

  void fill_nested(bool nulls, Column* column) {
    const DataType& type = *column->type;
    int64_t child_length = column->length;
    if (type.nested == NestedKind::kLargeList) child_length = fill_offsets<int64_t>(4, column);
    if (type.nested == NestedKind::kList || type.nested == NestedKind::kMap) {
      child_length = fill_offsets<int32_t>(4, column);
    }
    if (type.nested == NestedKind::kFixedSizeList) child_length *= type.list_size;
    column->children.clear();
    for (const FieldPtr& child : type.children) {
      column->children.push_back(make(child->type, child_length, nulls));
    }
  }

  std::mt19937 engine_;
};

}  // namespace penstock::testing
