#include "state/value_type.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(ValueType, NestedTypesBecomeATree) {
  const auto type =
      ValueType::parse("ROW<a LONG, b MAP<STRING, LIST<TUPLE<INT, DOUBLE>>>>").value();
  EXPECT_EQ(type.kind, ValueKind::kRow);
  EXPECT_EQ(type.names, (std::vector<std::string>{"a", "b"}));
  const ValueType& map = type.children[1];
  EXPECT_EQ(map.kind, ValueKind::kMap);
  EXPECT_EQ(map.children[0].kind, ValueKind::kString);
  EXPECT_EQ(map.children[1].children[0].text, "TUPLE<INT, DOUBLE>");
  EXPECT_EQ(map.children[1].children[0].children[1].kind, ValueKind::kDouble);
}

TEST(ValueType, FieldNamesMayHaveBlanks) {
  const auto type = ValueType::parse("ROW<unit price DOUBLE, n LONG>").value();
  EXPECT_EQ(type.names[0], "unit price");
  EXPECT_EQ(type.children[0].kind, ValueKind::kDouble);
}

TEST(ValueType, EmptyRowsAndTuplesAreTypes) {
  EXPECT_EQ(ValueType::parse("ROW<>").value().children.size(), 0U);
  EXPECT_EQ(ValueType::parse("TUPLE<>").value().kind, ValueKind::kTuple);
}

TEST(ValueType, WhatIsNotUnderstoodIsNamed) {
  for (const char* text : {"", "long", "LIST<>", "MAP<LONG>", "LIST<LONG, LONG>", "ROW<LONG>",
                           "ROW<a LONG", "TUPLE<LONG,>", "LIST<LONG>>", "<>"}) {
    const auto type = ValueType::parse(text);
    ASSERT_FALSE(type.is_ok()) << text;
    EXPECT_EQ(type.status().code(), StatusCode::kInvalidArgument);
  }
  const std::string message = ValueType::parse("LIST<STRONG>").status().message();
  EXPECT_NE(message.find("'STRONG'"), std::string::npos);
}

// Each level of a wrong row used to be tried twice as often as the one around it.
TEST(ValueType, WrongTextsAreRefusedAtOnceHoweverDeep) {
  const auto nested = [](const std::string& open, const std::string& middle, size_t times) {
    std::string text;
    for (size_t i = 0; i < times; ++i) text += open;
    return text + middle + std::string(times, '>');
  };
  EXPECT_FALSE(ValueType::parse(nested("ROW<a ", "X", 60)).is_ok());
  EXPECT_TRUE(ValueType::parse(nested("ROW<a ", "LONG", 60)).is_ok());
  EXPECT_FALSE(ValueType::parse(nested("LIST<", "LONG", 100'000)).is_ok());
}

TEST(ValueType, AngleBracketsThatDoNotMatchAreRefused) {
  for (const char* text : {"LIST<LONG> LIST<LONG>", "ROW<a>b LONG, c INT>", "TUPLE<LONG>, INT>"}) {
    EXPECT_FALSE(ValueType::parse(text).is_ok()) << text;
  }
}

}  // namespace
}  // namespace penstock
