#include "columnar/data_type.h"

#include <gtest/gtest.h>

#include "columnar/metadata.h"
#include "columnar/test_columns.h"

namespace penstock {
namespace {

using testing::field;
using testing::flat_type;
using testing::nested_type;

TEST(DataType, FormatSurvivesParsing) {
  for (const char* format : {"n",          "b",        "c",
                             "C",          "s",        "S",
                             "i",          "I",        "l",
                             "L",          "e",        "f",
                             "g",          "u",        "U",
                             "z",          "Z",        "tdD",
                             "tdm",        "tts",      "ttm",
                             "ttu",        "ttn",      "tDs",
                             "tDm",        "tDu",      "tDn",
                             "tiM",        "tiD",      "tin",
                             "tss:",       "tsm:UTC",  "tsu:Europe/Berlin",
                             "tsn:+02:00", "d:10,2",   "d:10,-2",
                             "d:60,3,256", "d:9,1,32", "w:7"}) {
    EXPECT_EQ(flat_type(format)->format, format);
  }
}

TEST(DataType, NamesAreThoseOfPyarrow) {
  EXPECT_EQ(flat_type("l")->to_string(), "int64");
  EXPECT_EQ(flat_type("tsu:UTC")->to_string(), "timestamp[us, tz=UTC]");
  EXPECT_EQ(flat_type("tsn:")->to_string(), "timestamp[ns]");
  EXPECT_EQ(flat_type("d:10,2")->to_string(), "decimal128(10, 2)");
  EXPECT_EQ(flat_type("d:60,2,256")->to_string(), "decimal256(60, 2)");
  EXPECT_EQ(flat_type("w:7")->to_string(), "fixed_size_binary[7]");
  EXPECT_EQ(nested_type("+l", {field("item", int64())})->to_string(), "list<item: int64>");
  EXPECT_EQ(nested_type("+w:3", {field("item", utf8())})->to_string(),
            "fixed_size_list<item: string>[3]");
}

TEST(DataType, TimeZoneAndParametersAreKept) {
  const DataTypePtr zoned = flat_type("tsn:Asia/Kolkata");
  EXPECT_EQ(zoned->unit, TimeUnit::kNano);
  EXPECT_EQ(zoned->timezone, "Asia/Kolkata");
  const DataTypePtr decimal = flat_type("d:10,-2");
  EXPECT_EQ(decimal->precision, 10);
  EXPECT_EQ(decimal->scale, -2);
}

TEST(DataType, EqualityLooksAtZonesPrecisionAndChildren) {
  EXPECT_TRUE(flat_type("tsu:UTC")->equals(*flat_type("tsu:UTC")));
  EXPECT_FALSE(flat_type("tsu:UTC")->equals(*flat_type("tsu:")));
  EXPECT_TRUE(decimal128(10, 2)->equals(*flat_type("d:10,2,128")));
  EXPECT_FALSE(decimal128(10, 2)->equals(*decimal128(10, 3)));
  const DataTypePtr list = nested_type("+l", {field("item", int64())});
  EXPECT_TRUE(list->equals(*nested_type("+l", {field("item", int64())})));
  EXPECT_FALSE(list->equals(*nested_type("+l", {field("item", int32())})));
  EXPECT_FALSE(list->equals(*nested_type("+l", {field("other", int64())})));
}

TEST(DataType, UnknownFormatsAreRefusedAndNotGuessed) {
  EXPECT_EQ(DataType::from_format("+r", {}).status().code(), StatusCode::kNotSupported);
  EXPECT_EQ(DataType::from_format("+vl", {}).status().code(), StatusCode::kNotSupported);
  EXPECT_EQ(DataType::from_format("?").status().code(), StatusCode::kNotSupported);
  EXPECT_EQ(DataType::from_format("tsx:").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DataType::from_format("d:ten").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DataType::from_format("+l", {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Schema, FindsColumnsByName) {
  const Schema schema({field("a", int64()), field("b", utf8())});
  EXPECT_EQ(schema.index_of("b"), 1);
  EXPECT_EQ(schema.index_of("c"), -1);
  EXPECT_TRUE(schema.equals(Schema({field("a", int64()), field("b", utf8())})));
  EXPECT_FALSE(schema.equals(Schema({field("b", utf8()), field("a", int64())})));
}

TEST(Metadata, PairsAreFoundAddedAndReplaced) {
  EXPECT_EQ(metadata_value("", "k"), std::nullopt);
  const std::string one = with_metadata("", "k", "v");
  const std::string two = with_metadata(one, "other", "");
  EXPECT_EQ(metadata_value(two, "k"), "v");
  EXPECT_EQ(metadata_value(two, "other"), "");
  EXPECT_EQ(metadata_value(two, "absent"), std::nullopt);
  EXPECT_EQ(metadata_value(with_metadata(two, "k", "w"), "k"), "w");
}

}  // namespace
}  // namespace penstock
