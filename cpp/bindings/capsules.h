// PyCapsule <-> Arrow C structs, and reading whole Arrow streams: the door through which pyarrow,
// pandas, Polars and DuckDB data comes in.
//
// Everything here REQUIRES the GIL, except ArrowStreamReader::next().
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <utility>
#include <vector>

#include "columnar/arrow_import.h"

namespace penstock::bindings {

// Owns one Arrow C struct (ArrowSchema, ArrowArray or ArrowArrayStream). Move-only.
template <typename Struct>
class Unique {
 public:
  Unique() = default;
  // Takes over the struct's contents and marks it released.
  explicit Unique(Struct* source) : value_(*source) { source->release = nullptr; }
  ~Unique() { reset(); }
  Unique(Unique&& other) noexcept : value_(std::exchange(other.value_, Struct{})) {}
  Unique& operator=(Unique&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, Struct{});
    }
    return *this;
  }
  Unique(const Unique&) = delete;
  Unique& operator=(const Unique&) = delete;

  // To be filled by a producer. REQUIRES: empty.
  Struct* out() { return &value_; }
  Struct* get() { return &value_; }
  const Struct& operator*() const { return value_; }
  Struct* operator->() { return &value_; }
  [[nodiscard]] explicit operator bool() const { return value_.release != nullptr; }

 private:
  void reset() {
    if (value_.release != nullptr) value_.release(&value_);
    value_ = Struct{};
  }
  Struct value_{};
};

using UniqueSchema = Unique<ArrowSchema>;
using UniqueArray = Unique<ArrowArray>;
using UniqueStream = Unique<ArrowArrayStream>;

// Moves the struct into a new capsule of the standard name, which releases it if nobody takes it.
pybind11::capsule schema_capsule(UniqueSchema schema);
pybind11::capsule array_capsule(UniqueArray array);

// The schema stays in its capsule (and lives as long); arrays and streams are moved out.
Result<const ArrowSchema*> borrow_schema(pybind11::handle capsule);
Result<UniqueArray> take_array(pybind11::handle capsule);
Result<UniqueStream> take_stream(pybind11::handle capsule);

// From an object with __arrow_c_array__ whose type is a struct (a record batch).
Result<Batch> batch_from_arrow(pybind11::handle object);
// From an object with __arrow_c_schema__ (pyarrow.Schema, ...).
Result<SchemaPtr> schema_from_arrow(pybind11::handle object);

// Pulls batches out of a stream one at a time.
class ArrowStreamReader {
 public:
  // From an object with __arrow_c_stream__ (table, reader, DataFrame, relation), or
  // __arrow_c_array__.
  static Result<ArrowStreamReader> open(pybind11::handle object);
  [[nodiscard]] const SchemaPtr& schema() const { return schema_; }
  // nullopt at the end. Needs no GIL: a producer written in Python takes it by itself.
  Result<std::optional<Batch>> next();

 private:
  UniqueStream stream_;
  UniqueSchema arrow_schema_;
  SchemaPtr schema_;
  std::optional<Batch> only_batch_;  // when the object was a single array and not a stream
};

struct ArrowStreamContents {
  SchemaPtr schema;
  std::vector<Batch> batches;
};

// The whole stream at once; releases the GIL while it reads.
Result<ArrowStreamContents> read_arrow_stream(pybind11::handle object);

}  // namespace penstock::bindings
