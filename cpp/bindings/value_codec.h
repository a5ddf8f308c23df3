// Python values <-> the bytes that state keeps of them, by declared type.
// docs/snapshot-format.md ("Values") has the encoding; it reaches disk: never to change.
//
// What is decoded is new each time: changing it changes nothing that is stored.
//
// Thread safety: immutable. Everything here REQUIRES the GIL.
#pragma once

#include <Python.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"
#include "snapshot/bytes.h"
#include "state/value_type.h"

namespace penstock::bindings {

class ValueCodec {
 public:
  virtual ~ValueCodec() = default;
  static Result<std::unique_ptr<const ValueCodec>> make(const ValueType& type);
  static Result<std::unique_ptr<const ValueCodec>> make(std::string_view type_text);

  // Appends the encoding. kTypeError "'x' of type str does not fit LONG"; None does not fit.
  virtual Status encode(PyObject* value, std::string* out) const = 0;
  // New reference; nullptr with the Python error set when the bytes are no encoding. Takes what it
  // needs off the front of `in`.
  virtual PyObject* decode(ByteReader* in) const = 0;

  // The whole of `bytes`.
  PyObject* decode_all(std::string_view bytes) const;
  [[nodiscard]] const std::string& type_text() const { return type_.text; }

 protected:
  explicit ValueCodec(ValueType type) : type_(std::move(type)) {}
  // kTypeError for `value`; drops a Python error that stands.
  [[nodiscard]] Status misfit(PyObject* value, const char* why = nullptr) const;
  // `made`; when it is nullptr, bytes that make no value are damage, whatever Python said to them.
  [[nodiscard]] PyObject* made_of(PyObject* made) const;

 private:
  ValueType type_;
};

// Keys of a map state: the canonical key bytes (so that maps are iterated over in the order of
// their keys), of the value as its declared type has it.
class UserKeyCodec {
 public:
  static Result<std::unique_ptr<const UserKeyCodec>> make(std::string_view type_text);
  Status encode(PyObject* key, std::string* out) const;
  // New reference; nullptr with the Python error set.
  PyObject* decode(std::string_view bytes) const;
  [[nodiscard]] const std::string& type_text() const { return codec_->type_text(); }

 private:
  explicit UserKeyCodec(std::unique_ptr<const ValueCodec> codec, ValueKind kind)
      : codec_(std::move(codec)), kind_(kind) {}

  std::unique_ptr<const ValueCodec> codec_;
  ValueKind kind_;
};

}  // namespace penstock::bindings
