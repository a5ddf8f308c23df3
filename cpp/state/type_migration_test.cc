#include "state/type_migration.h"

#include <gtest/gtest.h>

#include "snapshot/bytes.h"

namespace penstock {
namespace {

using namespace std::string_literals;

std::string migrated(StateKind kind, const char* from, const char* to, bool ttl,
                     const std::string& value) {
  const auto migration = TypeMigration::between(kind, from, to);
  EXPECT_TRUE(migration.has_value());
  std::string out;
  EXPECT_TRUE(migration->apply(kind, ttl, value, &out).is_ok());
  return out;
}

TEST(TypeMigration, FieldsThatAreNewAreNone) {
  // Bit 0: the first field is None; the second is 7.
  EXPECT_EQ(migrated(StateKind::kValue, "ROW<a BYTE, b BYTE>", "ROW<a BYTE, b BYTE, c LONG>", false,
                     "\x01\x07"s),
            "\x05\x07"s);
}

TEST(TypeMigration, BitmapGrowsWithTheNinthField) {
  EXPECT_EQ(
      migrated(
          StateKind::kReducing,
          "ROW<a BYTE, b BYTE, c BYTE, d BYTE, e BYTE, f BYTE, g BYTE, h BYTE>",
          "ROW<a BYTE, b BYTE, c BYTE, d BYTE, e BYTE, f BYTE, g BYTE, h BYTE, i BYTE, j BYTE>",
          false, "\xfe\x09"s),
      "\xfe\x03\x09"s);
}

TEST(TypeMigration, TimestampStaysInFront) {
  EXPECT_EQ(
      migrated(StateKind::kValue, "ROW<a BYTE>", "ROW<a BYTE, b BYTE>", true, "12345678\x00\x07"s),
      "12345678\x02\x07"s);
}

TEST(TypeMigration, EveryElementOfAListChanges) {
  std::string list;
  put_bytes(&list, "\x00\x01"s);
  put_bytes(&list, "\x01"s);
  std::string expected;
  put_bytes(&expected, "\x02\x01"s);
  put_bytes(&expected, "\x03"s);
  EXPECT_EQ(migrated(StateKind::kList, "ROW<a BYTE>", "ROW<a BYTE, b BYTE>", false, list),
            expected);
}

TEST(TypeMigration, ValuesOfAMapChangeAndItsKeysDoNot) {
  std::string entry;
  put_bytes(&entry, "key");
  std::string expected = entry + "\x02\x07"s;
  entry += "\x00\x07"s;
  EXPECT_EQ(migrated(StateKind::kMap, "MAP<STRING, ROW<a BYTE>>", "MAP<STRING, ROW<a BYTE, b INT>>",
                     false, entry),
            expected);
}

TEST(TypeMigration, OtherChangesAreNone) {
  const std::pair<const char*, const char*> pairs[] = {{"LONG", "INT"},
                                                       {"ROW<a LONG>", "ROW<a LONG>"},
                                                       {"ROW<a LONG, b LONG>", "ROW<a LONG>"},
                                                       {"ROW<a LONG>", "ROW<b LONG, c LONG>"},
                                                       {"ROW<a LONG>", "ROW<a INT, b LONG>"},
                                                       {"TUPLE<LONG>", "TUPLE<LONG, LONG>"},
                                                       {"no type", "ROW<a LONG>"}};
  for (const auto& [from, to] : pairs) {
    EXPECT_FALSE(TypeMigration::between(StateKind::kValue, from, to)) << from << " to " << to;
  }
  EXPECT_FALSE(TypeMigration::between(StateKind::kMap, "MAP<STRING, ROW<a LONG>>",
                                      "MAP<LONG, ROW<a LONG, b LONG>>"));
}

TEST(TypeMigration, CutRowsAreDamage) {
  const auto migration =
      TypeMigration::between(StateKind::kValue, "ROW<a BYTE>", "ROW<a BYTE, b BYTE>");
  std::string out;
  EXPECT_EQ(migration->apply(StateKind::kValue, false, "", &out).code(), StatusCode::kCorruption);
  EXPECT_EQ(migration->apply(StateKind::kValue, true, "12345678", &out).code(),
            StatusCode::kCorruption);
}

}  // namespace
}  // namespace penstock
