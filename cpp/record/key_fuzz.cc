// Key bytes, both ways: what decode_keys() accepts encodes to the same bytes, and what encode_keys()
// makes of any column decodes to the same column's keys.
#include <iterator>
#include <vector>

#include "common/fuzzing.h"
#include "record/key_bytes.h"
#include "record/key_encoding.h"

namespace penstock {
namespace {

// All key types by their Arrow format strings.
constexpr const char* kFormats[] = {"n",   "b",    "c",      "s",       "i",       "l",    "C",
                                    "S",   "I",    "L",      "f",       "g",       "u",    "U",
                                    "z",   "Z",    "tdD",    "tdm",     "tts",     "ttm",  "ttu",
                                    "ttn", "tss:", "tsm:",   "tsu:UTC", "tsn:",    "tDs",  "tDm",
                                    "tDu", "tDn",  "d:38,0", "d:10,2",  "d:38,38", "w:16", "w:3"};

std::vector<DataTypePtr> key_types() {
  std::vector<DataTypePtr> types;
  for (const char* format : kFormats) {
    auto type = DataType::from_format(format);
    must_hold(type.is_ok(), "a key type has a format string", format);
    types.push_back(std::move(type).value());
  }
  return types;
}

const std::vector<DataTypePtr>& types() {
  static const std::vector<DataTypePtr> all = key_types();
  return all;
}

void check_skip(std::string_view bytes) {
  KeyReader reader(bytes);
  if (!reader.skip_value()) return;
  const std::string_view value = bytes.substr(0, bytes.size() - reader.rest().size());
  KeyReader alone(value);
  must_hold(alone.skip_value() && alone.at_end(), "a skipped value is one value by itself");
}

void check_decoded(std::string_view bytes, const DataTypePtr& type) {
  const auto column = decode_keys({bytes}, type);
  if (!column.is_ok()) return;
  must_hold(column.value().length == 1, "one key is one row");
  std::string again;
  must_hold(append_encoded(column.value(), 0, &again).is_ok(), "a key type can be encoded");
  must_hold(again == bytes, "decoded keys encode to the bytes they had", type->to_string());
  KeyReader reader(bytes);
  must_hold(reader.skip_value() && reader.at_end(), "a key that decodes can be skipped");
  uint32_t hash = 0;
  must_hold(hash_keys({column.value()}, 1, &hash).is_ok() &&
                hash == murmur3_32(bytes.data(), bytes.size()),
            "a column's hash is that of its bytes", type->to_string());
}

// Bytes as a pair of keys of two types, by element and as a struct.
void check_tuple(std::string_view bytes, const DataTypePtr& first, const DataTypePtr& second) {
  const auto field = [](const char* name, const DataTypePtr& type) {
    return std::make_shared<const Field>(Field{name, type, true, "", 0});
  };
  const auto pair = DataType::from_format("+s", {field("a", first), field("b", second)}).value();
  const auto whole = decode_keys({bytes}, pair);
  const auto a = decode_keys({bytes}, first, 0);
  const auto b = decode_keys({bytes}, second, 1);
  must_hold(!whole.is_ok() || (a.is_ok() && b.is_ok()), "a tuple decodes by its elements too");
  if (!whole.is_ok()) return;
  const auto again = encode_keys(whole.value().children, 1);
  must_hold(again.is_ok() && again.value().bytes.bytes_at(0) == bytes,
            "decoded tuples encode to the bytes they had");
}

// Bytes as the values of a column.
void check_encoded(std::string_view bytes, const DataTypePtr& type) {
  if (!type->is_fixed_width() || type->id == TypeId::kTime32 || type->id == TypeId::kTime64 ||
      type->id == TypeId::kDecimal128 || type->id == TypeId::kDate64) {
    return;  // not every bit pattern is a value of these
  }
  const auto width = static_cast<size_t>(type->byte_width);
  Column column;
  column.type = type;
  column.length = static_cast<int64_t>(bytes.size() / width);
  column.null_count = 0;
  MutableBuffer values = MutableBuffer::allocate(static_cast<int64_t>(bytes.size()) + 1);
  std::memcpy(values.data.get(), bytes.data(), bytes.size());
  column.values = values.freeze();
  const EncodedKeys keys = encode_keys({column}, column.length).value();
  for (int64_t i = 0; i < column.length; ++i) {
    const auto back = decode_keys({keys.bytes.bytes_at(i)}, type);
    must_hold(back.is_ok(), "encoded keys decode", back.status().message());
    std::string again;
    (void)append_encoded(back.value(), 0, &again);
    must_hold(again == keys.bytes.bytes_at(i), "an encoded value comes back", type->to_string());
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  if (size == 0) return 0;
  const size_t choice = data[0];  // of the types
  const std::string_view bytes = as_bytes(data + 1, size - 1);
  check_skip(bytes);
  for (const DataTypePtr& type : types()) check_decoded(bytes, type);
  check_tuple(bytes, types()[choice % types().size()], types()[(choice / 7) % types().size()]);
  check_encoded(bytes.substr(0, 256), types()[choice % types().size()]);
  return 0;
}
