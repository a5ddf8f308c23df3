#include "columnar/data_type.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace penstock {

namespace {

using MutableType = std::shared_ptr<DataType>;

MutableType make_type(TypeId id, int32_t byte_width, std::string_view format) {
  auto type = std::make_shared<DataType>();
  type->id = id;
  type->byte_width = byte_width;
  type->format = format;
  return type;
}

struct SimpleType {
  std::string_view format;
  TypeId id;
  int32_t byte_width;
  TimeUnit unit;
  std::string_view name;
};

// Everything whose format string has no parameters. Types without an id of their own are carried
// as values of a fixed size.
constexpr SimpleType kSimpleTypes[] = {
    {"n", TypeId::kNull, 0, TimeUnit::kMilli, "null"},
    {"b", TypeId::kBool, 0, TimeUnit::kMilli, "bool"},
    {"c", TypeId::kInt8, 1, TimeUnit::kMilli, "int8"},
    {"s", TypeId::kInt16, 2, TimeUnit::kMilli, "int16"},
    {"i", TypeId::kInt32, 4, TimeUnit::kMilli, "int32"},
    {"l", TypeId::kInt64, 8, TimeUnit::kMilli, "int64"},
    {"C", TypeId::kUInt8, 1, TimeUnit::kMilli, "uint8"},
    {"S", TypeId::kUInt16, 2, TimeUnit::kMilli, "uint16"},
    {"I", TypeId::kUInt32, 4, TimeUnit::kMilli, "uint32"},
    {"L", TypeId::kUInt64, 8, TimeUnit::kMilli, "uint64"},
    {"f", TypeId::kFloat32, 4, TimeUnit::kMilli, "float"},
    {"g", TypeId::kFloat64, 8, TimeUnit::kMilli, "double"},
    {"u", TypeId::kUtf8, 0, TimeUnit::kMilli, "string"},
    {"U", TypeId::kLargeUtf8, 0, TimeUnit::kMilli, "large_string"},
    {"z", TypeId::kBinary, 0, TimeUnit::kMilli, "binary"},
    {"Z", TypeId::kLargeBinary, 0, TimeUnit::kMilli, "large_binary"},
    {"tdD", TypeId::kDate32, 4, TimeUnit::kSecond, "date32[day]"},
    {"tdm", TypeId::kDate64, 8, TimeUnit::kMilli, "date64[ms]"},
    {"tts", TypeId::kTime32, 4, TimeUnit::kSecond, "time32[s]"},
    {"ttm", TypeId::kTime32, 4, TimeUnit::kMilli, "time32[ms]"},
    {"ttu", TypeId::kTime64, 8, TimeUnit::kMicro, "time64[us]"},
    {"ttn", TypeId::kTime64, 8, TimeUnit::kNano, "time64[ns]"},
    {"tDs", TypeId::kDuration, 8, TimeUnit::kSecond, "duration[s]"},
    {"tDm", TypeId::kDuration, 8, TimeUnit::kMilli, "duration[ms]"},
    {"tDu", TypeId::kDuration, 8, TimeUnit::kMicro, "duration[us]"},
    {"tDn", TypeId::kDuration, 8, TimeUnit::kNano, "duration[ns]"},
    {"e", TypeId::kFixedSizeBinary, 2, TimeUnit::kMilli, "halffloat"},
    {"tiM", TypeId::kFixedSizeBinary, 4, TimeUnit::kMilli, "month_interval"},
    {"tiD", TypeId::kFixedSizeBinary, 8, TimeUnit::kMilli, "day_time_interval"},
    {"tin", TypeId::kFixedSizeBinary, 16, TimeUnit::kMilli, "month_day_nano_interval"},
};

const SimpleType* find_simple(std::string_view format) {
  for (const SimpleType& simple : kSimpleTypes) {
    if (simple.format == format) return &simple;
  }
  return nullptr;
}

// Reads one integer off the front of `text`, and the comma behind it if there is one.
std::optional<int32_t> take_int(std::string_view* text) {
  int32_t value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  if (text->starts_with(',')) text->remove_prefix(1);
  return value;
}

std::optional<TimeUnit> unit_of(char letter) {
  switch (letter) {
    case 's':
      return TimeUnit::kSecond;
    case 'm':
      return TimeUnit::kMilli;
    case 'u':
      return TimeUnit::kMicro;
    case 'n':
      return TimeUnit::kNano;
    default:
      return std::nullopt;
  }
}

std::string_view unit_name(TimeUnit unit) {
  constexpr std::string_view kNames[] = {"s", "ms", "us", "ns"};
  return kNames[static_cast<size_t>(unit)];
}

Status bad_format(const std::string& format) {
  return Status::invalid("'" + format + "' is not a valid Arrow format string");
}

// "tsu:Europe/Berlin"
Result<DataTypePtr> parse_timestamp(const std::string& format) {
  const auto unit = format.size() >= 4 && format[3] == ':' ? unit_of(format[2]) : std::nullopt;
  if (!unit) return bad_format(format);
  auto type = make_type(TypeId::kTimestamp, 8, format);
  type->unit = *unit;
  type->timezone = format.substr(4);
  return DataTypePtr(type);
}

// "d:10,2" (128 bits) or "d:10,2,256"
Result<DataTypePtr> parse_decimal(const std::string& format) {
  std::string_view text = std::string_view(format).substr(2);
  const auto precision = take_int(&text);
  const auto scale = take_int(&text);
  const auto bits = text.empty() ? std::optional<int32_t>(128) : take_int(&text);
  if (!precision || !scale || !bits || *bits < 32 || *bits % 32 != 0) return bad_format(format);
  const TypeId id = *bits == 128 ? TypeId::kDecimal128 : TypeId::kFixedSizeBinary;
  auto type = make_type(id, *bits / 8, format);
  type->precision = *precision;
  type->scale = *scale;
  return DataTypePtr(type);
}

// "w:16"
Result<DataTypePtr> parse_fixed_size_binary(const std::string& format) {
  std::string_view text = std::string_view(format).substr(2);
  const auto width = take_int(&text);
  if (!width || *width < 0) return bad_format(format);
  if (*width == 0) return Status::not_supported("fixed_size_binary of width 0 is not supported");
  return DataTypePtr(make_type(TypeId::kFixedSizeBinary, *width, format));
}

std::optional<NestedKind> nested_kind_of(std::string_view format) {
  if (format == "+l") return NestedKind::kList;
  if (format == "+L") return NestedKind::kLargeList;
  if (format == "+m") return NestedKind::kMap;
  if (format == "+s") return NestedKind::kStruct;
  if (format.starts_with("+w:")) return NestedKind::kFixedSizeList;
  if (format.starts_with("+us:")) return NestedKind::kSparseUnion;
  if (format.starts_with("+ud:")) return NestedKind::kDenseUnion;
  return std::nullopt;
}

Status not_carried(const std::string& format) {
  std::string name = "type with Arrow format '" + format + "'";
  if (format == "+r") name = "run-end encoded type";
  if (format == "+vl" || format == "+vL") name = "list view type";
  return Status::not_supported(name + " is not supported; cast it to a plain type first");
}

std::string children_to_string(const DataType& type) {
  std::string text;
  for (const FieldPtr& child : type.children) {
    if (!text.empty()) text += ", ";
    text += child->name + ": " + child->type->to_string();
  }
  return "<" + text + ">";
}

std::string map_to_string(const DataType& type) {
  const auto& entries = type.children[0]->type->children;
  return "map<" + entries[0]->type->to_string() + ", " + entries[1]->type->to_string() + ">";
}

std::string nested_to_string(const DataType& type) {
  switch (type.nested) {
    case NestedKind::kList:
      return "list" + children_to_string(type);
    case NestedKind::kLargeList:
      return "large_list" + children_to_string(type);
    case NestedKind::kFixedSizeList:
      return "fixed_size_list" + children_to_string(type) + "[" + std::to_string(type.list_size) +
             "]";
    case NestedKind::kStruct:
      return "struct" + children_to_string(type);
    case NestedKind::kMap:
      return map_to_string(type);
    case NestedKind::kSparseUnion:
      return "sparse_union" + children_to_string(type);
    case NestedKind::kDenseUnion:
      return "dense_union" + children_to_string(type);
    case NestedKind::kNone:
      break;
  }
  return type.format;
}

Status check_children(const DataType& type) {
  const size_t count = type.children.size();
  const bool one_child = type.nested != NestedKind::kStruct &&
                         type.nested != NestedKind::kSparseUnion &&
                         type.nested != NestedKind::kDenseUnion;
  if (one_child && count != 1) {
    return Status::invalid("Arrow type '" + type.format + "' must have one child, not " +
                           std::to_string(count));
  }
  if (type.nested == NestedKind::kMap && (type.children[0]->type->nested != NestedKind::kStruct ||
                                          type.children[0]->type->children.size() != 2)) {
    return Status::invalid("an Arrow map must have one child of type struct<key, value>");
  }
  return Status::ok();
}

DataTypePtr shared_simple(std::string_view format) {
  const SimpleType& simple = *find_simple(format);
  auto type = make_type(simple.id, simple.byte_width, format);
  type->unit = simple.unit;
  return type;
}

}  // namespace

Result<DataTypePtr> DataType::from_format(const std::string& format) {
  if (find_simple(format) != nullptr) return shared_simple(format);
  if (format.starts_with("ts")) return parse_timestamp(format);
  if (format.starts_with("d:")) return parse_decimal(format);
  if (format.starts_with("w:")) return parse_fixed_size_binary(format);
  return not_carried(format);
}

Result<DataTypePtr> DataType::from_format(const std::string& format,
                                          std::vector<FieldPtr> children) {
  const auto kind = nested_kind_of(format);
  if (!kind) return not_carried(format);
  auto type = make_type(TypeId::kNested, 0, format);
  type->nested = *kind;
  type->children = std::move(children);
  PENSTOCK_RETURN_NOT_OK(check_children(*type));
  if (*kind == NestedKind::kFixedSizeList) {
    std::string_view text = std::string_view(format).substr(3);
    const auto size = take_int(&text);
    if (!size || *size < 0) return bad_format(format);
    type->list_size = *size;
  }
  return DataTypePtr(type);
}

std::string DataType::to_string() const {
  if (id == TypeId::kNested) return nested_to_string(*this);
  if (const SimpleType* simple = find_simple(format)) return std::string(simple->name);
  if (id == TypeId::kTimestamp) {
    const std::string zone = timezone.empty() ? "" : ", tz=" + timezone;
    return "timestamp[" + std::string(unit_name(unit)) + zone + "]";
  }
  if (format.starts_with("d:")) {
    return "decimal" + std::to_string(byte_width * 8) + "(" + std::to_string(precision) + ", " +
           std::to_string(scale) + ")";
  }
  return "fixed_size_binary[" + std::to_string(byte_width) + "]";
}

bool DataType::equals(const DataType& other) const {
  if (this == &other) return true;
  if (id != other.id || byte_width != other.byte_width || precision != other.precision ||
      scale != other.scale || children.size() != other.children.size()) {
    return false;
  }
  // "d:10,2" and "d:10,2,128" are one type, so decimals are compared by their parts alone.
  if (id != TypeId::kDecimal128 && format != other.format) return false;
  for (size_t i = 0; i < children.size(); ++i) {
    if (children[i]->name != other.children[i]->name) return false;
    if (!children[i]->type->equals(*other.children[i]->type)) return false;
  }
  return true;
}

DataTypePtr boolean() {
  static const DataTypePtr kType = shared_simple("b");
  return kType;
}

DataTypePtr int32() {
  static const DataTypePtr kType = shared_simple("i");
  return kType;
}

DataTypePtr int64() {
  static const DataTypePtr kType = shared_simple("l");
  return kType;
}

DataTypePtr uint64() {
  static const DataTypePtr kType = shared_simple("L");
  return kType;
}

DataTypePtr float64() {
  static const DataTypePtr kType = shared_simple("g");
  return kType;
}

DataTypePtr utf8() {
  static const DataTypePtr kType = shared_simple("u");
  return kType;
}

DataTypePtr binary() {
  static const DataTypePtr kType = shared_simple("z");
  return kType;
}

DataTypePtr timestamp_ms() {
  static const DataTypePtr kType = parse_timestamp("tsm:").value();
  return kType;
}

DataTypePtr decimal128(int32_t precision, int32_t scale) {
  auto type = make_type(TypeId::kDecimal128, 16,
                        "d:" + std::to_string(precision) + "," + std::to_string(scale));
  type->precision = precision;
  type->scale = scale;
  return type;
}

int Schema::index_of(const std::string& name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i]->name == name) return static_cast<int>(i);
  }
  return -1;
}

bool Schema::equals(const Schema& other) const {
  if (fields_.size() != other.fields_.size()) return false;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i]->name != other.fields_[i]->name) return false;
    if (!fields_[i]->type->equals(*other.fields_[i]->type)) return false;
  }
  return true;
}

}  // namespace penstock
