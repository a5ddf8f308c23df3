// DataType, Field, Schema: the types a column can have, in Arrow's terms.
//
// Types the engine computes on have an id of their own; every other Arrow type (list, struct, map
// ...) is kNested: carried through, sliced, gathered and exported, never computed on. `format` is
// always the exact Arrow format string of the (dictionary-decoded) type, so export is loss-free.
//
// Immutable after construction; shared by shared_ptr between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"

namespace penstock {

// Values reach snapshots: never renumber.
enum class TypeId : uint8_t {
  kNull = 0,
  kBool = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUInt8 = 6,
  kUInt16 = 7,
  kUInt32 = 8,
  kUInt64 = 9,
  kFloat32 = 10,
  kFloat64 = 11,
  kUtf8 = 12,
  kLargeUtf8 = 13,
  kBinary = 14,
  kLargeBinary = 15,
  kDate32 = 16,
  kDate64 = 17,
  kTime32 = 18,
  kTime64 = 19,
  kTimestamp = 20,
  kDuration = 21,
  kDecimal128 = 22,
  kFixedSizeBinary = 23,
  kNested = 24,
};

// What a kNested type is; kNone for every other type.
enum class NestedKind : uint8_t {
  kNone = 0,
  kList,
  kLargeList,
  kFixedSizeList,
  kStruct,
  kMap,  // a list of struct<key, value>
  kSparseUnion,
  kDenseUnion,
};

enum class TimeUnit : uint8_t { kSecond = 0, kMilli = 1, kMicro = 2, kNano = 3 };

constexpr int64_t units_per_second(TimeUnit unit) {
  constexpr int64_t kUnits[] = {1, 1000, 1000000, 1000000000};
  return kUnits[static_cast<uint8_t>(unit)];
}

struct Field;
using FieldPtr = std::shared_ptr<const Field>;

struct DataType {
  TypeId id = TypeId::kNull;
  TimeUnit unit = TimeUnit::kMilli;  // timestamp, time, duration
  std::string timezone;              // timestamp; empty: none
  int32_t precision = 0;             // decimal128
  int32_t scale = 0;                 // decimal128
  int32_t byte_width = 0;  // bytes per value of fixed-width types (bool: 0, it is a bitmap)
  int32_t list_size = 0;   // fixed-size list: values per row
  NestedKind nested = NestedKind::kNone;
  std::string format;              // Arrow format string, as exported
  std::vector<FieldPtr> children;  // kNested only

  [[nodiscard]] bool is_integer() const { return id >= TypeId::kInt8 && id <= TypeId::kUInt64; }
  [[nodiscard]] bool is_signed_integer() const {
    return id >= TypeId::kInt8 && id <= TypeId::kInt64;
  }
  [[nodiscard]] bool is_floating() const {
    return id == TypeId::kFloat32 || id == TypeId::kFloat64;
  }
  [[nodiscard]] bool is_binary_like() const {
    return id >= TypeId::kUtf8 && id <= TypeId::kLargeBinary;
  }
  [[nodiscard]] bool has_large_offsets() const {
    return id == TypeId::kLargeUtf8 || id == TypeId::kLargeBinary;
  }
  // One value is `byte_width` bytes in buffer `values` (everything but null, bool, binary-like,
  // nested).
  [[nodiscard]] bool is_fixed_width() const { return byte_width > 0; }
  // A fixed-size binary by Arrow's own name. Types without an id of their own (float16, intervals,
  // decimals of other widths) are carried under kFixedSizeBinary too; their `format` tells them
  // apart.
  [[nodiscard]] bool is_plain_fixed_size_binary() const {
    return id == TypeId::kFixedSizeBinary && format.starts_with("w:");
  }
  // "timestamp[us, tz=UTC]", "decimal128(10, 2)", "int64" ...: for messages and snapshots.
  [[nodiscard]] std::string to_string() const;
  // Same type, time zone, precision and children's types (names of children included).
  [[nodiscard]] bool equals(const DataType& other) const;

  // Parses an Arrow format string of a non-nested type ("l", "tsu:UTC", "d:10,2", ...).
  static Result<std::shared_ptr<const DataType>> from_format(const std::string& format);
  // A nested type ("+l", "+s", "+w:3", ...) over its children.
  static Result<std::shared_ptr<const DataType>> from_format(const std::string& format,
                                                             std::vector<FieldPtr> children);
};
using DataTypePtr = std::shared_ptr<const DataType>;

// Shared instances of the common types.
DataTypePtr boolean();
DataTypePtr int32();
DataTypePtr int64();
DataTypePtr uint64();
DataTypePtr float64();
DataTypePtr utf8();
DataTypePtr binary();
DataTypePtr timestamp_ms();  // no time zone
DataTypePtr decimal128(int32_t precision, int32_t scale);

struct Field {
  std::string name;
  DataTypePtr type;
  bool nullable = true;
  std::string metadata;  // raw Arrow metadata bytes (extension types survive), may be empty
  int64_t flags = 0;     // ARROW_FLAG_MAP_KEYS_SORTED is kept
};

class Schema {
 public:
  explicit Schema(std::vector<FieldPtr> fields, std::string metadata = {})
      : fields_(std::move(fields)), metadata_(std::move(metadata)) {}
  [[nodiscard]] const std::vector<FieldPtr>& fields() const { return fields_; }
  [[nodiscard]] int num_fields() const { return static_cast<int>(fields_.size()); }
  [[nodiscard]] const Field& field(int i) const { return *fields_[static_cast<size_t>(i)]; }
  // Raw Arrow metadata bytes of the schema itself, may be empty.
  [[nodiscard]] const std::string& metadata() const { return metadata_; }
  // -1 when there is no such column.
  [[nodiscard]] int index_of(const std::string& name) const;
  // Same names and types in the same order; metadata and nullability are not compared.
  [[nodiscard]] bool equals(const Schema& other) const;

 private:
  std::vector<FieldPtr> fields_;
  std::string metadata_;
};
using SchemaPtr = std::shared_ptr<const Schema>;

}  // namespace penstock
