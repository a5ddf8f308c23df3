#include "record/key_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "columnar/builder.h"
#include "columnar/test_columns.h"

namespace penstock {
namespace {

using testing::field;
using testing::flat_type;
using testing::nested_type;
using testing::RandomColumns;
using testing::render_all;

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

std::string encoded(const std::function<void(std::string*)>& encode) {
  std::string bytes;
  encode(&bytes);
  return hex(bytes);
}

std::string encoded(const Column& column, int64_t i) {
  std::string bytes;
  EXPECT_TRUE(append_encoded(column, i, &bytes).is_ok());
  return hex(bytes);
}

template <typename T>
Column fixed_column(const char* format, std::vector<T> values) {
  FixedBuilder<T> builder(flat_type(format));
  for (const T value : values) builder.append(value);
  builder.append_null();
  return builder.finish();
}

TEST(Murmur, AgreesWithPublishedVectors) {
  struct Vector {
    std::string data;
    uint32_t seed;
    uint32_t hash;
  };
  const Vector vectors[] = {
      {"", 0, 0},
      {"", 1, 0x514E28B7},
      {"", 0xffffffff, 0x81F16F39},
      {"\xff\xff\xff\xff", 0, 0x76293B50},
      {"\x21\x43\x65\x87", 0, 0xF55B516B},
      {"\x21\x43\x65\x87", 0x5082EDEE, 0x2362F9DE},
      {"\x21\x43\x65", 0, 0x7E4A8634},
      {"\x21\x43", 0, 0xA0F7B07A},
      {"\x21", 0, 0x72661CF4},
      {std::string(4, '\0'), 0, 0x2362F9DE},
      {std::string(3, '\0'), 0, 0x85F0B427},
      {std::string(2, '\0'), 0, 0x30F4C306},
      {std::string(1, '\0'), 0, 0x514E28B7},
      {"aaaa", 0x9747b28c, 0x5A97808A},
      {"Hello, world!", 0x9747b28c, 0x24884CBA},
      {"The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2FA826CD},
      {"hello", 0, 0x248BFA47},
  };
  for (const Vector& vector : vectors) {
    EXPECT_EQ(murmur3_32(vector.data.data(), vector.data.size(), vector.seed), vector.hash)
        << hex(vector.data);
  }
}

TEST(KeyEncoding, SingleValuesHaveTheirFixedBytes) {
  EXPECT_EQ(encoded([](auto* o) { encode_none(o); }), "01");
  EXPECT_EQ(encoded([](auto* o) { encode_bool(false, o); }), "02");
  EXPECT_EQ(encoded([](auto* o) { encode_bool(true, o); }), "03");
  EXPECT_EQ(encoded([](auto* o) { encode_int64(5, o); }), "048000000000000005");
  EXPECT_EQ(encoded([](auto* o) { encode_int64(-1, o); }), "047fffffffffffffff");
  EXPECT_EQ(encoded([](auto* o) { encode_big_int(true, "\x01\x02", o); }), "0500000000020102");
  EXPECT_EQ(encoded([](auto* o) { encode_float(1.0, o); }), "06bff0000000000000");
  EXPECT_EQ(encoded([](auto* o) { encode_float(-1.0, o); }), "06400fffffffffffff");
  EXPECT_EQ(encoded([](auto* o) { encode_float(-0.0, o); }),
            encoded([](auto* o) { encode_float(0.0, o); }));
  EXPECT_EQ(encoded([](auto* o) { encode_float(-std::nan("7"), o); }),
            encoded([](auto* o) { encode_float(std::nan(""), o); }));
  EXPECT_EQ(encoded([](auto* o) { encode_str("ab", o); }), "07026162");
  EXPECT_EQ(encoded([](auto* o) { encode_bytes(std::string(200, 'x'), o); }).substr(0, 8),
            "08c80178");
  EXPECT_EQ(encoded([](auto* o) { encode_date(-1, o); }), "0a7fffffff");
  EXPECT_EQ(encoded([](auto* o) { encode_datetime(1, 2, false, o); }),
            "0b800000000000000100000002");
  EXPECT_EQ(encoded([](auto* o) { encode_datetime(1, 2, true, o); }), "0c800000000000000100000002");
  EXPECT_EQ(encoded([](auto* o) { encode_time(3, o); }), "0d8000000000000003");
  EXPECT_EQ(encoded([](auto* o) { encode_tuple_header(2, o); }), "1002");
  EXPECT_EQ(encoded([](auto* o) { encode_timedelta(-1, 5, o); }), "117fffffffffffffff00000005");
}

TEST(KeyEncoding, IntegersOfAllWidthsAreOneKey) {
  const std::string five = "048000000000000005";
  EXPECT_EQ(encoded(fixed_column<int8_t>("c", {5}), 0), five);
  EXPECT_EQ(encoded(fixed_column<uint16_t>("S", {5}), 0), five);
  EXPECT_EQ(encoded(fixed_column<int32_t>("i", {5}), 0), five);
  EXPECT_EQ(encoded(fixed_column<int64_t>("l", {5}), 0), five);
  EXPECT_EQ(encoded(fixed_column<uint64_t>("L", {5}), 0), five);
  EXPECT_EQ(encoded(fixed_column<int64_t>("l", {5}), 1), "01");
  EXPECT_EQ(encoded(fixed_column<uint64_t>("L", {uint64_t{1} << 63}), 0),
            "0501000000088000000000000000");
}

TEST(KeyEncoding, TimesOfAllUnitsAreOneKey) {
  const std::string naive = "0b7ffffffffffffffe1dcd6500";  // -1.5 s
  EXPECT_EQ(encoded(fixed_column<int64_t>("tsm:", {-1500}), 0), naive);
  EXPECT_EQ(encoded(fixed_column<int64_t>("tsu:", {-1500000}), 0), naive);
  EXPECT_EQ(encoded(fixed_column<int64_t>("tsn:", {-1500000000}), 0), naive);
  EXPECT_EQ(encoded(fixed_column<int64_t>("tsn:UTC", {-1500000000}), 0), "0c" + naive.substr(2));
  EXPECT_EQ(encoded(fixed_column<int64_t>("tDm", {-1500}), 0), "11" + naive.substr(2));
  EXPECT_EQ(encoded(fixed_column<int32_t>("tdD", {-1}), 0),
            encoded(fixed_column<int64_t>("tdm", {-1}), 0));
  EXPECT_EQ(encoded(fixed_column<int32_t>("ttm", {1}), 0),
            encoded(fixed_column<int64_t>("ttn", {1000000}), 0));
}

TEST(KeyEncoding, DecimalsAreNormalised) {
  auto decimal = [](int64_t coefficient, int32_t scale) {
    const int64_t words[2] = {coefficient, coefficient < 0 ? -1 : 0};
    return encoded([&](auto* o) { encode_decimal128(words, scale, o); });
  };
  EXPECT_EQ(decimal(15, 1), "097fffffff04800000000000000f");
  EXPECT_EQ(decimal(1500, 3), decimal(15, 1));
  EXPECT_EQ(decimal(-1500, 3), "097fffffff047ffffffffffffff1");
  EXPECT_EQ(decimal(0, 7), decimal(0, 0));
  const uint64_t smallest[2] = {0, uint64_t{1} << 63};  // -2^127 does not end in 0
  EXPECT_EQ(encoded([&](auto* o) { encode_decimal128(smallest, 0, o); }),
            "0980000000050000000010" + std::string("8") + std::string(31, '0'));
}

TEST(KeyEncoding, TypesThatAreNoKeysAreNamed) {
  for (const DataTypePtr& type : {nested_type("+l", {field("item", int64())}), flat_type("e")}) {
    const Status status = check_key_type(*type);
    EXPECT_EQ(status.code(), StatusCode::kTypeError);
    EXPECT_NE(status.message().find(type->to_string()), std::string::npos);
    EXPECT_FALSE(encode_keys({make_nulls(type, 1).value()}, 1).is_ok());
  }
}

std::vector<DataTypePtr> key_types() {
  std::vector<DataTypePtr> types;
  for (const char* format :
       {"n",   "b",   "c",   "C",    "s",       "S",    "i",    "I",      "l",   "L",   "f",
        "g",   "u",   "U",   "z",    "Z",       "tdD",  "tts",  "ttm",    "ttu", "ttn", "tDs",
        "tDm", "tDu", "tDn", "tss:", "tsm:UTC", "tsu:", "tsn:", "d:38,4", "w:5"}) {
    types.push_back(flat_type(format));
  }
  return types;
}

TEST(KeyEncoding, HashesAreThoseOfTheBytes) {
  RandomColumns random(5);
  for (const DataTypePtr& type : key_types()) {
    for (const bool nulls : {false, true}) {
      const std::vector<Column> columns = {random.make(type, 100, nulls)};
      const EncodedKeys keys = encode_keys(columns, 100).value();
      std::vector<uint32_t> hashes(100);
      ASSERT_TRUE(hash_keys(columns, 100, hashes.data()).is_ok());
      EXPECT_EQ(hashes, keys.hashes) << type->to_string();
      for (int64_t i = 0; i < 100; ++i) {
        const std::string_view bytes = keys.bytes.bytes_at(i);
        EXPECT_EQ(murmur3_32(bytes.data(), bytes.size()), keys.hashes[static_cast<size_t>(i)]);
        EXPECT_EQ(hex(bytes), encoded(columns[0], i));
      }
    }
  }
  EXPECT_EQ(hash_int64_key(-7), encode_keys({int64_column({-7})}, 1).value().hashes[0]);
}

std::vector<std::string_view> views(const EncodedKeys& keys) {
  std::vector<std::string_view> out;
  for (int64_t i = 0; i < keys.bytes.length; ++i) out.push_back(keys.bytes.bytes_at(i));
  return out;
}

TEST(KeyDecoding, GivesBackTheColumn) {
  RandomColumns random(6);
  for (const DataTypePtr& type : key_types()) {
    const Column column = random.make(type, 200, true);
    const EncodedKeys keys = encode_keys({column}, 200).value();
    const auto decoded = decode_keys(views(keys), type);
    ASSERT_TRUE(decoded.is_ok()) << decoded.status().message();
    // NaNs and zeros come back as one: compare what they encode to.
    const EncodedKeys again = encode_keys({decoded.value()}, 200).value();
    EXPECT_EQ(views(again), views(keys)) << type->to_string();
    if (!type->is_floating()) {
      EXPECT_EQ(render_all(decoded.value()), render_all(column));
    }
  }
}

TEST(KeyDecoding, PicksElementsOfTuples) {
  RandomColumns random(7);
  const std::vector<Column> columns = {random.make(utf8(), 50, true),
                                       int64_column(std::vector<int64_t>(50, -3)),
                                       random.make(flat_type("tsu:UTC"), 50, true)};
  const EncodedKeys keys = encode_keys(columns, 50).value();
  for (int path = 0; path < 3; ++path) {
    const Column& column = columns[static_cast<size_t>(path)];
    EXPECT_EQ(render_all(decode_keys(views(keys), column.type, path).value()), render_all(column));
  }
  const DataTypePtr whole = nested_type(
      "+s",
      {field("a", columns[0].type), field("b", columns[1].type), field("c", columns[2].type)});
  EXPECT_EQ(render_all(decode_keys(views(keys), whole).value().children[0]),
            render_all(columns[0]));
  EXPECT_EQ(decode_keys(views(keys), utf8(), 3).status().code(), StatusCode::kCorruption);
}

TEST(KeyDecoding, WrongBytesAreCorruptionAndNeverReadPastTheEnd) {
  RandomColumns random(8);
  for (const DataTypePtr& type : key_types()) {
    const EncodedKeys keys = encode_keys({random.make(type, 1, false)}, 1).value();
    const std::string good(keys.bytes.bytes_at(0));
    for (size_t size = 0; size < good.size(); ++size) {
      const std::string cut = good.substr(0, size);  // exact size: the sanitizer watches its end
      EXPECT_EQ(decode_keys({cut}, type).status().code(), StatusCode::kCorruption);
    }
    EXPECT_EQ(decode_keys({good + "x"}, type).status().code(), StatusCode::kCorruption);
  }
  const EncodedKeys text = encode_keys({make_nulls(utf8(), 1).value()}, 1).value();
  EXPECT_TRUE(decode_keys(views(text), int64()).is_ok());  // None fits every type
  std::string large;
  encode_int64(300, &large);
  EXPECT_EQ(decode_keys({large}, flat_type("c")).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(decode_keys({large}, utf8()).status().code(), StatusCode::kCorruption);
}

// Bytes that would decode to a value which encodes to other bytes; `make fuzz` looks for more.
TEST(KeyDecoding, BytesThatNoValueEncodesToAreCorruption) {
  using std::string;
  const std::vector<std::pair<const char*, string>> wrong = {
      {"u", string("\x07\x81\x00", 3) + "a"},            // length with a zero at its end
      {"L", string("\x05\x01\x00\x00\x00\x01\x05", 7)},  // big int that is an int
      {"d:38,0", string("\x09\x80\x00\x00\x00\x05\x01\x00\x00\x00\x01\x07", 12)},  // the same
      {"d:38,0",
       string("\x09\x80\x00\x00\x00\x05\x01\x00\x00\x00\x09\x00", 12) + string(8, '\x99')},
      {"g", string("\x06\x7f\xff\xff\xff\xff\xff\xff\xff", 9)},    // minus zero
      {"g", string("\x06\xff\xf8\x00\x00\x00\x00\x00\x01", 9)},    // another NaN
      {"f", string("\x06\xbf\xb9\x99\x99\x99\x99\x99\x9a", 9)},    // 0.1 is no float32
      {"f", string("\x06\xff\xe1\xcc\xf3\x85\xeb\xc8\xa0", 9)},    // 1e308 neither
      {"ttm", string("\x0d\x80\x2a\xa1\xef\xb9\x4e\x00\x00", 9)},  // 12e15 ns: no int32 of ms
      {"tsn:", string("\x0b\x80\x00\x00\x00\x00\x00\x00\x00\x3b\x9a\xca\x00", 13)},  // 1e9 nanos
      {"d:38,0", string("\x09\x80\x00\x00\x00\x04\x80\x00\x00\x00\x00\x00\x00\x0a", 14)},  // 10e0
      {"d:38,0", string("\x09\x80\x00\x00\x01\x04\x80\x00\x00\x00\x00\x00\x00\x00", 14)},  // 0e1
  };
  for (const auto& [format, bytes] : wrong) {
    EXPECT_EQ(decode_keys({bytes}, flat_type(format)).status().code(), StatusCode::kCorruption)
        << format << " " << hex(bytes);
  }
  string three;
  encode_tuple_header(3, &three);
  for (int i = 0; i < 3; ++i) encode_int64(i, &three);
  const auto pair = nested_type("+s", {field("a", int64()), field("b", int64())});
  EXPECT_EQ(decode_keys({three}, pair).status().code(), StatusCode::kCorruption);
}

TEST(KeyDecoding, EarliestAndLatestInstantsComeBack) {
  for (const char* format : {"tsn:", "tsu:UTC", "tDn", "tDm"}) {
    const auto column = fixed_column<int64_t>(
        format, {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), -1});
    const EncodedKeys keys = encode_keys({column}, 4).value();
    const auto back = decode_keys(views(keys), column.type);
    ASSERT_TRUE(back.is_ok()) << format << ": " << back.status().message();
    EXPECT_EQ(render_all(back.value()), render_all(column));
  }
}

TEST(KeyEncoding, OrderOfIntsIsOrderOfBytes) {
  const int64_t values[] = {std::numeric_limits<int64_t>::min(), -2, -1, 0, 1, 2,
                            std::numeric_limits<int64_t>::max()};
  std::string previous;
  for (const int64_t value : values) {
    std::string bytes;
    encode_int64(value, &bytes);
    EXPECT_LT(previous, bytes);
    previous = bytes;
  }
}

}  // namespace
}  // namespace penstock
