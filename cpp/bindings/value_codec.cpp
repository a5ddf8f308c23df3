#include "bindings/value_codec.h"

#include <utility>

#include "bindings/errors.h"
#include "bindings/key_codec.h"
#include "bindings/user_code.h"
#include "bindings/value_codecs.h"

namespace penstock::bindings {

PyObject* damaged_value(const std::string& type) {
  return set_python_error(Status::corruption("the stored bytes are no value of type " + type +
                                             ": the state is damaged"));
}

Status ValueCodec::misfit(PyObject* value, const char* why) const {
  PyErr_Clear();
  return Status::type_error(record_repr(value) + " of type " + Py_TYPE(value)->tp_name +
                            " does not fit " + type_.text + (why == nullptr ? "" : ": ") +
                            (why == nullptr ? "" : why));
}

PyObject* ValueCodec::made_of(PyObject* made) const {
  if (made != nullptr) return made;
  PyErr_Clear();
  return damaged_value(type_.text);
}

PyObject* ValueCodec::decode_all(std::string_view bytes) const {
  ByteReader in(bytes);
  PyRef value = PyRef::adopt(decode(&in));
  if (value && !in.at_end()) return damaged_value(type_.text);
  return value.release();
}

Result<std::unique_ptr<const ValueCodec>> ValueCodec::make(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kBoolean:
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      return make_number_codec(type);
    case ValueKind::kString:
    case ValueKind::kBinary:
    case ValueKind::kBigInt:
    case ValueKind::kBigDec:
      return make_text_codec(type);
    case ValueKind::kTimestamp:
    case ValueKind::kDate:
    case ValueKind::kTime:
      return make_time_codec(type);
    case ValueKind::kRow:
    case ValueKind::kTuple:
    case ValueKind::kList:
    case ValueKind::kMap:
      return make_nested_codec(type);
    case ValueKind::kPickled:
      return make_pickled_codec(type);
  }
  return Status::internal("a type without a codec: " + type.text);
}

Result<std::unique_ptr<const ValueCodec>> ValueCodec::make(std::string_view type_text) {
  PENSTOCK_ASSIGN_OR_RETURN(const ValueType type, ValueType::parse(type_text));
  return make(type);
}

Result<std::unique_ptr<const UserKeyCodec>> UserKeyCodec::make(std::string_view type_text) {
  PENSTOCK_ASSIGN_OR_RETURN(const ValueType type, ValueType::parse(type_text));
  PENSTOCK_ASSIGN_OR_RETURN(auto codec, ValueCodec::make(type));
  return std::unique_ptr<const UserKeyCodec>(new UserKeyCodec(std::move(codec), type.kind));
}

Status UserKeyCodec::encode(PyObject* key, std::string* out) const {
  const bool as_it_is = kind_ == ValueKind::kPickled ||
                        (kind_ == ValueKind::kLong && PyLong_CheckExact(key)) ||
                        (kind_ == ValueKind::kString && PyUnicode_CheckExact(key));
  if (as_it_is) return encode_object_key(key, out);
  // 1 is a DOUBLE key as well as 1.0: the same one. A list is the key that its tuple is.
  std::string bytes;
  PENSTOCK_RETURN_NOT_OK(codec_->encode(key, &bytes));
  const PyRef as_declared = PyRef::adopt(codec_->decode_all(bytes));
  if (!as_declared) return status_from_python_error("map key");
  return encode_object_key(as_declared.get(), out);
}

PyObject* UserKeyCodec::decode(std::string_view bytes) const {
  PyObject* const key = decode_object_key(bytes);
  if (key == nullptr || kind_ != ValueKind::kRow) return key;
  // Canonical keys forget the names of rows.
  const PyRef tuple = PyRef::adopt(key);
  std::string encoded;
  const Status status = codec_->encode(tuple.get(), &encoded);
  return status.is_ok() ? codec_->decode_all(encoded) : set_python_error(status);
}

}  // namespace penstock::bindings
