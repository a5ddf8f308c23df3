#include "record/key_bytes.h"

#include <cstring>

namespace penstock {

namespace {

constexpr int kMaxDepth = 100;

}  // namespace

bool KeyReader::read_byte(uint8_t* value) {
  if (rest_.empty()) return false;
  *value = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return true;
}

bool KeyReader::read_tag(KeyTag* tag) {
  uint8_t byte = 0;
  if (!read_byte(&byte)) return false;
  if (byte < static_cast<uint8_t>(KeyTag::kNone) ||
      byte > static_cast<uint8_t>(KeyTag::kTimedelta)) {
    return false;
  }
  *tag = static_cast<KeyTag>(byte);
  return true;
}

bool KeyReader::read_u32(uint32_t* value) {
  std::string_view bytes;
  if (!read_view(sizeof(*value), &bytes)) return false;
  std::memcpy(value, bytes.data(), sizeof(*value));
  *value = __builtin_bswap32(*value);
  return true;
}

bool KeyReader::read_u64(uint64_t* value) {
  std::string_view bytes;
  if (!read_view(sizeof(*value), &bytes)) return false;
  std::memcpy(value, bytes.data(), sizeof(*value));
  *value = __builtin_bswap64(*value);
  return true;
}

bool KeyReader::read_i32(int32_t* value) {
  uint32_t bits = 0;
  if (!read_u32(&bits)) return false;
  *value = static_cast<int32_t>(bits ^ kSignBit32);
  return true;
}

bool KeyReader::read_i64(int64_t* value) {
  uint64_t bits = 0;
  if (!read_u64(&bits)) return false;
  *value = static_cast<int64_t>(bits ^ kSignBit64);
  return true;
}

bool KeyReader::read_varint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte = 0;
    if (!read_byte(&byte)) return false;
    // One number has one encoding: no zeros at the end, and no bits above the 64th.
    if ((byte == 0 && shift > 0) || (shift == 63 && byte > 1)) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool KeyReader::read_view(uint64_t size, std::string_view* value) {
  if (size > rest_.size()) return false;
  *value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool KeyReader::read_sized(std::string_view* value) {
  uint64_t size = 0;
  return read_varint(&size) && read_view(size, value);
}

bool KeyReader::read_big_int(bool* negative, std::string_view* magnitude) {
  uint8_t sign = 0;
  uint32_t size = 0;
  if (!read_byte(&sign) || sign > 1 || !read_u32(&size)) return false;
  *negative = sign == 0;
  return read_view(size, magnitude);
}

bool KeyReader::skip_value(int depth) {
  KeyTag tag{};
  return depth < kMaxDepth && read_tag(&tag) && skip_body(tag, depth);
}

bool KeyReader::skip_body(KeyTag tag, int depth) {
  std::string_view view;
  bool negative = false;
  uint64_t count = 0;
  switch (tag) {
    case KeyTag::kNone:
    case KeyTag::kFalse:
    case KeyTag::kTrue:
      return true;
    case KeyTag::kInt:
    case KeyTag::kFloat:
    case KeyTag::kTime:
      return read_view(8, &view);
    case KeyTag::kBigInt:
      return read_big_int(&negative, &view);
    case KeyTag::kStr:
    case KeyTag::kBytes:
      return read_sized(&view);
    case KeyTag::kDecimal:
      return read_view(4, &view) && skip_value(depth + 1);
    case KeyTag::kDate:
      return read_view(4, &view);
    case KeyTag::kNaiveDatetime:
    case KeyTag::kAwareDatetime:
    case KeyTag::kTimedelta:
      return read_view(12, &view);
    case KeyTag::kUuid:
      return read_view(16, &view);
    case KeyTag::kEnum:
      return skip_value(depth + 1) && skip_value(depth + 1);
    case KeyTag::kTuple:
      if (!read_varint(&count)) return false;
      for (uint64_t i = 0; i < count; ++i) {
        if (!skip_value(depth + 1)) return false;
      }
      return true;
  }
  return false;
}

}  // namespace penstock
