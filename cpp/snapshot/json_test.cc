#include "snapshot/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace penstock {
namespace {

std::string again(const std::string& text) {
  auto json = Json::parse(text);
  return json.is_ok() ? json.value().dump() : json.status().message();
}

TEST(Json, WhatIsWrittenIsRead) {
  const std::string text =
      R"({"a": [1, -2, 9223372036854775807, -9223372036854775808], "b": {}, "c": [], )"
      R"("d": null, "e": true, "f": false, "g": "x\"\\y"})";
  EXPECT_EQ(again(text), text);
}

TEST(Json, StringsKeepEveryByte) {
  std::string all;
  for (int c = 1; c < 256; ++c) all.push_back(static_cast<char>(c));
  const std::string text = Json(Json::Object{{"s", all}}).dump();
  auto json = Json::parse(text);
  ASSERT_TRUE(json.is_ok()) << json.status().message();
  EXPECT_EQ(json.value().get_string("s").value(), all);
}

TEST(Json, EscapesAreUnderstood) {
  auto json = Json::parse(R"({"s": "\n\t\/\u0041\u00e9\u20ac"})");
  ASSERT_TRUE(json.is_ok());
  EXPECT_EQ(json.value().get_string("s").value(), "\n\t/A\xc3\xa9\xe2\x82\xac");
}

TEST(Json, MistakesAreReportedWithTheirPosition) {
  EXPECT_EQ(again(""), "JSON: expected a value at byte 0");
  EXPECT_EQ(again("[1 2]"), "JSON: expected ',' or ']' at byte 3");
  EXPECT_EQ(again("{\"a\" 1}"), "JSON: expected ':' at byte 5");
  EXPECT_EQ(again("[1] x"), "JSON: expected the end at byte 4");
  EXPECT_EQ(again("1.5"), "JSON: expected an integer at byte 1");
  EXPECT_FALSE(Json::parse("99999999999999999999").is_ok());
  EXPECT_FALSE(Json::parse("\"abc").is_ok());
  EXPECT_FALSE(Json::parse("\"\\").is_ok());
  EXPECT_FALSE(Json::parse("\"\\ud800\"").is_ok());
  EXPECT_FALSE(Json::parse(std::string(100000, '[')).is_ok());
}

TEST(Json, MissingOrWrongMembersAreNamed) {
  auto json = Json::parse(R"({"n": 5000000000, "s": "x"})");
  ASSERT_TRUE(json.is_ok());
  EXPECT_EQ(json.value().get_int("n").value(), 5000000000);
  EXPECT_NE(json.value().get_int32("n").status().message().find("'n'"), std::string::npos);
  EXPECT_FALSE(json.value().get_int("s").is_ok());
  EXPECT_FALSE(json.value().get_string("absent").is_ok());
  EXPECT_FALSE(json.value().get_array("s").is_ok());
  EXPECT_FALSE(Json(int64_t{1}).get_int("n").is_ok());
}

}  // namespace
}  // namespace penstock
