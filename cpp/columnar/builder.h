// Builders: append values one by one, finish() hands over a Column.
//
// A builder is empty again after finish(). The validity bitmap appears with the first null, so a
// column without nulls costs none. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "columnar/bitmap.h"
#include "columnar/column.h"

namespace penstock {

namespace builder_internal {

// A Buffer over a container's storage, which it takes over.
template <typename Container>
Buffer adopt(Container storage) {
  storage.reserve(1);  // an empty container may have no storage, a Buffer always has
  auto owner = std::make_shared<const Container>(std::move(storage));
  return Buffer{owner, reinterpret_cast<const uint8_t*>(owner->data())};
}

class Bits {
 public:
  void append(bool bit) {
    if ((size_ & 7) == 0) bytes_.push_back(0);
    if (bit) set_bit(bytes_.data(), size_);
    ++size_;
  }
  void append_many(bool bit, int64_t count) {
    for (int64_t i = 0; i < count; ++i) append(bit);
  }
  Buffer finish() {
    size_ = 0;
    return adopt(std::exchange(bytes_, {}));
  }

 private:
  std::vector<uint8_t> bytes_;
  int64_t size_ = 0;
};

// Length, nulls and type: what all builders share.
class Base {
 public:
  explicit Base(DataTypePtr type) : type_(std::move(type)) {}
  [[nodiscard]] int64_t length() const { return length_; }

 protected:
  void count_valid() {
    if (nulls_ > 0) validity_.append(true);
    ++length_;
  }
  void count_null() {
    if (nulls_ == 0) validity_.append_many(true, length_);
    validity_.append(false);
    ++nulls_;
    ++length_;
  }
  Column finish_base() {
    Column column;
    column.type = type_;
    column.length = std::exchange(length_, 0);
    column.null_count = std::exchange(nulls_, 0);
    if (column.null_count > 0) column.validity = validity_.finish();
    return column;
  }

  DataTypePtr type_;

 private:
  Bits validity_;
  int64_t length_ = 0;
  int64_t nulls_ = 0;
};

}  // namespace builder_internal

// REQUIRES: type->byte_width == sizeof(T).
template <typename T>
class FixedBuilder : public builder_internal::Base {
 public:
  explicit FixedBuilder(DataTypePtr type) : Base(std::move(type)) {}
  void reserve(int64_t count) { values_.reserve(static_cast<size_t>(count)); }
  void append(T value) {
    values_.push_back(value);
    count_valid();
  }
  void append_null() {
    values_.push_back(T{});
    count_null();
  }
  Column finish() {
    Column column = finish_base();
    column.values = builder_internal::adopt(std::exchange(values_, {}));
    return column;
  }

 private:
  std::vector<T> values_;
};

class BoolBuilder : public builder_internal::Base {
 public:
  BoolBuilder() : Base(boolean()) {}
  void append(bool value) {
    values_.append(value);
    count_valid();
  }
  void append_null() {
    values_.append(false);
    count_null();
  }
  Column finish() {
    Column column = finish_base();
    column.values = values_.finish();
    return column;
  }

 private:
  builder_internal::Bits values_;
};

// Offset is int32_t for utf8 and binary, int64_t for the large types.
template <typename Offset>
class BasicBinaryBuilder : public builder_internal::Base {
 public:
  explicit BasicBinaryBuilder(DataTypePtr type) : Base(std::move(type)) {}
  void reserve(int64_t count, int64_t bytes) {
    offsets_.reserve(static_cast<size_t>(count) + 1);
    bytes_.reserve(static_cast<size_t>(bytes));
  }
  void append(std::string_view value) {
    bytes_.append(value);
    offsets_.push_back(static_cast<Offset>(bytes_.size()));
    count_valid();
  }
  void append_null() {
    offsets_.push_back(static_cast<Offset>(bytes_.size()));
    count_null();
  }
  // kOverflow when the bytes are more than the offsets can express.
  Result<Column> finish() {
    Column column = finish_base();
    const size_t size = bytes_.size();
    column.offsets = builder_internal::adopt(std::exchange(offsets_, {Offset{0}}));
    column.values = builder_internal::adopt(std::exchange(bytes_, {}));
    if (size > static_cast<size_t>(std::numeric_limits<Offset>::max())) {
      return Status::overflow("a column of type " + type_->to_string() + " cannot hold " +
                              std::to_string(size) + " bytes");
    }
    return column;
  }

 private:
  std::vector<Offset> offsets_{Offset{0}};
  std::string bytes_;
};

using BinaryBuilder = BasicBinaryBuilder<int32_t>;
using LargeBinaryBuilder = BasicBinaryBuilder<int64_t>;

}  // namespace penstock
