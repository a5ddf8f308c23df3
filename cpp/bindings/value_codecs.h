// The makers of the codecs, one per family of types. Private to value_codec*.cpp.
#pragma once

#include "bindings/gil.h"
#include "bindings/value_codec.h"
#include "record/key_bytes.h"

namespace penstock::bindings {

std::unique_ptr<const ValueCodec> make_number_codec(const ValueType& type);
std::unique_ptr<const ValueCodec> make_text_codec(const ValueType& type);
std::unique_ptr<const ValueCodec> make_time_codec(const ValueType& type);
std::unique_ptr<const ValueCodec> make_pickled_codec(const ValueType& type);
Result<std::unique_ptr<const ValueCodec>> make_nested_codec(const ValueType& type);

// Sets a CheckpointError: the bytes are no encoding of the type. Returns nullptr.
PyObject* damaged_value(const std::string& type);

inline bool read_varint(ByteReader* in, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte = 0;
    if (!in->get_u8(&byte)) return false;
    *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

inline void put_sized(std::string* out, std::string_view bytes) {
  key_bytes::append_varint(bytes.size(), out);
  out->append(bytes);
}
inline bool read_sized(ByteReader* in, std::string_view* bytes) {
  uint64_t size = 0;
  return read_varint(in, &size) && in->get_raw(size, bytes);
}

}  // namespace penstock::bindings
